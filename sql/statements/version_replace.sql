UPDATE version SET is_current = 0
WHERE domain = :domain AND arc = :arc AND is_current = 1 AND commit_tag <> :commit_tag;
