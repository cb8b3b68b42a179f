-- The last URL of a domain between two texts that has a version or leads elsewhere; the second text is behind it.
-- What was forgotten has none any more.
SELECT url
FROM sighting
WHERE domain = :domain AND url >= :start AND url < :stop AND (
    status BETWEEN 300 AND 399
    OR (status BETWEEN 200 AND 299
        AND EXISTS (SELECT 1 FROM version v WHERE v.domain = :domain AND v.arc = arc_of(sighting.url)))
)
ORDER BY url DESC
LIMIT 1;
