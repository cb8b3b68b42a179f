"""The bytes of many versions, each read once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby

from webarc.archive.catalog import Catalog
from webarc.diff.binary import LARGEST_COMPARED
from webarc.diff.text import LARGEST_READ
from webarc.errors import Damaged
from webarc.sql.rows import VersionRow

LARGEST = max(LARGEST_READ, LARGEST_COMPARED)
# Smaller documents are fetched many at a time, which is much quicker.
_SMALL = 1 << 20


class Reading:
    """Reads versions; `warn` gets a sentence for each that cannot be read, `progress` how many have been."""

    def __init__(
        self, catalog: Catalog, warn: Callable[[str], None], progress: Callable[[int], None] | None = None
    ) -> None:
        self._catalog, self._warn, self._progress = catalog, warn, progress
        self._read = 0
        self.unreadable = 0

    def contents(self, rows: Iterable[VersionRow]) -> Iterator[bytes | None]:
        """The bytes of versions in the order given, of huge ones the first; None for one that cannot be read."""
        for data in self._found(rows):
            self._read += 1
            if self._progress:
                self._progress(self._read)
            if isinstance(data, Damaged):
                self.unreadable += 1
                self._warn(str(data))
            yield data if isinstance(data, bytes) else None

    def _found(self, rows: Iterable[VersionRow]) -> Iterator[bytes | Damaged]:
        for small, group in groupby(rows, lambda row: row.length <= _SMALL):
            if small:
                yield from self._catalog.read_many(list(group))
            else:
                yield from map(self._beginning, group)

    def _beginning(self, row: VersionRow) -> bytes | Damaged:
        try:
            return self._catalog.read(row, LARGEST)
        except Damaged as problem:
            return problem
