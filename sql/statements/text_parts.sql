SELECT id, revision, packed FROM part WHERE arc = ? ORDER BY id;
