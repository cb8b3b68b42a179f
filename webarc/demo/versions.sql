SELECT
    url AS "URL",
    number AS "version",
    crawl_time AS "crawlTime",
    length AS "bytes",
    CASE WHEN removed_tag IS NOT NULL THEN 'gone' WHEN is_current = 1 THEN 'current' ELSE 'replaced' END AS "state"
FROM version
WHERE (domain, arc) IN (SELECT domain, arc FROM version WHERE is_current = 0)
ORDER BY url, number
