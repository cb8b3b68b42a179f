-- Every version that has the bytes of a version of this page (or, without an ARC, of this domain); itself among them.
SELECT domain, arc, number, url, commit_tag, sha256 FROM version
WHERE sha256 IN (
    SELECT sha256 FROM version WHERE domain = :domain AND (CAST(:arc AS TEXT) IS NULL OR arc = CAST(:arc AS TEXT))
)
ORDER BY domain, arc, number;
