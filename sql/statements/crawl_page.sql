-- Newest first. A commitTag begins with its time, so the primary key finds both ends.
SELECT domain, commit_tag, definition, crawl_time, end_time, complete, reason, options, counts, held
FROM crawl
WHERE domain = :domain AND commit_tag >= :since AND commit_tag < :before
ORDER BY commit_tag DESC, definition
LIMIT :page;
