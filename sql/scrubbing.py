"""Taking deleted rows out of the files of a database: pages that were freed, and the write-ahead log."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from sqlalchemy.engine import make_url
from sqlalchemy.exc import SQLAlchemyError

from webarc.errors import DatabaseProblem
from webarc.sql.engine import postgresql_engine
from webarc.sql.locks import FileLocks
from webarc.sql.statements import statements

_SQLITE = "sqlite:///"
_SCHEMA = "webarc"


def scrub(url: str) -> None:
    """Leave nothing of deleted rows in the index at a database URL; waits until nobody uses it."""
    try:
        if url.startswith(_SQLITE):
            _scrub_file(Path(url.removeprefix(_SQLITE)))
        else:
            _scrub_server(url)
    except (sqlite3.Error, SQLAlchemyError, OSError) as problem:
        reason = " ".join(str(getattr(problem, "orig", None) or problem).split())[:300]
        raise DatabaseProblem(
            f"deleted rows could not be taken out of the index ({reason}); run the command again."
        ) from problem


def _scrub_file(file: Path) -> None:
    if not file.exists():
        return
    locks = FileLocks(file)
    # A new index that is being built right now may have read what is gone.
    with locks.rebuilding(), locks.exclusive(), closing(sqlite3.connect(file, isolation_level=None)) as database:
        for part in statements("sqlite_scrub"):
            database.execute(part).fetchall()


def _scrub_server(url: str) -> None:
    engine = postgresql_engine(make_url(url), _SCHEMA)
    try:
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            for part in statements("postgresql_scrub"):
                connection.exec_driver_sql(part)
    finally:
        engine.dispose()
