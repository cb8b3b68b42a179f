INSERT INTO schedule (name, kind, spec, argv, created, next_due, archive)
VALUES (:name, :kind, :spec, :argv, :created, :next_due, :archive)
ON CONFLICT (name) DO NOTHING;
