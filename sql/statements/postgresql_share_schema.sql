-- Writers share this lock and a rebuilt schema is put in place under the exclusive one, so that no transaction writes to both.
SELECT pg_advisory_xact_lock_shared(1001925120);
