"""Which URLs a crawl knows, which of them wait, and what became of each.

Rows live in a SQLite file of the temp dir; memory holds one 64-bit hash per known URL, so that a crawl that knows
millions of URLs stays small. Rows are written in batches.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from webarc.archive.urls import host_of, key_of
from webarc.crawler.circles import endless
from webarc.crawler.reasons import UNKNOWN, rank
from webarc.errors import NoSpace, StorageProblem
from webarc.heartbeat import beat
from webarc.sql.room import has_room
from webarc.sql.rows import CurrentRow
from webarc.sql.statements import statement

_BATCH = 2_000
_LONGEST_CHAIN = 100
# Before the kind of a URL that is asked for only to see whether it leads back into the crawl.
HOP = "hop-"


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
    cookies: int = 0
    """The state of the cookies of its host when it was asked for."""
    returned: int = 0
    """How many redirects led back here while it was being asked for."""
    turned: dict[str, int] | None = None
    """The spellings of it that redirected to it itself, with the state of the cookies then."""
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
        self._skipped: dict[int, int] = {}
        self._under_way: dict[int, Item] = {}  # by row
        self._new: list[tuple[str, int, str, int, bool]] = []
        self._skips: list[tuple[str, str]] = []
        self._finished: list[tuple[str, str, int, str, str, str, int, int]] = []
        self._aside: list[tuple[str, int, str]] = []
        self._named: list[tuple[str, int, str]] = []
        self._turned: list[tuple[str, int, int]] = []
        self._resumed = False
        self._redirected = False
        self.holds_names = False
        self.waiting = 0
        self.starts = 0
        """Start URLs, and what they redirect to, that have not been decided on."""
        self.holds_aside = False
        """Whether something was put aside."""
        self.earlier: Counter[str] = Counter()
        """How many URLs of each domain an interrupted crawl has stored and committed."""
        self.trapped = False
        """Whether the crawl had met a trap before it was interrupted."""

    def restore(self, *, committed: bool) -> None:
        """Go on where an interrupted crawl was: what is not known to have ended well is asked for again."""
        self._database.execute(statement("frontier_unsettle"), {"committed": committed})
        self._database.execute(statement("frontier_turned_unsettle"))
        for (url,) in self._database.execute(statement("frontier_urls")):
            self._asked.add(hash(key_of(url)))
        for url, reason in self._database.execute(statement("frontier_skips")):
            mark, place = hash(key_of(url)), rank(url, reason)
            self._skipped[mark] = min(place, self._skipped.get(mark, place))
            self.trapped |= reason == "trap"
        self.waiting = self._database.execute(statement("frontier_waiting")).fetchone()[0]
        self.starts = self._database.execute(statement("frontier_starts")).fetchone()[0]
        self.holds_aside = bool(self.aside_page(0))
        self.earlier = self.stored()
        self._resumed = self._redirected = self.holds_names = True

    def add(self, url: str, depth: int, kind: str, redirects: int = 0, plain: bool = False) -> bool:
        """Queue a URL unless its key is known; says whether it is new."""
        mark = hash(key_of(url))
        if mark in self._asked:
            return False
        self._asked.add(mark)
        self._new.append((url, depth, kind, redirects, plain))
        self.waiting += 1
        if kind == "start":
            self.starts += 1
        if len(self._new) >= _BATCH:
            self.flush()
        return True

    def skip(self, url: str, reason: str) -> None:
        """Remember why a URL is not asked for; it may still be asked for when found in another role."""
        mark = hash(key_of(url))
        if mark in self._asked:
            return
        place = rank(url, reason)
        if self._skipped.get(mark, UNKNOWN) <= place:
            return
        self._skipped[mark] = place
        self._skips.append((url, reason))
        if len(self._skips) >= _BATCH:
            self.flush()

    # -- what is decided on later -----------------------------------------------------------------------------

    def put_aside(self, url: str, depth: int, kind: str) -> None:
        """Keep a URL until it is certain which hosts belong to the crawl."""
        self.holds_aside = True
        self._aside.append((url, depth, kind))
        if len(self._aside) >= _BATCH:
            self.flush()

    def aside_page(self, after: int) -> list[tuple[int, str, int, str]]:
        """Some of what was put aside, in that order: row, URL, depth, kind."""
        self.flush()
        return self._database.execute(statement("frontier_aside_page"), (after, _BATCH)).fetchall()

    def clear_aside(self) -> None:
        """All that was put aside is decided on."""
        self._many("frontier_aside_clear", [()])
        self.holds_aside = False

    def name_again(self, url: str, depth: int, kind: str) -> None:
        """A known URL was named by a redirect or as a part of a page: it may be nearer, or freer to lead elsewhere."""
        self.holds_names = True
        self._named.append((key_of(url), depth, kind))
        if len(self._named) >= _BATCH:
            self.flush()

    def heed_names(self) -> list[tuple[Item, str, str]]:
        """Let what waits be as near as it was named; returns what was a link, is a part, too, and gave no page.

        With each, what became of it and where it redirects to.
        """
        self.flush()
        self.holds_names = False
        for name in ("frontier_named_closer", "frontier_named_parts"):
            self._many(name, [()])
        rows = self._database.execute(statement("frontier_named_turned")).fetchall()
        self._many("frontier_parted", [(row[0],) for row in rows])
        self._many("frontier_named_clear", [()])
        return [(_item((*row[:3], "requisite", *row[4:6])), row[6], row[7]) for row in rows]

    def under_way(self, url: str) -> Item | None:
        """The URL, if it is being asked for."""
        key = key_of(url)
        return next((item for item in self._under_way.values() if key_of(item.url) == key), None)

    def ask_anew(self, url: str, source: Item, cookies: int) -> bool:
        """Queue a URL again that gave no page, if its cookies have changed since; `source` redirects to it."""
        if not cookies and not self._resumed:
            return False
        self.flush()
        row = self._database.execute(statement("frontier_turned_get"), (key_of(url),)).fetchone()
        if row is None or row[1] == cookies:
            return False
        self.reopen(Item(row[0], url, source.depth, row[2], source.redirects + 1, False))
        return True

    def sent_on(self) -> list[tuple[Item, int]]:
        """What redirected to a redirect, or at a time without cookies; each with the state of its cookies then."""
        if not self._redirected:
            return []
        self.flush()
        rows = self._database.execute(statement("frontier_sent_on")).fetchall()
        return [(_item(row[:6]), row[6]) for row in rows]

    def reopen(self, item: Item) -> None:
        """Queue a URL again that was asked for."""
        self.flush()
        self._many("frontier_reopen", [(item.url, item.depth, item.kind, item.redirects, item.id)])
        self._many("frontier_turned_drop", [(item.id,)])
        self.waiting += 1
        if item.kind == "start":
            self.starts += 1

    def mark_loops(self) -> None:
        """URLs whose redirects lead to no end have failed."""
        self.flush()
        edges = dict(self._database.execute(statement("frontier_turned_edges")).fetchall())
        self._many("frontier_looped", [(row,) for row in sorted(endless(edges))])

    def stored(self) -> Counter[str]:
        """How many URLs of each domain have been stored."""
        self.flush()
        return Counter(host_of(url) for (url,) in self._database.execute(statement("frontier_stored")))

    # -- what is known ----------------------------------------------------------------------------------------

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
        items = [_item(row) for row in rows]
        for item in items:
            self._under_way[item.id] = item
        return items

    def lowest(self) -> int | None:
        """The smallest depth at which something waits."""
        self.flush()
        row = self._database.execute(statement("frontier_lowest")).fetchone()
        return None if row[0] is None else int(row[0])

    def finish(
        self, item: Item, outcome: str, status: int = 0, *, error: str = "", target: str = "", size: int = 0
    ) -> None:
        """Record what became of a URL."""
        self._under_way.pop(item.id, None)
        if item.kind == "start":
            self.starts -= 1
        if 300 <= status < 500 or item.kind.startswith(HOP):
            self._turned.append((key_of(item.url), item.id, item.cookies))
            self._redirected = self._redirected or outcome == "redirect"
        self._finished.append((item.url, outcome, status, error, target, item.mark, size, item.id))
        if len(self._finished) >= _BATCH:
            self.flush()

    def refuse(self, drops: list[tuple[str, int]]) -> None:
        """Files that were fetched have been dropped by filters: (why, row id)."""
        self.flush()
        self._many("frontier_refuse", drops)

    def found_same(self, urls: Iterable[str]) -> None:
        """Files that were fetched are those that the archive has."""
        self.flush()
        if same := [(url,) for url in urls]:
            self._database.execute(statement("frontier_index"))
            self._many("frontier_same", same)

    def leave_out(self, urls: Iterable[str]) -> None:
        """Files that were fetched could not be committed, as their domain was locked."""
        self.flush()
        self._database.execute(statement("frontier_index"))
        self._many("frontier_leave_out", [(url,) for url in urls])

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
            beat()
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
            if self._database.execute(statement("frontier_answered"), _spellings(target)).fetchone()[0]:
                yield url, target

    def leads_nowhere(self, url: str) -> bool:
        """Whether a URL redirects in a circle, too often, or to something that nobody asks for."""
        self.flush()
        self._database.execute(statement("frontier_index"))
        for _ in range(_LONGEST_CHAIN):
            row = self._database.execute(statement("frontier_one"), _spellings(url)).fetchone()
            if row is None or row[0] != "redirect":
                return row is None and self._skipped.get(hash(key_of(url)), UNKNOWN) > rank(url, "owned-elsewhere")
            url = row[1]
        return True

    def unfinished(self) -> Iterator[str]:
        """URLs that still waited when the crawl ended."""
        self.flush()
        for (url,) in self._database.execute(statement("frontier_unfinished")):
            yield url
        for (url,) in self._database.execute(statement("frontier_aside_urls")):
            if not self.knows(url) and hash(key_of(url)) not in self._skipped:
                yield url

    def skips(self) -> Iterator[tuple[str, str]]:
        """URLs that were never asked for, and why."""
        self.flush()
        for url, reason in self._database.execute(statement("frontier_skips")):
            mark = hash(key_of(url))
            if mark not in self._asked and self._skipped[mark] == rank(url, reason):
                yield url, reason

    def flush(self) -> None:
        """Write what is pending."""
        self._many("frontier_add", self._new)
        self._many("frontier_skip", self._skips)
        self._many("frontier_aside_add", self._aside)
        self._many("frontier_named_add", self._named)
        self._many("frontier_turned_add", self._turned)
        self._many("frontier_finish", self._finished)
        self._new, self._skips, self._finished = [], [], []
        self._aside, self._named, self._turned = [], [], []

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


def _spellings(url: str) -> tuple[str, str]:
    """A page over http and over https is one page."""
    return f"http:{key_of(url)}", f"https:{key_of(url)}"


def _problem(error: sqlite3.OperationalError, folder: Path) -> StorageProblem:
    # SQLite does not always know why it could not write: on a full disk it may speak of an I/O error.
    if "full" in str(error) or not has_room(folder):
        return NoSpace("the disk is full; make room and crawl again, nothing committed is lost.")
    return StorageProblem(f"the crawl's list of URLs cannot be written ({error}); crawl again.")
