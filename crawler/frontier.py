"""Which URLs a crawl knows, which of them wait, and what became of each.

Rows live in a SQLite file of the temp dir; memory holds one 64-bit hash per known URL, so that a crawl that knows
millions of URLs stays small. Rows are written in batches.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from webarc.archive.urls import key_of
from webarc.errors import NoSpace, StorageProblem
from webarc.sql.room import has_room
from webarc.sql.rows import CurrentRow
from webarc.sql.statements import statement

_BATCH = 2_000
_LONGEST_CHAIN = 100


@dataclass(slots=True)
class Item:
    """A URL to be asked for, how it was found, and the version that the archive has of it."""

    id: int
    url: str
    depth: int
    kind: str
    redirects: int
    plain: bool
    attempt: int = 1
    mark: str = ""
    current: CurrentRow | None = None
    asked: str = ""
    """What is asked for instead: the URL as the server wrote it, with parameters that are taken out."""


class Row(NamedTuple):
    """What became of a URL that was asked for."""

    id: int
    url: str
    depth: int
    kind: str
    outcome: str
    status: int
    error: str
    target: str
    mark: str
    size: int


class Frontier:
    """The queue of a crawl and the memory of what it has seen."""

    def __init__(self, file: Path) -> None:
        self._folder = file.parent
        self._database = sqlite3.connect(file, isolation_level=None)
        try:
            # Losing power loses the crawl anyway; losing the process does not lose what was written.
            for setting in ("frontier_unsynced", "frontier_wal"):
                self._database.execute(statement(setting)).fetchall()
            self._database.executescript(statement("frontier_create"))
        except sqlite3.OperationalError as error:
            self._database.close()
            raise _problem(error, self._folder) from None
        self._asked: set[int] = set()
        self._skipped: set[int] = set()
        self._new: list[tuple[str, int, str, int, bool]] = []
        self._skips: list[tuple[str, str]] = []
        self._finished: list[tuple[str, str, int, str, str, str, int, int]] = []
        self.waiting = 0
        self.trapped = False
        """Whether the crawl had met a trap before it was interrupted."""

    def restore(self, *, committed: bool) -> None:
        """Go on where an interrupted crawl was: what is not known to have ended well is asked for again."""
        self._database.execute(statement("frontier_unsettle"), {"committed": committed})
        for (url,) in self._database.execute(statement("frontier_urls")):
            self._asked.add(hash(key_of(url)))
        for url, reason in self._database.execute(statement("frontier_skips")):
            self._skipped.add(hash(key_of(url)))
            self.trapped |= reason == "trap"
        self.waiting = self._database.execute(statement("frontier_waiting")).fetchone()[0]

    def add(self, url: str, depth: int, kind: str, redirects: int = 0, plain: bool = False) -> bool:
        """Queue a URL unless its key is known; says whether it is new."""
        mark = hash(key_of(url))
        if mark in self._asked:
            return False
        self._asked.add(mark)
        self._new.append((url, depth, kind, redirects, plain))
        self.waiting += 1
        if len(self._new) >= _BATCH:
            self.flush()
        return True

    def skip(self, url: str, reason: str) -> None:
        """Remember why a URL is not asked for; it may still be asked for when found in another role."""
        mark = hash(key_of(url))
        if mark in self._skipped or mark in self._asked:
            return
        self._skipped.add(mark)
        self._skips.append((url, reason))
        if len(self._skips) >= _BATCH:
            self.flush()

    def knows(self, url: str) -> bool:
        """Whether a URL is queued or was asked for in this crawl."""
        return hash(key_of(url)) in self._asked

    @property
    def known(self) -> int:
        """How many URLs this crawl has heard of."""
        return len(self._asked) + len(self._skipped)

    def take(self, limit: int, level: int | None) -> list[Item]:
        """The next waiting URLs, nearest first; with a level, none that lies deeper."""
        self.flush()
        deepest = level if level is not None else 1 << 30
        rows = self._database.execute(statement("frontier_take"), (deepest, limit)).fetchall()
        self._many("frontier_taken", [(row[0],) for row in rows])
        self.waiting -= len(rows)
        return [_item(row) for row in rows]

    def lowest(self) -> int | None:
        """The smallest depth at which something waits."""
        self.flush()
        row = self._database.execute(statement("frontier_lowest")).fetchone()
        return None if row[0] is None else int(row[0])

    def finish(
        self, item: Item, outcome: str, status: int = 0, *, error: str = "", target: str = "", size: int = 0
    ) -> None:
        """Record what became of a URL."""
        self._finished.append((item.url, outcome, status, error, target, item.mark, size, item.id))
        if len(self._finished) >= _BATCH:
            self.flush()

    def refuse(self, drops: list[tuple[str, int]]) -> None:
        """Files that were fetched have been dropped by filters: (why, row id)."""
        self.flush()
        self._many("frontier_refuse", drops)

    def found_same(self, rows: Iterable[int]) -> None:
        """Files that were fetched are those that the archive has."""
        self.flush()
        self._many("frontier_same", [(row,) for row in rows])

    def flag(self, error: str, rows: Iterable[int], urls: Iterable[str]) -> None:
        """Say something of pages that were stored or found unchanged, and of these URLs where they are unchanged."""
        self.flush()
        self._many("frontier_flag", [(error, row) for row in rows])
        again = [(error, url) for url in urls]
        if again:
            self._database.execute(statement("frontier_index"))
            self._many("frontier_flag_again", again)

    def rows(self) -> Iterator[Row]:
        """Every URL that was asked for, sorted by URL."""
        self.flush()
        for row in self._database.execute(statement("frontier_rows")):
            yield Row._make(row)

    def troubles(self) -> Iterator[Row]:
        """Those of the rows that ended without a page: missing, gone, failed or skipped."""
        self.flush()
        for row in self._database.execute(statement("frontier_troubles")):
            yield Row._make(row)

    def gone(self) -> list[Item]:
        """The URLs that answered 404 or 410."""
        self.flush()
        rows = self._database.execute(statement("frontier_gone")).fetchall()
        return [_item(row) for row in rows]

    def moved(self) -> Iterator[tuple[str, str]]:
        """URLs that moved for good, each with a target that answered well in this crawl."""
        self.flush()
        self._database.execute(statement("frontier_index"))
        for url, target in self._database.execute(statement("frontier_moved")).fetchall():
            if self._database.execute(statement("frontier_answered"), (target,)).fetchone()[0]:
                yield url, target

    def leads_nowhere(self, url: str) -> bool:
        """Whether a URL redirects in a circle, too often, or to something that was never asked for."""
        self.flush()
        self._database.execute(statement("frontier_index"))
        for _ in range(_LONGEST_CHAIN):
            row = self._database.execute(statement("frontier_one"), (url,)).fetchone()
            if row is None or row[0] != "redirect":
                return row is None and hash(key_of(url)) not in self._skipped
            url = row[1]
        return True

    def unfinished(self) -> Iterator[str]:
        """URLs that still waited when the crawl ended."""
        self.flush()
        for (url,) in self._database.execute(statement("frontier_unfinished")):
            yield url

    def skips(self) -> Iterator[tuple[str, str]]:
        """URLs that were never asked for, and why."""
        self.flush()
        for url, reason in self._database.execute(statement("frontier_skips")):
            if not self.knows(url):
                yield url, reason

    def flush(self) -> None:
        """Write what is pending."""
        self._many("frontier_add", self._new)
        self._many("frontier_skip", self._skips)
        self._many("frontier_finish", self._finished)
        self._new, self._skips, self._finished = [], [], []

    def _many(self, name: str, rows: Sequence[tuple[object, ...]]) -> None:
        if not rows:
            return
        try:
            self._database.execute(statement("frontier_begin"))
            self._database.executemany(statement(name), rows)
            self._database.execute(statement("frontier_commit"))
        except sqlite3.OperationalError as error:
            raise _problem(error, self._folder) from None

    def close(self) -> None:
        """Let go of the file; it goes with the temp dir."""
        self._database.close()


def _item(row: tuple[int, str, int, str, int, int]) -> Item:
    row_id, url, depth, kind, redirects, plain = row
    return Item(row_id, url, depth, kind, redirects, bool(plain))


def _problem(error: sqlite3.OperationalError, folder: Path) -> StorageProblem:
    # SQLite does not always know why it could not write: on a full disk it may speak of an I/O error.
    if "full" in str(error) or not has_room(folder):
        return NoSpace("the disk is full; make room and crawl again, nothing committed is lost.")
    return StorageProblem(f"the crawl's list of URLs cannot be written ({error}); crawl again.")
