UPDATE asked SET outcome = 'failed', error = 'redirect-loop' WHERE id = ?
