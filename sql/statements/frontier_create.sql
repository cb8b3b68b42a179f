CREATE TABLE IF NOT EXISTS asked (
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
CREATE INDEX IF NOT EXISTS asked_waiting ON asked (depth, id) WHERE state = 0;
CREATE TABLE IF NOT EXISTS skipped (
    url TEXT NOT NULL,
    reason TEXT NOT NULL
);
-- Named before it was certain which hosts belong to the crawl.
CREATE TABLE IF NOT EXISTS aside (
    id INTEGER PRIMARY KEY,
    url TEXT NOT NULL,
    depth INTEGER NOT NULL,
    kind TEXT NOT NULL
);
-- Known already, and named again: by a redirect, or as a part of a page.
CREATE TABLE IF NOT EXISTS named (
    key TEXT NOT NULL,
    depth INTEGER NOT NULL,
    kind TEXT NOT NULL,
    PRIMARY KEY (key, kind, depth)
) WITHOUT ROWID;
-- Asked for, but it gave no page: a redirect, a refusal; with the state of the cookies then.
CREATE TABLE IF NOT EXISTS turned (
    key TEXT PRIMARY KEY,
    id INTEGER NOT NULL,
    cookies INTEGER NOT NULL
) WITHOUT ROWID;
