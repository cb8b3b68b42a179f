-- A deferred transaction that turns into a writing one fails with "database is locked" whatever the time-out is.
BEGIN IMMEDIATE;
