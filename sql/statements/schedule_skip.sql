UPDATE schedule SET skipped = :skipped, remark = :remark, next_due = :next_due WHERE name = :name;
