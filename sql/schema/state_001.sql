-- What cannot be rebuilt from git. Times are yyyy-mm-dd hh:mm:ss in CET, argv is JSON.

CREATE TABLE schema_version (
    version INTEGER NOT NULL
);

CREATE TABLE schedule (
    name       TEXT PRIMARY KEY,
    kind       TEXT NOT NULL CHECK (kind IN ('cron', 'every')),
    spec       TEXT NOT NULL,
    argv       TEXT NOT NULL,
    created    TEXT NOT NULL,
    last_start TEXT,
    last_end   TEXT,
    last_exit  INTEGER,
    next_due   TEXT NOT NULL
);
