SELECT url FROM asked WHERE state = 2 AND outcome = 'stored'
