"""The bytes of many versions, each read once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from webarc.archive.catalog import Catalog
from webarc.diff.binary import LARGEST_COMPARED
from webarc.diff.text import LARGEST_READ
from webarc.errors import Damaged
from webarc.sql.rows import VersionRow

# Smaller documents are fetched many at a time, which is much quicker.
_SMALL = 1 << 20
LARGEST = max(LARGEST_READ, LARGEST_COMPARED)


def contents(catalog: Catalog, rows: Iterable[VersionRow]) -> Iterator[bytes | Damaged]:
    """The bytes of versions in the order given, of huge ones the first; or what is wrong with one."""
    for small, group in groupby(rows, lambda row: row.length <= _SMALL):
        if small:
            yield from catalog.read_many(list(group))
        else:
            yield from (_beginning(catalog, row) for row in group)


def _beginning(catalog: Catalog, row: VersionRow) -> bytes | Damaged:
    try:
        return catalog.read(row, LARGEST)
    except Damaged as problem:
        return problem
