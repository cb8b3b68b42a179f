"""Where objects stand in the history of a domain: at which paths, in which crawls, and what other crawls have there.

Every tree is read once, one by one, and what cannot be read is passed over: so a damaged tree gets a name from those
that lead to it, and from its neighbours in time what it may have held.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from webarc.archive.history import Commit
from webarc.archive.layout import METADATA, arc_file
from webarc.archive.objects import ObjectReader

_ID_BYTES = 20
_FOLDER = b"40000"
_REMEMBERED = 2_000


@dataclass(frozen=True, slots=True)
class Place:
    """Where an object is: a path (empty for the whole tree), and the commits that have it there, oldest first.

    `documents` are the pages of a lost folder whose versions may be lost with it: ARC and blob of a data.xml that the
    commit before or after has there.
    """

    path: str
    is_folder: bool
    commits: tuple[Commit, ...]
    documents: dict[str, str]


@dataclass(frozen=True, slots=True)
class Entry:
    """One name in a tree."""

    name: str
    is_folder: bool
    id: str


class Places:
    """Looks for objects in commits, which are given oldest first."""

    def __init__(self, reader: ObjectReader, commits: Sequence[Commit]) -> None:
        self._reader, self._commits = reader, commits
        found = zip(commits, reader.read_many(commit.id for commit in commits), strict=True)
        # The first line of a commit is `tree` and the id of its tree.
        self._roots = [data[5:45].decode("ascii", "replace") if isinstance(data, bytes) else "" for _, data in found]
        self._entries = lru_cache(_REMEMBERED)(self._read)

    def of(self, names: set[str]) -> dict[str, Place]:
        """The places of objects; those that the commits do not lead to are left out."""
        return {name: self._place(name, *first) for name, first in self._first(names).items()}

    def neighbours(self, place: Place) -> list[str]:
        """The trees that the commits before and after have at a place, as far as they have one."""
        first, last = (self._commits.index(commit) for commit in (place.commits[0], place.commits[-1]))
        numbers = [number for number in (first - 1, last + 1) if 0 <= number < len(self._commits)]
        return [tree for tree in (self._at(number, place.path) for number in numbers) if tree]

    def _first(self, names: set[str]) -> dict[str, tuple[Entry, int]]:
        """The path at which each object is first met, and the number of the commit."""
        found: dict[str, tuple[Entry, int]] = {}
        seen = set(names)
        for number, root in enumerate(self._roots):
            waiting = [Entry("", True, root)] if root else []
            while waiting and len(found) < len(names):
                for entry in waiting:
                    if entry.id in names:
                        found.setdefault(entry.id, (entry, number))
                fresh = {entry.id: entry for entry in waiting if entry.is_folder and entry.id not in seen}
                seen |= fresh.keys()
                waiting = list(self._below(list(fresh.values())))
        return found

    def _below(self, folders: list[Entry]) -> Iterator[Entry]:
        """What folders hold, by its whole path."""
        for folder, data in zip(folders, self._reader.read_many(each.id for each in folders), strict=True):
            for entry in entries(data) if isinstance(data, bytes) else ():
                yield Entry(f"{folder.name}/{entry.name}".lstrip("/"), entry.is_folder, entry.id)

    def _place(self, name: str, entry: Entry, first: int) -> Place:
        there = [number for number in range(first, len(self._roots)) if self._at(number, entry.name) == name]
        commits = tuple(self._commits[number] for number in there)
        documents = self._changed(entry.name, first - 1, there[-1] + 1) if entry.is_folder else {}
        return Place(entry.name, entry.is_folder, commits, documents)

    def _at(self, number: int, path: str) -> str:
        """The id of what a commit has at a path; empty if it has nothing there, or nothing legible."""
        name = self._roots[number]
        for part in path.split("/") if path else ():
            name = self._entries(name).get(part, "")
        return name

    def _read(self, tree: str) -> dict[str, str]:
        data = next(self._reader.read_many([tree])) if tree else None
        return {entry.name: entry.id for entry in entries(data)} if isinstance(data, bytes) else {}

    # -- neighbours -------------------------------------------------------------------------------------------

    def _changed(self, path: str, before: int, after: int) -> dict[str, str]:
        """The pages below a path that differ between two commits; all of them if there is only one commit to ask."""
        sides = [self._documents(number, path) for number in (before, after) if 0 <= number < len(self._roots)]
        known = {arc: blob for side in sides for arc, blob in side.items()}
        if len(sides) == 2 and all(sides):
            differing = {arc: blob for arc, blob in known.items() if sides[0].get(arc) != sides[1].get(arc)}
            return differing or known
        return known

    def _documents(self, number: int, path: str) -> dict[str, str]:
        tree = self._at(number, path)
        waiting, found = [Entry(path, True, tree)] if tree else [], dict[str, str]()
        while waiting:
            entries = list(self._below(waiting))
            waiting = [entry for entry in entries if entry.is_folder]
            for entry in entries:
                place = arc_file(entry.name)
                if not entry.is_folder and place is not None and place[1] == METADATA:
                    found[place[0]] = entry.id
        return dict(sorted(found.items()))


def entries(data: bytes) -> Iterator[Entry]:
    """The entries of a tree as git writes it: mode, space, name, zero byte, id."""
    place = 0
    while place < len(data):
        end = data.index(b"\0", place)
        mode, _, name = data[place:end].partition(b" ")
        place = end + 1 + _ID_BYTES
        yield Entry(name.decode("utf-8", "surrogateescape"), mode == _FOLDER, data[end + 1 : place].hex())
