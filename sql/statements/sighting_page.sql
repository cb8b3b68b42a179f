SELECT
    s.domain, s.definition, s.url, s.status, s.error, s.target, s.mark, s.first_tag,
    COALESCE(s.last_tag, d.last_tag) AS last_tag
FROM sighting s
JOIN definition d ON d.domain = s.domain AND d.name = s.definition
WHERE s.domain = :domain
    AND (s.url > :url OR s.url = :url AND (s.definition > :definition OR s.definition = :definition AND s.first_tag > :first_tag))
ORDER BY s.url, s.definition, s.first_tag
LIMIT :page;
