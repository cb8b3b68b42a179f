"""SQLAlchemy engines: how we connect to SQLite and to PostgreSQL, and how a transaction begins."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL
from sqlalchemy.pool import ConnectionPoolEntry

from webarc.errors import UsageProblem
from webarc.sql.statements import statement, statements

WRITING = "webarc_writing"
_BUSY_SECONDS = 60


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
            connection.execute(pragma)

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        writing = connection.get_execution_options().get(WRITING, False)
        connection.exec_driver_sql(statement("sqlite_begin_write" if writing else "sqlite_begin_read"))

    return engine


def postgresql_engine(url: URL, schema: str) -> Engine:
    """An engine on a PostgreSQL database; our tables live in a schema of their own."""
    try:
        return create_engine(url, connect_args={"options": f"-csearch_path={schema}"}, pool_pre_ping=True)
    except ModuleNotFoundError as problem:
        raise UsageProblem(f"{problem.name} is missing; install it with pip install 'webarc[postgres]'.") from None
