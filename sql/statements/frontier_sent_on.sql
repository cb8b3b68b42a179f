SELECT asked.id, asked.url, asked.depth, asked.kind, asked.redirects, asked.plain, turned.cookies
FROM turned
JOIN asked ON asked.id = turned.id
LEFT JOIN turned AS next ON next.key = substr(asked.target, instr(asked.target, '//'))
LEFT JOIN asked AS further ON further.id = next.id
WHERE asked.outcome = 'redirect' AND asked.kind NOT LIKE 'hop-%'
    AND (turned.cookies = 0 OR further.outcome = 'redirect' OR further.error = 'redirect-limit')
ORDER BY asked.id
