"""How many words came and went, for lists of versions: counted as `webarc diff --stat` does, but not of all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from webarc.diff.text import TextReader, has_text
from webarc.diff.words import WordDiff
from webarc.sql.rows import VersionRow

# A longer page is not read for two numbers in a list; `webarc diff` compares two such pages as well.
LONGEST_PAGE = 2_000_000
# So many steps may be taken for all versions of a list, and for the comparison that goes beyond; half a second.
_MOST_STEPS = 2_000_000
_MOST_KEPT = 4
_Key = tuple[str, int]


class WordCounts:
    """Counts words of versions, read in the order given, until so many bytes have been read in all.

    `read` gives the bytes of versions, or None for one that cannot be read.
    """

    def __init__(
        self, rows: Iterable[VersionRow], read: Callable[[list[VersionRow]], Iterator[bytes | None]], budget: int
    ) -> None:
        self.spent = False
        chosen = list(self._within(rows, budget))
        self._chosen = {_key(row) for row in chosen}
        self._coming = zip(chosen, read(chosen), strict=True)
        self._kept: dict[_Key, str | None] = {}
        self._reader = TextReader()
        self._steps = 0

    def change(self, old: VersionRow, new: VersionRow) -> tuple[int, int] | None:
        """Words added and removed between two versions; None if either has no text or is not read here."""
        if not {_key(old), _key(new)} <= self._chosen:
            return None
        if self._steps > _MOST_STEPS:
            self.spent = True
            return None
        after, before = self._text(new), self._text(old)
        if before is None or after is None:
            return None
        found = WordDiff(before, after)
        self._steps += found.steps
        return found.added, found.removed

    def _within(self, rows: Iterable[VersionRow], budget: int) -> Iterator[VersionRow]:
        for row in rows:
            if row.length > LONGEST_PAGE or not has_text(row.mime_type):
                continue
            budget -= row.length
            if budget < 0:
                self.spent = True
                return
            yield row

    def _text(self, wanted: VersionRow) -> str | None:
        while _key(wanted) not in self._kept:
            row, data = next(self._coming, (None, None))
            if row is None:
                # Asked for out of order, it has been read and let go of.
                return None
            if len(self._kept) >= _MOST_KEPT:
                self._kept.pop(next(iter(self._kept)))
            self._kept[_key(row)] = None if data is None else self._reader.text(data, row.mime_type, row.charset)
        return self._kept[_key(wanted)]


def _key(row: VersionRow) -> _Key:
    return row.arc, row.number
