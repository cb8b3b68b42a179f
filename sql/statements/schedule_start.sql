UPDATE schedule SET last_start = :last_start, next_due = :next_due WHERE name = :name;
