SELECT min(depth) FROM asked WHERE state = 0
