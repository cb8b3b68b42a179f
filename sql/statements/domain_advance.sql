UPDATE domain SET indexed_commit = :indexed_commit WHERE name = :domain;
