UPDATE schedule SET last_end = :last_end, last_exit = :last_exit, remark = coalesce(:remark, remark) WHERE name = :name;
