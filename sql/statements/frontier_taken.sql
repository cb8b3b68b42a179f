UPDATE asked SET state = 1 WHERE id = ?
