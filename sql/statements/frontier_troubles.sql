SELECT id, url, depth, kind, outcome, status, error, target, mark, size FROM asked
WHERE state = 2 AND outcome IN ('missing', 'gone', 'failed', 'skipped') ORDER BY url
