DELETE FROM schedule WHERE name = :name;
