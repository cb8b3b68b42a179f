-- The last URL of a domain between two texts that was ever answered well; the second text is behind it.
SELECT url
FROM sighting
WHERE domain = :domain AND url >= :start AND url < :stop AND status BETWEEN 200 AND 399
ORDER BY url DESC
LIMIT 1;
