SELECT number FROM version WHERE domain = :domain AND arc = :arc ORDER BY number DESC;
