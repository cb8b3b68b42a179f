"""Versions that fulfil a condition, found page by page in the order of their places."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from sqlalchemy import ColumnElement, Integer, String, Subquery, and_, column, literal, select, text, tuple_

from webarc.sql.database import Database
from webarc.sql.rows import VersionRow
from webarc.sql.statements import statement


def matching(database: Database, condition: ColumnElement[bool], domain: str | None, page: int) -> Iterator[VersionRow]:
    """All versions that fulfil the condition, by domain, ARC and number; no lock is held between the rows."""
    chosen = condition if domain is None else and_(column("domain", String) == domain, condition)
    last: tuple[str, str, int] = ("", "", 0)
    while True:
        query = select(_rows()).where(_behind(*last), chosen).order_by("domain", "arc", "number").limit(page)
        with database.reading() as connection:
            found = connection.execute(query).fetchall()
        yield from map(VersionRow._make, found)
        if len(found) < page:
            return
        last = found[-1].domain, found[-1].arc, found[-1].number


@cache
def _rows() -> Subquery:
    names = [column(name, _type(name)) for name in VersionRow._fields]
    return text(statement("version_rows")).columns(*names).subquery("v")


def _type(name: str) -> Any:
    return Integer if name in ("number", "status", "length", "is_current") else String


def _behind(*place: str | int) -> ColumnElement[bool]:
    """Whether a row comes after a place; as a comparison of rows, which the primary key answers."""
    names = [column(name, _type(name)) for name in ("domain", "arc", "number")]
    return tuple_(*names) > tuple_(*[literal(value) for value in place])
