INSERT INTO domain (name, folder) VALUES (:domain, :folder) ON CONFLICT (name) DO NOTHING;
