SELECT asked.id, asked.url, asked.depth, asked.kind, asked.redirects, asked.plain
FROM turned
JOIN asked ON asked.id = turned.id
WHERE turned.cookies = 0 AND asked.outcome = 'redirect' AND asked.kind NOT LIKE 'hop-%'
ORDER BY asked.id
