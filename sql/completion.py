"""What a shell completes from our SQLite files: the URLs of the index, the names of schedules.

It must be quick and leave no trace: SQLAlchemy, which takes a third of a second to load, is not loaded, no lock is
waited for, and nothing is written, not even the files that SQLite makes beside a database.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import quote

from webarc.sql.statements import statement

_BUSY_SECONDS = 0.1


class KnownUrls:
    """The URLs of one domain, in order."""

    def __init__(self, connection: sqlite3.Connection, domain: str) -> None:
        self._connection, self._domain = connection, domain

    def first(self, start: str, stop: str, count: int) -> list[str]:
        """The first ones from a text on and before another."""
        return self._column("sqlite_urls_from", start=start, stop=stop, count=count)

    def last(self, start: str, stop: str) -> str:
        """The last one; there must be one."""
        return self._column("sqlite_url_before", start=start, stop=stop)[0]

    def _column(self, name: str, **values: str | int) -> list[str]:
        return [row[0] for row in self._connection.execute(statement(name), {"domain": self._domain, **values})]


@contextmanager
def known_urls(index: Path, domain: str, arc_of: Callable[[str], str]) -> Iterator[KnownUrls]:
    """The URLs of a domain that the index knows; raises sqlite3.Error if it cannot be read at once.

    `arc_of` tells the ARC of a URL: a page that was forgotten has no version there any more.
    """
    with closing(_opened(index)) as connection:
        connection.create_function("arc_of", 1, arc_of, deterministic=True)
        yield KnownUrls(connection, domain)


def version_numbers(index: Path, domain: str, arc: str) -> list[int]:
    """The numbers of the versions of a page, newest first; raises sqlite3.Error if they cannot be read at once."""
    with closing(_opened(index)) as connection:
        rows = connection.execute(statement("sqlite_version_numbers"), {"domain": domain, "arc": arc})
        return [row[0] for row in rows]


def schedule_names(state: Path) -> list[str]:
    """The names of the schedules; raises sqlite3.Error if they cannot be read at once."""
    with closing(_opened(state)) as connection:
        return [row[0] for row in connection.execute(statement("schedule_list"))]


def _opened(path: Path) -> sqlite3.Connection:
    log = Path(f"{path}-wal")
    # Without a log all is in the file itself; with one, what SQLite shares beside it is there, too.
    how = "readonly_shm=1" if log.exists() and log.stat().st_size else "immutable=1"
    return sqlite3.connect(f"file:{quote(os.fsencode(path))}?mode=ro&{how}", uri=True, timeout=_BUSY_SECONDS)
