SELECT count(*) FROM asked WHERE state = 0
