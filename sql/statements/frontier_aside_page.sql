SELECT id, url, depth, kind FROM aside WHERE id > ? ORDER BY id LIMIT ?
