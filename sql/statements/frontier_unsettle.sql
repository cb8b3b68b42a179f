UPDATE asked SET state = 0, outcome = '', status = 0, error = '', target = '', mark = '', size = 0
WHERE state = 1 OR outcome = 'failed' OR (outcome = 'stored' AND NOT :committed)
