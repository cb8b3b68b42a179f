UPDATE asked SET outcome = 'failed', error = 'locked' WHERE id = ?
