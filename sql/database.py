"""One database, whatever its kind: connections, transactions, and a schema with a version."""

from __future__ import annotations

import errno
import os
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, CursorResult, Dialect, Engine, TextClause, bindparam, text
from sqlalchemy.exc import SQLAlchemyError

from webarc.errors import DatabaseProblem, NoSpace, WebarcError
from webarc.sql.engine import WRITING
from webarc.sql.schema import schema_version, scripts
from webarc.sql.statements import statement, statements


class Database(ABC):
    """What the index and the state have in common; `name` is how messages call it."""

    def __init__(self, name: str, family: str) -> None:
        self.name, self.family = name, family
        self.set_aside: Path | None = None
        self._engine: Engine | None = None
        self._process = os.getpid()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A transaction that only reads; it waits for no writer."""
        with self._translated(), self._usable() as engine, engine.connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction that may write; it is kept whole or not at all, and no slow work belongs inside."""
        with self._translated(), self._usable(writing=True) as engine, engine.connect() as connection:
            connection = connection.execution_options(**{WRITING: True})
            with connection.begin():
                self._begun(connection)
                yield connection

    def close(self) -> None:
        """Let go of all connections; the next use opens new ones."""
        self._drop_engine()

    @abstractmethod
    def rebuilt(self) -> AbstractContextManager[Database]:
        """A new, empty database that takes this one's place at the end, if nothing goes wrong inside."""

    @abstractmethod
    def _usable(self, *, writing: bool = False) -> AbstractContextManager[Engine]:
        """An engine on the present database, which stays the present one inside."""

    @abstractmethod
    def _begun(self, connection: Connection) -> None:
        """Called at the start of every transaction that may write."""

    @abstractmethod
    def _cure(self, problem: Exception | None = None) -> str:
        """What the user can do about a broken database, or about one that cannot be reached."""

    def _drop_engine(self) -> None:
        if self._engine is not None:
            # Connections that a fork inherited belong to the parent; closing them here would break its locks.
            self._engine.dispose(close=self._process == os.getpid())
        self._engine = None
        self._process = os.getpid()

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except (SQLAlchemyError, sqlite3.Error) as problem:
            raise self._problem(problem) from problem
        except OSError as problem:
            if problem.errno in (errno.ENOSPC, errno.EDQUOT):
                raise self._no_space() from problem
            raise DatabaseProblem(f"{self.name} could not be used ({problem}); check the folder.") from problem

    def _has_no_room(self) -> bool:
        """Whether an unnamed trouble with the disk is that it is full."""
        return False

    def _no_space(self) -> NoSpace:
        return NoSpace(f"the disk is full, there is no room for {self.name}; free some and run the command again.")

    def _problem(self, problem: SQLAlchemyError | sqlite3.Error) -> WebarcError:
        reason = " ".join(str(getattr(problem, "orig", None) or problem).split())[:300]
        if "disk is full" in reason or "No space left" in reason or ("disk I/O" in reason and self._has_no_room()):
            return self._no_space()
        return DatabaseProblem(f"{self.name} could not be used ({reason}); {self._cure(problem)}.")


@cache
def prepared(name: str) -> TextClause:
    """A statement of ours; its parameter `arcs`, if it has one, takes a list."""
    clause = text(statement(name))
    return clause.bindparams(bindparam("arcs", expanding=True)) if " :arcs" in clause.text else clause


def run(connection: Connection, name: str, /, **values: Any) -> CursorResult[Any]:
    """Run a statement once."""
    return connection.execute(prepared(name), values)


def run_many(connection: Connection, name: str, rows: list[dict[str, Any]]) -> None:
    """Run a statement for every one of the rows."""
    # The driver gets the rows as they are: SQLAlchemy's care for each of them takes longer than the database.
    connection.exec_driver_sql(_driver_sql(name, connection.dialect), rows)


@lru_cache(256)
def _driver_sql(name: str, dialect: Dialect) -> str:
    return str(prepared(name).compile(dialect=dialect))


def run_all(connection: Connection, name: str, /, **values: Any) -> None:
    """Run the statements of a file one after the other."""
    for part in statements(name):
        connection.execute(text(part), values)


def found_version(connection: Connection) -> int | None:
    """The schema version that the database says it has."""
    return connection.execute(prepared("schema_version")).scalar()


def apply_schema(connection: Connection, family: str, after: int = 0) -> None:
    """Bring the tables from a version (0: there are none) to ours."""
    for number, script in scripts(family).items():
        for part in script if number > after else ():
            connection.exec_driver_sql(part)
    run(connection, "schema_version_clear")
    run(connection, "schema_version_set", version=schema_version(family))
