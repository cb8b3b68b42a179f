-- The index: disposable, rebuilt from the XML of all versions in the repositories.

CREATE TABLE schema_version (
    version INTEGER NOT NULL
);

-- indexed_commit is the commit up to which the rows of a domain tell what git holds.
CREATE TABLE domain (
    name           TEXT PRIMARY KEY,
    folder         TEXT NOT NULL,
    indexed_commit TEXT
);

-- Every version of every file. number counts from 1 per ARC in commit order. is_current is 1 while the version stands at
-- the tip; removed_tag is the commitTag of the crawl that removed it, and null while it is current or was replaced.
-- The blob ids are a cache, the keys are URL and commitTag.
CREATE TABLE version (
    domain        TEXT NOT NULL,
    arc           TEXT NOT NULL,
    number        INTEGER NOT NULL,
    commit_tag    TEXT NOT NULL,
    url           TEXT NOT NULL,
    mime_type     TEXT NOT NULL,
    title         TEXT,
    crawl_time    TEXT NOT NULL,
    create_time   TEXT NOT NULL,
    status        INTEGER NOT NULL,
    final_url     TEXT NOT NULL,
    http_version  TEXT NOT NULL,
    declared_type TEXT NOT NULL,
    charset       TEXT NOT NULL,
    etag          TEXT NOT NULL,
    last_modified TEXT NOT NULL,
    file          TEXT NOT NULL,
    length        BIGINT NOT NULL,
    sha256        TEXT NOT NULL,
    document_blob TEXT NOT NULL,
    data_blob     TEXT,
    is_current    INTEGER NOT NULL,
    removed_tag   TEXT,
    PRIMARY KEY (domain, arc, number)
);

CREATE INDEX version_current ON version (domain, arc) WHERE is_current = 1;

CREATE INDEX version_commit ON version (commit_tag);

-- options, counts and held are JSON.
CREATE TABLE crawl (
    domain     TEXT NOT NULL,
    commit_tag TEXT NOT NULL,
    definition TEXT NOT NULL,
    crawl_time TEXT NOT NULL,
    end_time   TEXT NOT NULL,
    complete   INTEGER NOT NULL,
    reason     TEXT NOT NULL,
    options    TEXT NOT NULL,
    counts     TEXT NOT NULL,
    held       TEXT NOT NULL,
    PRIMARY KEY (domain, commit_tag, definition)
);

-- last_tag is the last crawl with this definition; urls_blob the urls.xml that the open sightings stand for.
CREATE TABLE definition (
    domain    TEXT NOT NULL,
    name      TEXT NOT NULL,
    last_tag  TEXT NOT NULL,
    urls_blob TEXT,
    PRIMARY KEY (domain, name)
);

-- What came of a URL, as ranges of crawls. While last_tag is null the range goes on, up to the definition's last_tag;
-- so a crawl that found everything as before changes one row of definition and none here.
CREATE TABLE sighting (
    domain     TEXT NOT NULL,
    definition TEXT NOT NULL,
    url        TEXT NOT NULL,
    status     INTEGER NOT NULL,
    error      TEXT NOT NULL,
    target     TEXT NOT NULL,
    mark       TEXT NOT NULL,
    first_tag  TEXT NOT NULL,
    last_tag   TEXT,
    PRIMARY KEY (domain, url, definition, first_tag)
);

-- A cache, not part of what a rebuild restores: the newest ETag and Last-Modified of an unchanged version.
CREATE TABLE validator (
    domain        TEXT NOT NULL,
    arc           TEXT NOT NULL,
    number        INTEGER NOT NULL,
    etag          TEXT NOT NULL,
    last_modified TEXT NOT NULL,
    PRIMARY KEY (domain, arc)
);
