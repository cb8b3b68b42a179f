SELECT id, url, depth, kind, redirects, plain FROM asked
WHERE state = 2 AND status IN (404, 410) AND outcome IN ('missing', 'gone')
ORDER BY url
