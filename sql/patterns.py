"""LIKE and GLOB with one meaning on every database: LIKE ignores case and has no escape of its own, GLOB minds case."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, String, literal
from sqlalchemy.ext.compiler import compiles

from webarc.errors import BadExpression

_ESCAPE = "!"
_SPECIAL = "%_!"


def liked(tested: ColumnElement[Any], pattern: str, escape: str = "") -> ColumnElement[bool]:
    """Whether a text is like a pattern of % and _, in any case."""
    # PostgreSQL takes a backslash for an escape where nothing is said, SQLite nothing; so it is always said.
    written, characters = "", iter(pattern)
    for char in characters:
        if escape and char == escape:
            written += _plain(next(characters, escape))
        else:
            written += char if char in "%_" else _plain(char)
    return tested.ilike(literal(written, String), escape=_ESCAPE)


def globbed(tested: ColumnElement[Any], pattern: str) -> ColumnElement[bool]:
    """Whether a text fits a pattern of * and ?."""
    if "[" in pattern:
        raise BadExpression("GLOB takes * and ? only; write one condition for each kind of character instead.")
    percent = "".join({"*": "%", "?": "_"}.get(char) or _plain(char) for char in pattern)
    glob = tested.op("GLOB", is_comparison=True)(literal(pattern, String))
    return _Glob(glob, tested.like(literal(percent, String), escape=_ESCAPE))


class _Glob(ColumnElement[bool]):
    """A GLOB, which databases other than SQLite write as a LIKE that minds case."""

    inherit_cache = False

    def __init__(self, as_glob: ColumnElement[Any], as_like: ColumnElement[bool]) -> None:
        self.as_glob, self.as_like = as_glob, as_like


@compiles(_Glob)
def _as_like(element: _Glob, compiler: Any, **options: Any) -> str:
    return str(compiler.process(element.as_like, **options))


@compiles(_Glob, "sqlite")
def _as_glob(element: _Glob, compiler: Any, **options: Any) -> str:
    return str(compiler.process(element.as_glob, **options))


def _plain(char: str) -> str:
    return f"{_ESCAPE}{char}" if char in _SPECIAL else char
