SELECT 1 FROM sqlite_master LIMIT 1;
