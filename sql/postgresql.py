"""The index in a PostgreSQL database: the same statements, in a schema of our own."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Connection, Engine
from sqlalchemy.engine import URL
from sqlalchemy.exc import DBAPIError, OperationalError, SQLAlchemyError

from webarc.errors import Locked, WebarcError
from webarc.sql.database import Database, apply_schema, found_version, run, run_all
from webarc.sql.engine import postgresql_engine
from webarc.sql.schema import schema_version
from webarc.waiting import Wait, longest

_SCHEMA = "webarc"
_NEW_SCHEMA = "webarc_new"
_LOCK_NOT_AVAILABLE = "55P03"
_COMPLAINT = "another process is using or rebuilding the index; wait until it is done, or stop it."


class PostgresDatabase(Database):
    """The index in a PostgreSQL database; an index of another schema version is begun anew, empty."""

    def __init__(self, url: URL, schema: str = _SCHEMA) -> None:
        super().__init__(f"the index {url.render_as_string(hide_password=True)!r}", "index")
        self._url, self._schema = url, schema

    @contextmanager
    def rebuilt(self) -> Iterator[Database]:
        """A new schema that takes this one's place at the end, in one transaction."""
        fresh = PostgresDatabase(self._url, _NEW_SCHEMA)
        with self._translated(), self._usable() as engine, engine.connect() as holder:
            # The lock belongs to the session, so that a killed process does not keep it.
            if not run(holder, "postgresql_try_rebuild_lock").scalar():
                raise Locked("another process is rebuilding the index; try again when it is done.")
            holder.commit()
            try:
                self._change("postgresql_begin_rebuild")
                yield fresh
                fresh.close()
                self._change("postgresql_finish_rebuild")
            finally:
                fresh.close()
                self._change("postgresql_discard_rebuild")
                holder.invalidate()

    @contextmanager
    def _usable(self, *, writing: bool = False) -> Iterator[Engine]:
        if self._process != os.getpid():
            self._drop_engine()
        if self._engine is None:
            engine = postgresql_engine(self._url, self._schema)
            self._prepare(engine)
            self._engine = engine
        yield self._engine

    def _prepare(self, engine: Engine) -> None:
        with engine.begin() as connection:
            _lock(connection, "postgresql_lock_schema")
            if self._schema == _SCHEMA:
                run(connection, "postgresql_create")
            tables = run(connection, "postgresql_has_tables").scalar()
            if tables and found_version(connection) == schema_version(self.family):
                return
            if tables:
                run_all(connection, "postgresql_reset")
            apply_schema(connection, self.family)

    def _change(self, name: str) -> None:
        with self._usable() as engine, engine.begin() as connection:
            _lock(connection, "postgresql_lock_schema")
            run_all(connection, name)

    def _begun(self, connection: Connection) -> None:
        _lock(connection, "postgresql_share_schema")

    def _problem(self, problem: SQLAlchemyError | sqlite3.Error) -> WebarcError:
        return Locked(_COMPLAINT) if _is_locked(problem) else super()._problem(problem)

    def _cure(self, problem: Exception | None = None) -> str:
        # Where the server itself did not answer, there is no code of an error.
        if isinstance(problem, OperationalError) and getattr(problem.orig, "sqlstate", None) is None:
            return "see whether the server runs, and check address, user and password"
        return "check the server, or run `webarc db-recover` to rebuild it"


def _lock(connection: Connection, name: str) -> None:
    """Take a lock of the schema, asked for again and again: the server waits without a sign of life."""
    wait = Wait(lambda: _COMPLAINT, longest())
    while True:
        try:
            # Should it fail, the transaction can be used all the same.
            with connection.begin_nested():
                run(connection, "postgresql_short_waits")
                run(connection, name)
                run(connection, "postgresql_long_waits")
            return
        except DBAPIError as problem:
            if not _is_locked(problem):
                raise
        wait.pause()


def _is_locked(problem: Exception) -> bool:
    return getattr(getattr(problem, "orig", None), "sqlstate", "") == _LOCK_NOT_AVAILABLE
