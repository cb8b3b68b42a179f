SELECT COUNT(*) FROM version WHERE domain = :domain;
