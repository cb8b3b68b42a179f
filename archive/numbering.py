"""Numbers of versions where some were forgotten: theirs stay free for ever, so that no version is renumbered."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

from webarc.archive.objects import ObjectReader
from webarc.archive.tombstones import tombstones_at
from webarc.errors import Damaged
from webarc.sql.index import Index


class Numbering:
    """Gives numbers to the versions of a domain as they are read, oldest first."""

    def __init__(
        self, reader: ObjectReader, tip: str, index: Index, domain: str, on_problem: Callable[[str], None]
    ) -> None:
        self._index, self._domain = index, domain
        self._last: dict[str, tuple[int, str]] = {}
        self._forgotten: dict[str, set[int]] = {}
        try:
            for stone in tombstones_at(reader, tip):
                self._forgotten.setdefault(stone.arc, set()).update(stone.numbers)
        except Damaged as problem:
            on_problem(f"a tombstone of {domain} cannot be read, so versions may have wrong numbers: {problem}")

    def number(self, arc: str, commit_tag: str) -> int | None:
        """The number of a version; None where none was forgotten, so that the index can count by itself."""
        forgotten = self._forgotten.get(arc)
        if not forgotten:
            return None
        last, tag = self._last.get(arc) or self._indexed(arc)
        if commit_tag != tag:
            last = next(number for number in count(last + 1) if number not in forgotten)
        self._last[arc] = (last, commit_tag)
        return last

    def _indexed(self, arc: str) -> tuple[int, str]:
        versions = self._index.history(self._domain, arc)
        return (versions[-1].number, versions[-1].commit_tag) if versions else (0, "")
