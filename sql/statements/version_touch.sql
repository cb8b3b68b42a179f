-- A node was added to the newest version: its document changed, the version did not.
UPDATE version SET is_current = 1, removed_tag = NULL, document_blob = :document_blob
WHERE domain = :domain AND arc = :arc AND commit_tag = :commit_tag
    AND number = (SELECT MAX(number) FROM version WHERE domain = :domain AND arc = :arc);
