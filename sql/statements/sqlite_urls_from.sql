-- The first URLs of a domain between two texts that have a version or lead elsewhere; the second text is behind them.
-- What was forgotten has none any more.
SELECT DISTINCT url
FROM sighting
WHERE domain = :domain AND url >= :start AND url < :stop AND (
    status BETWEEN 300 AND 399
    OR (status BETWEEN 200 AND 299
        AND EXISTS (SELECT 1 FROM version v WHERE v.domain = :domain AND v.arc = arc_of(sighting.url)))
)
ORDER BY url
LIMIT :count;
