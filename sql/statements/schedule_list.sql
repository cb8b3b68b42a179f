SELECT name, kind, spec, argv, created, last_start, last_end, last_exit, next_due, archive, skipped, remark FROM schedule ORDER BY name;
