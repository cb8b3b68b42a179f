"""The index in a PostgreSQL database: the same statements, in a schema of our own."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Connection, Engine
from sqlalchemy.engine import URL
from sqlalchemy.exc import OperationalError

from webarc.errors import Locked
from webarc.sql.database import Database, apply_schema, found_version, run, run_all
from webarc.sql.engine import postgresql_engine
from webarc.sql.schema import schema_version

_SCHEMA = "webarc"
_NEW_SCHEMA = "webarc_new"


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
            run(connection, "postgresql_lock_schema")
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
            run(connection, "postgresql_lock_schema")
            run_all(connection, name)

    def _begun(self, connection: Connection) -> None:
        run(connection, "postgresql_share_schema")

    def _cure(self, problem: Exception | None = None) -> str:
        # Where the server itself did not answer, there is no code of an error.
        if isinstance(problem, OperationalError) and getattr(problem.orig, "sqlstate", None) is None:
            return "see whether the server runs, and check address, user and password"
        return "check the server, or run `webarc db-recover` to rebuild it"
