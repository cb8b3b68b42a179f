SELECT domain, commit_tag, definition, crawl_time, end_time, complete, reason, options, counts, held
FROM crawl
WHERE domain = :domain
ORDER BY crawl_time, commit_tag, definition;
