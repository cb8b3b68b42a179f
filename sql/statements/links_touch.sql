UPDATE links SET crawl = ? WHERE key = ?
