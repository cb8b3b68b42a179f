INSERT INTO skipped (url, reason) VALUES (?, ?)
