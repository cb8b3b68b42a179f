-- Tables are written anew; a plain VACUUM would leave the bytes of deleted rows where they are.
VACUUM (FULL) version;
VACUUM (FULL) sighting;
VACUUM (FULL) validator;
