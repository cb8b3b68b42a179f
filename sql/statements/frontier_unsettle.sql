-- A start URL that led to another host is asked again, so that the host joins this time, too.
UPDATE asked SET state = 0, outcome = '', status = 0, error = '', target = '', mark = '', size = 0
WHERE state = 1
    OR outcome = 'failed'
    OR (outcome = 'stored' AND NOT :committed)
    OR (outcome = 'redirect' AND kind = 'start')
