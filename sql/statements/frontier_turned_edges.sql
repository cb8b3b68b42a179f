SELECT a.id, b.id
FROM turned AS t
JOIN asked AS a ON a.id = t.id AND a.target <> ''
JOIN turned AS u ON u.key = substr(a.target, instr(a.target, '//'))
JOIN asked AS b ON b.id = u.id AND b.target <> ''
