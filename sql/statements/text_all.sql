SELECT id, packed FROM part;
