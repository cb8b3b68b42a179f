INSERT INTO validator (domain, arc, number, etag, last_modified)
SELECT domain, arc, number, :etag, :last_modified FROM version
WHERE domain = :domain AND arc = :arc AND is_current = 1
ON CONFLICT (domain, arc) DO UPDATE
SET number = excluded.number, etag = excluded.etag, last_modified = excluded.last_modified;
