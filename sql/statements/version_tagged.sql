SELECT COUNT(*) FROM version WHERE domain = :domain AND commit_tag = :commit_tag;
