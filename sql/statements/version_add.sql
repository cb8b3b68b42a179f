-- Numbers go on from the newest version, unless one is given: forgotten numbers are passed over. A version that is already there (its crawl was read in part before) is left as it is.
-- Where only the type changed, the bytes are those of the version before.
INSERT INTO version (
    domain, arc, number, commit_tag, url, mime_type, title, crawl_time, create_time, status, final_url, http_version,
    declared_type, charset, etag, last_modified, file, length, sha256, document_blob, data_blob, is_current
)
SELECT
    :domain, :arc,
    COALESCE(
        CAST(:number AS INTEGER), (SELECT MAX(number) FROM version WHERE domain = :domain AND arc = :arc) + 1, 1
    ),
    :commit_tag, :url, :mime_type, :title, :crawl_time, :create_time, :status, :final_url, :http_version,
    :declared_type, :charset, :etag, :last_modified, :file, :length, :sha256, :document_blob,
    COALESCE(
        :data_blob,
        (SELECT data_blob FROM version WHERE domain = :domain AND arc = :arc ORDER BY number DESC LIMIT 1)
    ),
    1
WHERE COALESCE(
    (SELECT commit_tag FROM version WHERE domain = :domain AND arc = :arc ORDER BY number DESC LIMIT 1), ''
) <> :commit_tag;
