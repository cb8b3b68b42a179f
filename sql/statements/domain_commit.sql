SELECT indexed_commit FROM domain WHERE name = :domain;
