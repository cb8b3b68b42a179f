UPDATE schedule SET last_end = :last_end, last_exit = :last_exit WHERE name = :name;
