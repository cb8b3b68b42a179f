"""Pages that moved: what was removed under one URL and came under another, with the same or nearly the same content."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from webarc.diff.reading import Reading
from webarc.diff.sketches import Sketch
from webarc.diff.text import TextReader, has_text
from webarc.sql.rows import VersionRow

SIMILAR = 0.9
# A feature that more pages than this have in common, such as a menu, tells nothing.
_COMMON = 50
# Each new page is compared with so many old ones at most, those that have most features in common with it.
_CANDIDATES = 4
# So much memory is spent on the pages that are gone; any more of them are found by their hash only.
_MOST_KEPT = 256 << 20


class Move(NamedTuple):
    """A page under its old and its new URL."""

    old: VersionRow
    new: VersionRow
    similarity: float


def moves(reading: Reading, removed: Sequence[VersionRow], added: Sequence[VersionRow]) -> list[Move]:
    """The pages that moved; each of the removed and added ones belongs to one move at most."""
    found = [Move(old, new, 1.0) for old, new in _same_bytes(removed, added)]
    removed, added = _without(removed, (move.old for move in found)), _without(added, (move.new for move in found))
    # What has no counterpart of its kind need not be read.
    kinds = {has_text(row.mime_type) for row in removed} & {has_text(row.mime_type) for row in added}
    old = [row for row in removed if has_text(row.mime_type) in kinds]
    new = [row for row in added if has_text(row.mime_type) in kinds]
    return found + _similar(_kept(_sketches(reading, old)), _sketches(reading, new)) if kinds else found


def _sketches(reading: Reading, rows: list[VersionRow]) -> Iterator[Sketch]:
    reader = TextReader()
    for row, data in zip(rows, reading.contents(rows), strict=True):
        if data is not None:
            yield Sketch(row, data, reader)


def _kept(sketches: Iterator[Sketch]) -> list[Sketch]:
    found, memory = [], 0
    for sketch in sketches:
        memory += sketch.bytes_kept
        if memory > _MOST_KEPT:
            break
        found.append(sketch)
    return found


def _similar(old: list[Sketch], new: Iterable[Sketch]) -> list[Move]:
    """The best pairs first; a pair is taken if neither of its pages has been."""
    candidates = _Candidates(old)
    rated = [Move(other.row, sketch.row, alike) for sketch in new for other, alike in candidates.like(sketch)]
    found: list[Move] = []
    old_taken, new_taken = set(), set()
    for move in sorted(rated, key=lambda move: (-move.similarity, move.old.url, move.new.url)):
        if move.old.arc not in old_taken and move.new.arc not in new_taken:
            old_taken.add(move.old.arc)
            new_taken.add(move.new.arc)
            found.append(move)
    return found


class _Candidates:
    """Finds among many pages the few that are like another one."""

    def __init__(self, sketches: list[Sketch]) -> None:
        self._sketches = sketches
        self._equal: defaultdict[bytes, list[Sketch]] = defaultdict(list)
        self._having: defaultdict[int, list[int]] = defaultdict(list)
        for number, sketch in enumerate(sketches):
            self._equal[sketch.identity].append(sketch)
            for feature in sketch.features:
                self._having[feature].append(number)

    def like(self, wanted: Sketch) -> Iterator[tuple[Sketch, float]]:
        """The pages that are similar enough to a page, and how similar; one that is equal is given once only."""
        if equal := self._equal.get(wanted.identity):
            yield equal.pop(), 1.0
            return
        for other in self._nearest(wanted):
            if (similarity := other.similarity(wanted, SIMILAR)) >= SIMILAR:
                yield other, similarity

    def _nearest(self, wanted: Sketch) -> list[Sketch]:
        """The pages that have most features in common with a page and may be as long."""
        lists = sorted((self._having[name] for name in wanted.features if name in self._having), key=len)
        telling = [having for having in lists if len(having) <= _COMMON]
        if lists and not telling:
            # The least common of the common features is better than none.
            telling = [lists[0][:_COMMON]]
        hits = Counter(number for having in telling for number in having)
        ranked = (self._sketches[number] for number, _ in hits.most_common())
        return list(islice((sketch for sketch in ranked if sketch.may_be_like(wanted, SIMILAR)), _CANDIDATES))


def _same_bytes(removed: Iterable[VersionRow], added: Iterable[VersionRow]) -> list[tuple[VersionRow, VersionRow]]:
    """Pairs with the same hash; of several, those that have the same file name first."""
    named = _paired(removed, added, lambda row: (row.sha256, row.arc.rpartition("/")[2]))
    removed, added = _without(removed, (old for old, _ in named)), _without(added, (new for _, new in named))
    return named + _paired(removed, added, lambda row: row.sha256)


def _paired(
    removed: Iterable[VersionRow], added: Iterable[VersionRow], key: Callable[[VersionRow], object]
) -> list[tuple[VersionRow, VersionRow]]:
    waiting: defaultdict[object, deque[VersionRow]] = defaultdict(deque)
    for row in removed:
        waiting[key(row)].append(row)
    return [(waiting[name].popleft(), row) for row in added if waiting.get(name := key(row))]


def _without(rows: Iterable[VersionRow], taken: Iterable[VersionRow]) -> list[VersionRow]:
    arcs = {row.arc for row in taken}
    return [row for row in rows if row.arc not in arcs]
