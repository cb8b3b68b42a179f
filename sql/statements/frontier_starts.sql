SELECT count(*) FROM asked WHERE kind = 'start' AND state < 2
