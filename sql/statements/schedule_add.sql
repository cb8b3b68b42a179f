INSERT INTO schedule (name, kind, spec, argv, created, next_due) VALUES (:name, :kind, :spec, :argv, :created, :next_due)
ON CONFLICT (name) DO NOTHING;
