-- Crawls of other domains that brought something here, newest first: they leave no report, only versions.
SELECT v.commit_tag, MIN(v.crawl_time) AS crawl_time, COUNT(*) AS versions, SUM(v.length) AS size
FROM version v
WHERE v.domain = :domain AND NOT EXISTS (
    SELECT 1 FROM crawl c WHERE c.domain = v.domain AND c.commit_tag = v.commit_tag
)
GROUP BY v.commit_tag
ORDER BY v.commit_tag DESC;
