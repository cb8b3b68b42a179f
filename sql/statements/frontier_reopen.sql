UPDATE asked SET
    state = 0, url = ?, depth = min(depth, ?), kind = ?, redirects = ?, plain = 0,
    outcome = '', status = 0, error = '', target = '', mark = '', size = 0
WHERE id = ?
