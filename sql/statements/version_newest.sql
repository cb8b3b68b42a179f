-- The last crawl, of this domain or as a guest, that brought a version here or removed one.
SELECT MAX(found.tag) AS tag FROM (
    SELECT MAX(commit_tag) AS tag FROM version WHERE domain = :domain
    UNION ALL
    SELECT MAX(removed_tag) AS tag FROM version
    WHERE domain = :domain AND removed_tag IN (SELECT commit_tag FROM crawl WHERE domain = :domain)
) found;
