INSERT INTO crawl (domain, commit_tag, definition, crawl_time, end_time, complete, reason, options, counts, held)
VALUES (:domain, :commit_tag, :definition, :crawl_time, :end_time, :complete, :reason, :options, :counts, :held)
ON CONFLICT (domain, commit_tag, definition) DO NOTHING;
