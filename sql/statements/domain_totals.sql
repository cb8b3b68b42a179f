-- A crawl that found nothing new has a report and no version, a guest's has versions and no report.
SELECT
    t.versions, t.size,
    CASE WHEN c.first_time IS NULL OR t.first_time < c.first_time THEN t.first_time ELSE c.first_time END AS first_time,
    CASE WHEN c.last_time IS NULL OR t.last_time > c.last_time THEN t.last_time ELSE c.last_time END AS last_time
FROM
    (
        SELECT COUNT(*) AS versions, COALESCE(SUM(length), 0) AS size, MIN(crawl_time) AS first_time, MAX(crawl_time) AS last_time
        FROM version
        WHERE domain = :domain
    ) t,
    (SELECT MIN(crawl_time) AS first_time, MAX(crawl_time) AS last_time FROM crawl WHERE domain = :domain) c;
