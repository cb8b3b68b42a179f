"""What differs between two trees, as far as they can be read.

Git gives up at a damaged tree. Here only the folder that it is of is passed over and named; until that folder can be
read again, in a later commit, what stood there before stands in for it.
"""

from __future__ import annotations

from collections.abc import Iterator

from webarc.archive.history import Change
from webarc.archive.objects import ObjectReader
from webarc.archive.places import Entry, entries

_Side = dict[str, Entry]


class TreeDiff:
    """Compares trees, the older ones first; `lost` has path and id of folders that the last time could not be read."""

    def __init__(self, reader: ObjectReader) -> None:
        self._reader = reader
        self._before: dict[str, str] = {}
        self.lost: list[tuple[str, str]] = []

    def changes(self, old: str, new: str) -> Iterator[Change]:
        """What differs between two trees, given by their ids, in the order that git has; empty stands for nothing."""
        self.lost = []
        yield from self._folder("", old, new)

    def _folder(self, path: str, old: str, new: str) -> Iterator[Change]:
        old = self._before.get(old, old)
        if old == new or new in self._before:
            return
        before, after = self._read(old), self._read(new)
        if after is None:
            self._before[new] = old if before is not None else ""
            self.lost.append((path, new))
        else:
            yield from self._entries(path, before or {}, after)

    def _entries(self, path: str, before: _Side, after: _Side) -> Iterator[Change]:
        for name in sorted(before.keys() | after.keys()):
            old, new = before.get(name), after.get(name)
            if old == new:
                continue
            known = new or old
            assert known is not None
            inner = f"{path}/{known.name}".lstrip("/")
            ids = old.id if old else "", new.id if new else ""
            if known.is_folder:
                yield from self._folder(inner, *ids)
            else:
                yield Change("D" if not new else "M" if old else "A", inner, ids[1])

    def _read(self, tree: str) -> _Side | None:
        """The entries of a tree by the name that git sorts them by; None if it cannot be read."""
        if not tree:
            return {}
        data = next(self._reader.read_many([tree]))
        if not isinstance(data, bytes):
            return None
        return {f"{entry.name}/" if entry.is_folder else entry.name: entry for entry in entries(data)}
