-- The file is written anew, then the log is emptied: it would still hold pages as they were.
PRAGMA secure_delete = ON;
PRAGMA wal_checkpoint(TRUNCATE);
VACUUM;
PRAGMA wal_checkpoint(TRUNCATE);
