-- One row for every ARC of the page, so that the next page can begin behind it; where nothing stood then, the rest is null.
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
chosen (arc, number) AS (
    SELECT
        page.arc,
        (
            SELECT v.number FROM version v
            WHERE v.domain = :domain AND v.arc = page.arc AND v.crawl_time <= :moment
            ORDER BY v.number DESC
            LIMIT 1
        )
    FROM page
)
SELECT
    :domain AS domain, c.arc, v.number, v.commit_tag, v.url, v.mime_type, v.title, d.folder || '/' || v.arc AS path,
    v.crawl_time, v.create_time, v.status, v.final_url, v.http_version, v.declared_type, v.charset, v.etag,
    v.last_modified, v.file, v.length, v.sha256, v.document_blob, v.data_blob, v.is_current, v.removed_tag
FROM chosen c
LEFT JOIN version v ON v.domain = :domain AND v.arc = c.arc AND v.number = c.number
LEFT JOIN domain d ON d.name = v.domain
ORDER BY c.arc;
