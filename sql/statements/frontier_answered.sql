SELECT count(*) FROM asked WHERE url = ? AND outcome IN ('stored', 'unchanged')
