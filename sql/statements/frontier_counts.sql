SELECT outcome, count(*) FROM asked WHERE state = 2 GROUP BY outcome
