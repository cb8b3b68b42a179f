SELECT name, kind, spec, argv, created, last_start, last_end, last_exit, next_due, archive, skipped, remark FROM schedule
WHERE next_due <= :now
ORDER BY next_due, name;
