UPDATE asked SET mark = ? WHERE id = ?
