INSERT INTO sighting (domain, definition, url, status, error, target, mark, first_tag)
VALUES (:domain, :definition, :url, :status, :error, :target, :mark, :first_tag)
ON CONFLICT (domain, url, definition, first_tag) DO NOTHING;
