-- On PostgreSQL this makes a second writer of the domain wait until the first one is done.
UPDATE domain SET folder = :folder WHERE name = :domain;
