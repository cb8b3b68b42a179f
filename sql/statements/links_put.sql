INSERT OR REPLACE INTO links (key, named, crawl) VALUES (?, ?, ?)
