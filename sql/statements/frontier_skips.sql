SELECT url, reason FROM skipped ORDER BY rowid
