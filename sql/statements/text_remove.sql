DELETE FROM part WHERE id = ?;
