CREATE TABLE asked (
    id INTEGER PRIMARY KEY,
    url TEXT NOT NULL,
    depth INTEGER NOT NULL,
    kind TEXT NOT NULL,
    redirects INTEGER NOT NULL,
    plain INTEGER NOT NULL,
    state INTEGER NOT NULL DEFAULT 0,
    outcome TEXT NOT NULL DEFAULT '',
    status INTEGER NOT NULL DEFAULT 0,
    error TEXT NOT NULL DEFAULT '',
    target TEXT NOT NULL DEFAULT '',
    mark TEXT NOT NULL DEFAULT '',
    size INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX asked_waiting ON asked (depth, id) WHERE state = 0;
CREATE TABLE skipped (
    url TEXT NOT NULL,
    reason TEXT NOT NULL
);
