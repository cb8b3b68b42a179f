"""The index, or the state, in a folder that the user may not write to: it is read as it stands."""

from __future__ import annotations

import fcntl
import os
import sqlite3
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import NoReturn
from urllib.parse import quote

from sqlalchemy import Connection, Engine, create_engine
from sqlalchemy.engine import URL
from sqlalchemy.exc import OperationalError

from webarc.errors import DatabaseProblem
from webarc.sql.database import Database, found_version
from webarc.sql.locks import lock_folder, take
from webarc.sql.schema import schema_version

_PLAIN = {"mode": "ro", "uri": "true"}
_UNWRITABLE = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)


def writable(path: Path) -> bool:
    """Whether the user may write to a database file, or make one, and take its locks."""
    folder = next(place for place in path.parents if place.exists())
    locks = lock_folder(path)
    places = [folder, path, locks, *locks.glob("*")]
    return all(os.access(place, os.W_OK) for place in places if place.exists())


class ReadOnlyFile(Database):
    """A database that nothing can be added to from here."""

    def __init__(self, path: Path, family: str = "index") -> None:
        super().__init__(f"the {family} {str(path)!r}", family)
        self._path = path

    @property
    def is_there(self) -> bool:
        """Whether there is a file to read."""
        return self._path.exists()

    def rebuilt(self) -> AbstractContextManager[Database]:
        """Refused."""
        self._refuse()

    @contextmanager
    def _usable(self, *, writing: bool = False) -> Iterator[Engine]:
        if writing:
            self._refuse()
        with self._shared():
            if self._engine is None:
                self._engine = self._opened()
            yield self._engine

    def _opened(self) -> Engine:
        if not self._path.exists():
            cure = "ask its owner to run `webarc db-recover`, or name another place with --database"
            raise DatabaseProblem(
                f"{str(self._path.parent)!r} has no {self.family} and may not be written to; "
                f"{cure if self.family == 'index' else self._cure()}."
            )
        engine = self._checked(_PLAIN)
        if engine is None and not _is_behind_log(self._path):
            # All is in the file itself, and only the companions that SQLite would make beside it are missing.
            engine = self._checked(_PLAIN | {"immutable": "1"})
        if engine is None:
            raise DatabaseProblem(f"{self.name} could not be used; {self._cure()}.")
        return engine

    def _checked(self, query: dict[str, str]) -> Engine | None:
        engine = create_engine(URL.create("sqlite", database=f"file:{quote(os.fsencode(self._path))}", query=query))
        try:
            with engine.connect() as connection:
                version = found_version(connection)
        except OperationalError as problem:
            engine.dispose()
            if getattr(problem.orig, "sqlite_errorcode", -1) & 0xFF not in _UNWRITABLE:
                raise
            return None
        if version != schema_version(self.family):
            raise DatabaseProblem(f"{self.name} is of another version of webarc; {self._cure()}.")
        return engine

    @contextmanager
    def _shared(self) -> Iterator[None]:
        """Keep others from replacing the file, if there is a lock that can be taken without writing."""
        try:
            handle = os.open(lock_folder(self._path) / "use", os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            yield
            return
        try:
            take(handle, fcntl.LOCK_SH, lock_folder(self._path))
            yield
        finally:
            os.close(handle)

    def _begun(self, connection: Connection) -> None:
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise DatabaseProblem(f"{self.name} may not be written to; {self._cure()}.")

    def _cure(self, problem: Exception | None = None) -> str:
        if self.family == "index":
            return "ask the owner of its folder to run `webarc db-recover`"
        return "run the command as the user who owns its folder"


def _is_behind_log(path: Path) -> bool:
    log = Path(f"{path}-wal")
    return log.exists() and log.stat().st_size > 0
