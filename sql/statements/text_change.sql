UPDATE part SET revision = :revision + 1, packed = :packed WHERE id = :id AND revision = :revision;
