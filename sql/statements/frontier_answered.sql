SELECT count(*) FROM asked WHERE url IN (?, ?) AND outcome IN ('stored', 'unchanged')
