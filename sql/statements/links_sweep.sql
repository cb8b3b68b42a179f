DELETE FROM links WHERE crawl <> ?
