-- The texts of documents: a cache, filled from git. `packed` holds the texts of some versions of one ARC and the blobs
-- they were read from; `revision` counts how often it was written.
CREATE TABLE schema_version (
    version INTEGER NOT NULL
);

CREATE TABLE part (
    id INTEGER PRIMARY KEY,
    arc TEXT NOT NULL,
    revision INTEGER NOT NULL,
    packed BLOB NOT NULL
);

CREATE INDEX part_arc ON part (arc);
