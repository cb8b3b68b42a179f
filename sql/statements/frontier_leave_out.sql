UPDATE asked SET outcome = 'failed', error = 'locked' WHERE url = ? AND outcome = 'stored'
