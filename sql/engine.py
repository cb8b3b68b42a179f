"""SQLAlchemy engines: how we connect to SQLite and to PostgreSQL, and how a transaction begins."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL
from sqlalchemy.exc import OperationalError
from sqlalchemy.pool import ConnectionPoolEntry

from webarc.errors import UsageProblem
from webarc.sql.statements import statement, statements
from webarc.waiting import Wait, longest

WRITING = "webarc_writing"
# SQLite waits without a sign of life, so it is given little time at once and asked again.
_BUSY_SECONDS = 0.1
# Among ourselves, locks of our own decide who writes. How long to bear with a program of somebody else's:
_PATIENCE = 60.0
_LONGEST_NAP = 0.1


def sqlite_engine(path: Path, family: str, *, alone: bool = False) -> Engine:
    """An engine on a SQLite file of ours; transactions begin as the execution option WRITING says.

    `alone` keeps all other connections out, and can so read the file on a full disk.
    """
    url = URL.create("sqlite", database=str(path))
    engine = create_engine(url, connect_args={"timeout": _BUSY_SECONDS}, paramstyle="named")

    @event.listens_for(engine, "connect")
    def opened(connection: Any, _record: ConnectionPoolEntry) -> None:
        # The driver would begin transactions by itself, and too late; we begin them.
        connection.isolation_level = None
        if alone:
            connection.execute(statement("sqlite_alone"))
        for pragma in statements(f"sqlite_open_{family}"):
            patiently(path, partial(connection.execute, pragma))

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        if connection.get_execution_options().get(WRITING, False):
            patiently(path, lambda: connection.exec_driver_sql(statement("sqlite_begin_write")))
            return
        connection.exec_driver_sql(statement("sqlite_begin_read"))
        # What is read first decides whether the rest can be read.
        patiently(path, lambda: connection.exec_driver_sql(statement("sqlite_first_read")).fetchall())

    return engine


def patiently(path: Path, ask: Callable[[], object]) -> None:
    """Ask something of a SQLite file as often as another program keeps it busy, for a limited time."""
    complaint = f"another program is writing to {path}; wait until it is done, or stop it."
    most = longest()
    wait = Wait(lambda: complaint, _PATIENCE if most is None else min(most, _PATIENCE), _LONGEST_NAP)
    while True:
        try:
            ask()
            return
        except (sqlite3.OperationalError, OperationalError) as problem:
            if not _is_busy(problem):
                raise
        wait.pause()


def _is_busy(problem: sqlite3.OperationalError | OperationalError) -> bool:
    reason = problem.orig if isinstance(problem, OperationalError) else problem
    return getattr(reason, "sqlite_errorcode", -1) & 0xFF == sqlite3.SQLITE_BUSY


def postgresql_engine(url: URL, schema: str) -> Engine:
    """An engine on a PostgreSQL database; our tables live in a schema of their own."""
    try:
        return create_engine(url, connect_args={"options": f"-csearch_path={schema}"}, pool_pre_ping=True)
    except ModuleNotFoundError as problem:
        raise UsageProblem(f"{problem.name} is missing; install it with pip install 'webarc[postgres]'.") from None
