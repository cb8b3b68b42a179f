"""Looking at databases of ours without changing them, however damaged they are."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

from webarc.sql.database import run
from webarc.sql.index import Index
from webarc.sql.schema import schema_version, scripts
from webarc.sql.statements import statement

_BUSY_SECONDS = 60
_SQLITE = "sqlite:///"


def index_file(database: str) -> Path | None:
    """The file of an index that is one."""
    return Path(database.removeprefix(_SQLITE)) if database.startswith(_SQLITE) else None


def damage_in(path: Path, family: str) -> list[str]:
    """What is wrong with the database as a file: its pages, its tables; its rows are another matter."""
    if not path.exists():
        return []
    try:
        with closing(_opened(path)) as connection:
            found = [str(row[0]) for row in connection.execute(statement("sqlite_integrity"))]
            if found != ["ok"]:
                return found
            return _wrong_layout(connection, family)
    except (sqlite3.Error, UnicodeDecodeError) as problem:
        return [str(problem)]


def is_outdated(path: Path, family: str) -> bool:
    """Whether the file is whole but of another version of webarc."""
    try:
        with closing(_opened(path)) as connection:
            (version,) = connection.execute(statement("schema_version")).fetchone() or (None,)
            return bool(version != schema_version(family))
    except (sqlite3.Error, UnicodeDecodeError):
        return False


def _wrong_layout(connection: sqlite3.Connection, family: str) -> list[str]:
    (version,) = connection.execute(statement("schema_version")).fetchone() or (None,)
    if version != schema_version(family):
        return []
    with closing(sqlite3.connect(":memory:")) as model:
        for script in scripts(family).values():
            for part in script:
                model.execute(part)
        expected = set(model.execute(statement("sqlite_layout")))
    lacking = expected - set(connection.execute(statement("sqlite_layout")))
    return [f"the {kind} {name} is not as webarc makes it" for kind, name, _, _ in sorted(lacking, key=repr)]


def _opened(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"file:{quote(os.fsencode(path))}?mode=ro", uri=True, timeout=_BUSY_SECONDS)


class Standing(Index):
    """The index, asked how far it is."""

    def indexed_commits(self) -> dict[str, str | None]:
        """The commit up to which each domain is read, of all domains at once."""
        with self._database.reading() as connection:
            return {row.name: row.indexed_commit for row in run(connection, "domains")}
