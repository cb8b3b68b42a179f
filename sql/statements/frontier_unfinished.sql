SELECT url FROM asked WHERE state < 2 ORDER BY id
