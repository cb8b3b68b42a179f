SELECT
    s.domain, s.definition, s.url, s.status, s.error, s.target, s.mark, s.first_tag,
    COALESCE(s.last_tag, d.last_tag) AS last_tag
FROM sighting s
JOIN definition d ON d.domain = s.domain AND d.name = s.definition
WHERE s.domain = :domain AND s.url = :url
ORDER BY s.first_tag, s.definition;
