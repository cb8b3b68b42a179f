-- The newest version of every ARC, with the number of its versions; whether it is still there is in is_current.
WITH RECURSIVE place (arc) AS (
    SELECT MIN(arc) FROM version WHERE domain = :domain AND arc > :arc
    UNION ALL
    SELECT (SELECT MIN(v.arc) FROM version v WHERE v.domain = :domain AND v.arc > place.arc)
    FROM place
    WHERE place.arc IS NOT NULL
),
page (arc) AS (
    SELECT arc FROM place WHERE arc IS NOT NULL LIMIT :page
),
chosen (arc, number, versions) AS (
    SELECT
        page.arc,
        (SELECT MAX(v.number) FROM version v WHERE v.domain = :domain AND v.arc = page.arc),
        (SELECT COUNT(*) FROM version v WHERE v.domain = :domain AND v.arc = page.arc)
    FROM page
)
SELECT
    v.domain, v.arc, v.number, v.commit_tag, v.url, v.mime_type, v.title, d.folder || '/' || v.arc AS path,
    v.crawl_time, v.create_time, v.status, v.final_url, v.http_version, v.declared_type, v.charset, v.etag,
    v.last_modified, v.file, v.length, v.sha256, v.document_blob, v.data_blob, v.is_current, v.removed_tag, c.versions
FROM chosen c
JOIN version v ON v.domain = :domain AND v.arc = c.arc AND v.number = c.number
JOIN domain d ON d.name = v.domain
ORDER BY v.arc;
