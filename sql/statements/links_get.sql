SELECT named FROM links WHERE key = ?
