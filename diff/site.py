"""What changed in a whole site between two times: pages added, removed, moved and changed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from math import inf

from webarc.archive.catalog import Catalog, moment_of
from webarc.archive.gaps import Gap
from webarc.diff.comparison import Comparison
from webarc.diff.hunks import Piece, excerpt
from webarc.diff.lost import Lost
from webarc.diff.moves import Move, moves
from webarc.diff.reading import Reading
from webarc.diff.text import TextReader
from webarc.sql.rows import VersionRow


@dataclass(frozen=True, slots=True)
class Changed:
    """A page with other bytes than before; the score is 1 - similarity, None if one of the two cannot be read.

    One of the two is missing where it was thinned out or forgotten; `gap` says so.
    """

    old: VersionRow | None
    new: VersionRow | None
    score: float | None
    removed: int | None = None
    added: int | None = None
    lines: list[list[Piece]] = field(default_factory=list)
    gap: Gap | None = None

    @property
    def page(self) -> VersionRow:
        """The newer of its versions, as far as there are."""
        row = self.new or self.old
        assert row is not None
        return row


@dataclass(frozen=True, slots=True)
class Unknown:
    """A page of which nobody can tell whether it changed; the version is of another time, `gap` says what is gone."""

    page: VersionRow
    gap: Gap


@dataclass(slots=True)
class SiteChanges:
    """A site at two times, as far as it differs; `unreadable` tells how many versions could not be read.

    `uncertain` tells of how many pages a version of one of the times may have been thinned out or forgotten, so that
    they were compared with an older one; `unknown` are those that could not be compared at all.
    """

    added: list[VersionRow] = field(default_factory=list)
    removed: list[VersionRow] = field(default_factory=list)
    moved: list[Move] = field(default_factory=list)
    changed: list[Changed] = field(default_factory=list)
    unknown: list[Unknown] = field(default_factory=list)
    unchanged: int = 0
    unreadable: int = 0
    uncertain: int = 0

    def counts(self) -> dict[str, int]:
        """How many pages there are of each kind."""
        return {
            "changed": len(self.changed),
            "moved": len(self.moved),
            "added": len(self.added),
            "removed": len(self.removed),
            "unchanged": self.unchanged,
        }

    def figures(self) -> str:
        """The same in words."""
        counts = self.counts() | ({"unknown": len(self.unknown)} if self.unknown else {})
        return ", ".join(f"{count:,} {kind}" for kind, count in counts.items())

    def differing(self) -> int:
        """How many pages differ."""
        return sum(self.counts().values()) - self.unchanged

    def at_most(self, count: int | None) -> SiteChanges:
        """The first pages of each kind."""
        added, removed = self.added[:count], self.removed[:count]
        moved, changed, unknown = self.moved[:count], self.changed[:count], self.unknown[:count]
        return replace(self, added=added, removed=removed, moved=moved, changed=changed, unknown=unknown)


class SiteComparison:
    """Compares the states of a domain; of what changed in a page so many characters are kept to be shown."""

    def __init__(self, catalog: Catalog, domain: str, reading: Reading, characters: int = 0) -> None:
        self._catalog, self._domain, self._reading, self._characters = catalog, domain, reading, characters
        self._found = SiteChanges()
        self._reader = TextReader()

    def between(self, before: str, after: str) -> SiteChanges:
        """What changed from one crawl time to another (`yyyy-mm-dd hh:mm:ss`)."""
        found = self._found
        pairs = self._sort(before, after)
        found.moved = moves(self._reading, found.removed, found.added)
        found.removed = _others(found.removed, {move.old.arc for move in found.moved})
        found.added = _others(found.added, {move.new.arc for move in found.moved})
        found.moved.sort(key=lambda move: (-move.similarity, move.new.url))
        found.changed = sorted([*found.changed, *self._scored(pairs)], key=_most_changed)
        found.unknown.sort(key=lambda unknown: unknown.page.url)
        found.unreadable = self._reading.unreadable
        return found

    def _sort(self, before: str, after: str) -> list[tuple[VersionRow, VersionRow]]:
        """Find what was added and removed by the index alone; returns the pages that have another version."""
        lost = Lost(self._catalog, self._domain, before), Lost(self._catalog, self._domain, after)
        numbers = {row.arc: row.number for row in self._catalog.versions_at(self._domain, before)}
        nowhere = (lost[0].arcs.keys() | lost[1].arcs.keys()) - numbers.keys()
        replaced: dict[str, VersionRow] = {}
        for row in self._catalog.versions_at(self._domain, after):
            nowhere.discard(row.arc)
            number = numbers.pop(row.arc, None)
            if number is None:
                self._begin(row, lost[0])
            elif number == row.number:
                self._stay(row, lost)
            else:
                self._found.uncertain += row.arc in lost[0].arcs or row.arc in lost[1].arcs
                replaced[row.arc] = row
        self._miss(nowhere, lost)
        return list(self._pairs(before, numbers, replaced, lost[1]))

    def _begin(self, row: VersionRow, lost: Lost) -> None:
        """A page that has no version at the first time."""
        gap = lost.gap_of(row)
        if gap is None:
            self._found.added.append(row)
        else:
            self._found.changed.append(Changed(None, row, None, gap=gap))

    def _stay(self, row: VersionRow, lost: tuple[Lost, Lost]) -> None:
        """A page that has one version at both times, if that does not only stand in for others."""
        gap = lost[0].gap_at(row) or lost[1].gap_at(row)
        if gap is None:
            self._found.unchanged += 1
        else:
            self._found.unknown.append(Unknown(row, gap))

    def _miss(self, arcs: set[str], lost: tuple[Lost, Lost]) -> None:
        """The pages that have no version at either time, though they were there at one of them."""
        for arc in arcs:
            row = self._catalog.index.history(self._domain, arc)[-1]
            gap = lost[0].gap_of(row) or lost[1].gap_of(row)
            if gap is not None:
                self._found.unknown.append(Unknown(row, gap))

    def _pairs(
        self, before: str, gone: dict[str, int], replaced: dict[str, VersionRow], lost: Lost
    ) -> Iterator[tuple[VersionRow, VersionRow]]:
        """The rows of the old state that are wanted after all; only few of many are, so none was kept."""
        for row in self._catalog.versions_at(self._domain, before) if gone or replaced else ():
            if row.arc in gone and (gap := lost.gap_of(row)):
                self._found.changed.append(Changed(row, None, None, gap=gap))
            elif row.arc in gone:
                self._found.removed.append(row)
            elif new := replaced.get(row.arc):
                if _kind(row) == _kind(new):
                    # It changed and changed back.
                    self._found.unchanged += 1
                else:
                    yield row, new

    def _scored(self, pairs: list[tuple[VersionRow, VersionRow]]) -> Iterator[Changed]:
        data = self._reading.contents([row for pair in pairs for row in pair])
        for (old, new), old_data, new_data in zip(pairs, data, data, strict=True):
            if old_data is None or new_data is None:
                yield Changed(old, new, None)
            else:
                yield self._change(old, new, Comparison(old, new, old_data, new_data, self._reader))

    def _change(self, old: VersionRow, new: VersionRow, compared: Comparison) -> Changed:
        score = 1.0 - compared.similarity
        words = compared.words
        if words is None:
            return Changed(old, new, score)
        lines = excerpt(words.pieces(), self._characters) if self._characters else []
        return Changed(old, new, score, words.removed, words.added, lines)


def compared(
    catalog: Catalog, domain: str, tags: tuple[str, str], reading: Reading, characters: int = 0
) -> SiteChanges:
    """What changed in a domain from one crawl to another, by their commitTags."""
    return SiteComparison(catalog, domain, reading, characters).between(*(moment_of(tag) or "" for tag in tags))


def _kind(row: VersionRow) -> tuple[str, str, str]:
    """What makes a version."""
    return row.sha256, row.mime_type, row.charset


def _others(rows: list[VersionRow], taken: set[str]) -> list[VersionRow]:
    return sorted((row for row in rows if row.arc not in taken), key=lambda row: row.url)


def _most_changed(page: Changed) -> tuple[float, str]:
    return (inf if page.score is None else -page.score), page.page.url
