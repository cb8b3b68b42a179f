INSERT INTO aside (url, depth, kind) VALUES (?, ?, ?)
