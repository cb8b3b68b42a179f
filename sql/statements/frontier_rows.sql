SELECT id, url, depth, kind, outcome, status, error, target, mark, size FROM asked WHERE state = 2 ORDER BY url
