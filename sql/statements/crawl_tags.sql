SELECT DISTINCT commit_tag FROM crawl
WHERE domain = :domain AND commit_tag < :before
ORDER BY commit_tag DESC
LIMIT :page;
