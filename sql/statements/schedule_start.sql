UPDATE schedule
SET last_start = :last_start, last_end = NULL, last_exit = NULL, next_due = :next_due, skipped = NULL, remark = NULL
WHERE name = :name;
