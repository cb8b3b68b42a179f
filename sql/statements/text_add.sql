-- Nothing is added if somebody else has added something to this ARC meanwhile: it was the same.
INSERT INTO part (arc, revision, packed)
SELECT :arc, 1, :packed
WHERE NOT EXISTS (SELECT 1 FROM part WHERE arc = :arc AND id > :after);
