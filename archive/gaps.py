"""Gaps in the history of pages: versions that were thinned out or forgotten, and what nobody can tell any more then.

A number is given once, so the numbers that are left tell of those that are not; tombstones tell how they went.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import count, groupby, takewhile
from operator import attrgetter

from webarc.archive.repository import Repository
from webarc.archive.tombstones import Tombstone, tombstones
from webarc.sql.index import Index
from webarc.sql.rows import VersionRow


@dataclass(frozen=True, slots=True)
class Gap:
    """Numbers of versions that stand side by side and are gone; `how` is what was done to them, `time` when at last."""

    numbers: tuple[int, ...]
    how: str
    time: str

    def __str__(self) -> str:
        if len(self.numbers) == 1:
            return f"version {self.numbers[0]} was {self.how}"
        return f"versions {_listed(self.numbers)} were {self.how}"


class Gaps:
    """The gaps in the history of one domain; its tombstones are read when the first gap is met."""

    def __init__(self, repo: Repository) -> None:
        self._repo = repo
        self._known: dict[str, dict[int, Tombstone]] | None = None

    def before(self, arc: str, number: int) -> Gap | None:
        """What is missing right before a version of a page."""
        return self._gap(arc, range(number - 1, 0, -1))

    def after(self, arc: str, number: int) -> Gap | None:
        """What is missing right behind a version of a page."""
        return self._gap(arc, count(number + 1))

    def _gap(self, arc: str, numbers: Iterable[int]) -> Gap | None:
        taken = self._taken().get(arc, {})
        missing = sorted(takewhile(taken.__contains__, numbers))
        if not missing:
            return None
        stones = [taken[number] for number in missing]
        # What is only thinned out is remembered without hashes.
        ways = sorted({"forgotten" if stone.sha256s else "thinned out" for stone in stones}, reverse=True)
        return Gap(tuple(missing), " or ".join(ways), max(stone.time for stone in stones))

    def _taken(self) -> dict[str, dict[int, Tombstone]]:
        """Of every ARC the numbers that are gone, and what is told of them."""
        if self._known is None:
            self._known = {}
            for stone in tombstones(self._repo):
                self._known.setdefault(stone.arc, {}).update(dict.fromkeys(stone.numbers, stone))
        return self._known


def uncertain(index: Index, domain: str, moment: str) -> dict[str, int]:
    """The ARCs of which the version that was current at a crawl time may be gone, so that an older one stands there.

    With the number of the next version that is left: the gap is right before it.
    """
    if not index.has_gaps(domain):
        return {}
    pages = groupby(index.versions(domain), key=attrgetter("arc"))
    found = ((arc, _behind_gap(rows, moment)) for arc, rows in pages)
    return {arc: number for arc, number in found if number}


def _behind_gap(rows: Iterator[VersionRow], moment: str) -> int:
    last = 0
    for row in rows:
        if row.crawl_time > moment:
            # Nothing tells when those between the two were crawled.
            return row.number if row.number > last + 1 else 0
        last = row.number
    return 0


def _listed(numbers: tuple[int, ...]) -> str:
    """`1 and 2`, `1 to 5`."""
    if len(numbers) == 2:
        return f"{numbers[0]} and {numbers[1]}"
    return f"{numbers[0]} to {numbers[-1]}"
