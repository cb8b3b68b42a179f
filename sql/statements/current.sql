SELECT
    v.url, v.sha256, v.declared_type, v.charset, v.mime_type, COALESCE(c.etag, v.etag) AS etag,
    COALESCE(c.last_modified, v.last_modified) AS last_modified, v.file, v.commit_tag, v.number, v.arc, v.data_blob
FROM version v
LEFT JOIN validator c ON c.domain = v.domain AND c.arc = v.arc AND c.number = v.number
WHERE v.domain = :domain AND v.arc IN :arcs AND v.is_current = 1;
