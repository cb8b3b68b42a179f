-- The first URLs of a domain between two texts that were ever answered well; the second text is behind them.
SELECT DISTINCT url
FROM sighting
WHERE domain = :domain AND url >= :start AND url < :stop AND status BETWEEN 200 AND 399
ORDER BY url
LIMIT :count;
