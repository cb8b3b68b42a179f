-- One page of a domain that has lost versions: numbers are given once, so fewer rows than the highest number tell it.
SELECT arc FROM version WHERE domain = :domain GROUP BY arc HAVING MAX(number) > COUNT(*) LIMIT 1;
