INSERT OR REPLACE INTO turned (key, id, cookies) VALUES (?, ?, ?)
