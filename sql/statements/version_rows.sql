SELECT
    v.domain, v.arc, v.number, v.commit_tag, v.url, v.mime_type, v.title, d.folder || '/' || v.arc AS path,
    v.crawl_time, v.create_time, v.status, v.final_url, v.http_version, v.declared_type, v.charset, v.etag,
    v.last_modified, v.file, v.length, v.sha256, v.document_blob, v.data_blob, v.is_current, v.removed_tag
FROM version v
JOIN domain d ON d.name = v.domain;
