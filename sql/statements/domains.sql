SELECT name, folder, indexed_commit FROM domain ORDER BY name;
