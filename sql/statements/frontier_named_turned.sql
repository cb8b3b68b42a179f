SELECT asked.id, asked.url, min(named.depth), asked.kind, asked.redirects, asked.plain, asked.outcome, asked.target
FROM named
JOIN turned ON turned.key = named.key
JOIN asked ON asked.id = turned.id
WHERE named.kind = 'requisite' AND asked.state = 2 AND asked.kind NOT IN ('start', 'requisite')
GROUP BY asked.id
ORDER BY asked.id
