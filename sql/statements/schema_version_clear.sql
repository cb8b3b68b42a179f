DELETE FROM schema_version;
