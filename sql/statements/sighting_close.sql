UPDATE sighting SET last_tag = :last_tag
WHERE domain = :domain AND url = :url AND definition = :definition AND last_tag IS NULL AND first_tag <> :first_tag;
