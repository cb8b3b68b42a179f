INSERT OR IGNORE INTO named (key, depth, kind) VALUES (?, ?, ?)
