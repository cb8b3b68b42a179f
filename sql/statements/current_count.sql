SELECT COUNT(*) FROM version WHERE domain = :domain AND is_current = 1;
