SELECT pg_try_advisory_lock(1001925121);
