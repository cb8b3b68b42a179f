INSERT INTO definition (domain, name, last_tag, urls_blob) VALUES (:domain, :definition, :last_tag, :urls_blob)
ON CONFLICT (domain, name) DO UPDATE SET last_tag = excluded.last_tag, urls_blob = excluded.urls_blob;
