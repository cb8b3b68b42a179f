-- From one ARC to the next by the primary key: as many steps as there are ARCs, however many versions each has.
WITH RECURSIVE place (arc) AS (
    SELECT MIN(arc) FROM version WHERE domain = :domain AND arc > :arc
    UNION ALL
    SELECT (SELECT MIN(v.arc) FROM version v WHERE v.domain = :domain AND v.arc > place.arc)
    FROM place
    WHERE place.arc IS NOT NULL
)
SELECT arc FROM place WHERE arc IS NOT NULL LIMIT :page;
