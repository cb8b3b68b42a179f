INSERT INTO asked (url, depth, kind, redirects, plain) VALUES (?, ?, ?, ?, ?)
