-- Alone on the file, SQLite keeps in memory what it would otherwise have to write beside it.
PRAGMA locking_mode = EXCLUSIVE;
