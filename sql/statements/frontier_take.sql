SELECT id, url, depth, kind, redirects, plain FROM asked
WHERE state = 0 AND depth <= ?
ORDER BY depth, id
LIMIT ?
