UPDATE asked SET outcome = 'unchanged' WHERE url = ? AND outcome = 'stored'
