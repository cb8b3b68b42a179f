"""A SQLite file of ours.

An index that is missing, damaged or of another schema version is begun anew, empty, and read from git again by
whoever needs it; the state cannot be read from anywhere, so it is upgraded or refused. A file that is not ours is
refused, and only a rebuild, which somebody asked for, sets it aside.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from datetime import datetime, timedelta, timezone
from itertools import chain, count
from pathlib import Path

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DatabaseError, OperationalError

from webarc.errors import DatabaseProblem
from webarc.sql.database import Database, apply_schema, found_version, run
from webarc.sql.engine import WRITING, patiently, sqlite_engine
from webarc.sql.locks import FileLocks
from webarc.sql.room import has_room
from webarc.sql.schema import schema_version
from webarc.sql.statements import statement

_CET = timezone(timedelta(hours=1))
_COMPANIONS = ("-wal", "-shm", "-journal")
_TABLES = {"index": {"schema_version", "domain", "version"}, "state": {"schema_version", "schedule"}}


class _Foreign(DatabaseProblem):
    """A file that holds neither an index nor anything else of ours."""


class SqliteFile(Database):
    """The database in a file; whoever replaces the file makes every process that uses it turn to the new one."""

    def __init__(self, path: Path, family: str) -> None:
        super().__init__(f"the {family} {str(path)!r}", family)
        self.path = path
        self._locks = FileLocks(path)
        self._identity: tuple[int, int] | None = None

    @contextmanager
    def rebuilt(self) -> Iterator[Database]:
        """A new file beside this one that takes its place at the end."""
        fresh = SqliteFile(self.path.with_name(f"{self.path.name}.new"), self.family)
        with self._locks.rebuilding():
            try:
                fresh._remove()
                with self._translated(), self._locks.shared():
                    self._is_foreign()
                yield fresh
                fresh._fold_in()
                self._replace_by(fresh.path)
            finally:
                fresh._remove()

    @contextmanager
    def _usable(self, *, writing: bool = False) -> Iterator[Engine]:
        while True:
            with self._locks.shared():
                engine = self._followed()
                if engine is not None:
                    with self._locks.writing() if writing else nullcontext():
                        yield engine
                    return
            self._prepare()

    def _followed(self) -> Engine | None:
        """The engine on the file that is there now; None if there is none that fits."""
        identity = _identity(self.path)
        if identity != self._identity or self._process != os.getpid():
            self._drop_engine()
            self._identity = None
        if self._engine is None and identity is not None:
            engine = self._opened()
            if self._found(engine) == schema_version(self.family):
                self._engine, self._identity = engine, identity
            else:
                engine.dispose()
        return self._engine

    def _opened(self) -> Engine:
        """An engine on the file; where no companions fit beside it any more, one that needs none."""
        engine = sqlite_engine(self.path, self.family)
        if has_room(self.path.parent):
            return engine
        try:
            self._found(engine)
        except OperationalError:
            engine.dispose()
            return sqlite_engine(self.path, self.family, alone=True)
        return engine

    def _found(self, engine: Engine) -> int | None:
        """The schema version of a file, 0 if it is empty, None if it is damaged; raises if it is not ours."""
        try:
            with engine.connect() as connection:
                tables = {row.name for row in run(connection, "sqlite_tables")}
                ours = _TABLES[self.family] <= tables
                version = found_version(connection) if ours else 0
        except DatabaseError as problem:
            # The low byte is the kind of error, the rest only its details.
            kind = getattr(problem.orig, "sqlite_errorcode", -1) & 0xFF
            if kind == sqlite3.SQLITE_CORRUPT or (kind == sqlite3.SQLITE_NOTADB and _is_zeroed(self.path)):
                return None
            if kind != sqlite3.SQLITE_NOTADB:
                raise
            ours, tables = False, {"unknown"}
        if tables and not ours:
            raise self._refused(tables)
        return version

    def _refused(self, tables: set[str]) -> DatabaseProblem:
        if self.family == "index" and not _TABLES["state"] <= tables:
            cure = "run `webarc db-recover` to set it aside and rebuild the index, or name another file"
            return _Foreign(f"{self.name} holds something else; {cure}.")
        return DatabaseProblem(f"{self.name} holds something else; move it away or name another file.")

    def _prepare(self) -> None:
        with self._locks.exclusive():
            if self._followed() is not None:
                return
            if self.family == "index":
                self._unlink()
            self._upgrade()

    def _upgrade(self) -> None:
        """Bring the schema of the file, or of a new one, to our version."""
        known = schema_version(self.family)
        engine = sqlite_engine(self.path, self.family)
        try:
            version = self._found(engine)
            if version is None or version > known:
                raise DatabaseProblem(self._refusal(version))
            with engine.connect() as connection:
                cursor = connection.connection.cursor()
                patiently(self.path, lambda: cursor.execute(statement("sqlite_wal")).fetchall())
            with engine.connect().execution_options(**{WRITING: True}) as connection, connection.begin():
                apply_schema(connection, self.family, version)
        finally:
            engine.dispose()

    def _refusal(self, version: int | None) -> str:
        if version is None:
            return f"{self.name} is damaged; restore it from a backup, or move it away to begin a new one."
        return f"{self.name} was written by a newer webarc (schema version {version}); update webarc."

    def _is_foreign(self) -> bool:
        """Whether the file holds something that is not ours; raises if it is our own state, which must stay."""
        if not self.path.exists():
            return False
        engine = sqlite_engine(self.path, self.family)
        try:
            self._found(engine)
        except _Foreign:
            return True
        finally:
            engine.dispose()
        return False

    def _fold_in(self) -> None:
        """Leave nothing in the write-ahead log, so that the file alone holds all rows, and make it durable."""
        with self._usable() as engine, engine.connect() as connection:
            connection.connection.cursor().execute(statement("sqlite_checkpoint"))
        self.close()
        _sync(self.path)

    def _replace_by(self, file: Path) -> None:
        with self._translated(), self._locks.exclusive():
            if self._is_foreign():
                self._move_aside()
            # A write-ahead log left behind would be read into the new file, and the old file is nothing without it.
            self._unlink()
            file.replace(self.path)
            _sync(self.path.parent)

    def _move_aside(self) -> None:
        """Give the file, and what belongs to it, a name that nothing has."""
        name = f"{self.path.name}.replaced-{datetime.now(_CET):%Y-%m-%dT%H:%M:%S}"
        endings = chain([""], (f"-{number}" for number in count(2)))
        places = (self.path.with_name(f"{name}{ending}") for ending in endings)
        self.set_aside = next(place for place in places if not place.exists())
        for companion in (*_COMPANIONS, ""):
            with suppress(FileNotFoundError):
                Path(f"{self.path}{companion}").rename(f"{self.set_aside}{companion}")

    def _remove(self) -> None:
        self.close()
        self._unlink()
        self._locks.remove()

    def _unlink(self) -> None:
        for companion in ("", *_COMPANIONS):
            Path(f"{self.path}{companion}").unlink(missing_ok=True)

    def _begun(self, connection: Connection) -> None:
        pass

    def _has_no_room(self) -> bool:
        return not has_room(self.path.parent)

    def _cure(self, problem: Exception | None = None) -> str:
        return "run `webarc db-recover` to rebuild it" if self.family == "index" else "check the disk and the folder"


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino


def _is_zeroed(path: Path) -> bool:
    with path.open("rb") as source:
        return not any(source.read(100))


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
