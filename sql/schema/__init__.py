"""The tables, in numbered scripts: `index_NNN.sql` for the index, `state_NNN.sql` for what cannot be rebuilt."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from webarc.sql.statements import split, without_comments

_HERE = Path(__file__).parent


@cache
def scripts(family: str) -> dict[int, tuple[str, ...]]:
    """The statements of every script of `index` or `state` by its number; the last number is the schema version."""
    files = sorted(_HERE.glob(f"{family}_[0-9]*.sql"))
    return {int(file.stem.split("_")[1]): split(without_comments(file.read_text(encoding="utf-8"))) for file in files}


def schema_version(family: str) -> int:
    """The schema version that this webarc reads and writes."""
    return max(scripts(family))
