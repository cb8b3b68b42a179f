UPDATE asked SET outcome = 'unchanged' WHERE id = ?
