DELETE FROM turned WHERE id = ?
