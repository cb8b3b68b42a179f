"""The prepared statements, one file each; they run on SQLite and PostgreSQL unless their name says otherwise."""

from __future__ import annotations

from functools import cache
from pathlib import Path

_HERE = Path(__file__).parent


@cache
def statement(name: str) -> str:
    """The SQL of a statement, without its comments."""
    return without_comments((_HERE / f"{name}.sql").read_text(encoding="utf-8"))


@cache
def statements(name: str) -> tuple[str, ...]:
    """The SQL of a file that holds several statements, one by one."""
    return split(statement(name))


def without_comments(sql: str) -> str:
    """Comments go, since a colon in one would be taken for a parameter."""
    lines = [line for line in sql.splitlines() if not line.lstrip().startswith("--")]
    return "\n".join(lines).strip().removesuffix(";")


def split(sql: str) -> tuple[str, ...]:
    """The statements of a script; none of ours has a semicolon inside."""
    return tuple(part.strip() for part in sql.split(";") if part.strip())
