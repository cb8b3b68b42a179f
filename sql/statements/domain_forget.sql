DELETE FROM version WHERE domain = :domain;
DELETE FROM crawl WHERE domain = :domain;
DELETE FROM sighting WHERE domain = :domain;
DELETE FROM definition WHERE domain = :domain;
DELETE FROM validator WHERE domain = :domain;
DELETE FROM domain WHERE name = :domain;
