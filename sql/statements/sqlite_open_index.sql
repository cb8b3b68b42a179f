-- The index can be rebuilt, so it need not survive a power cut with its last transactions.
PRAGMA synchronous = NORMAL;
PRAGMA cache_size = -8000;
PRAGMA temp_store = MEMORY;
