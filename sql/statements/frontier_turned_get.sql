SELECT turned.id, turned.cookies, asked.kind
FROM turned
JOIN asked ON asked.id = turned.id
WHERE turned.key = ? AND asked.outcome IN ('redirect', 'failed', 'missing')
