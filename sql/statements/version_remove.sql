UPDATE version SET is_current = 0, removed_tag = :removed_tag
WHERE domain = :domain AND arc = :arc AND is_current = 1 AND commit_tag <> :commit_tag;
