SELECT url FROM aside ORDER BY id
