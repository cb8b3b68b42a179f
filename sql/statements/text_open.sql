-- What is forgotten must not be readable in a page that the file no longer uses.
PRAGMA secure_delete = ON;
PRAGMA synchronous = NORMAL;
