-- Renaming waits for no reader; those in the middle of a transaction find the new rows with their next statement.
ALTER SCHEMA webarc RENAME TO webarc_old;
ALTER SCHEMA webarc_new RENAME TO webarc;
