UPDATE asked SET kind = 'requisite' WHERE id = ?
