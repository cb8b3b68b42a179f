SELECT name, last_tag, urls_blob FROM definition WHERE domain = :domain;
