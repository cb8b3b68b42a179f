"""Line by line: the unified diff that git and patch have taught people to read."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

from webarc.diff.hunks import ADDED, REMOVED, SAME, Piece
from webarc.diff.matching import matching


class LineHunk(NamedTuple):
    """Changed lines with unchanged ones around them, and where they are in both texts, counted from 1."""

    old_start: int
    old_count: int
    new_start: int
    new_count: int
    lines: list[Piece]

    @property
    def header(self) -> str:
        """The line that goes before them: `@@ -3,7 +3,8 @@`."""
        return f"@@ -{_range(self.old_start, self.old_count)} +{_range(self.new_start, self.new_count)} @@"


class _Change(NamedTuple):
    a: int
    a_end: int
    b: int
    b_end: int


class LineDiff:
    """What changed from one source to another; a line keeps its end, so that one without an end differs."""

    def __init__(self, old: str, new: str) -> None:
        self.old, self.new = lines_of(old), lines_of(new)
        self._blocks = matching(self.old, self.new)

    @property
    def different(self) -> bool:
        """Whether any line changed."""
        return self.old != self.new

    @cached_property
    def _kept(self) -> int:
        return sum(size for _, _, size in self._blocks)

    @property
    def removed(self) -> int:
        """How many lines of the old source are not in the new one."""
        return len(self.old) - self._kept

    @property
    def added(self) -> int:
        """How many lines of the new source were not in the old one."""
        return len(self.new) - self._kept

    @property
    def share(self) -> float:
        """The share of all lines that are kept."""
        total = len(self.old) + len(self.new)
        return 2 * self._kept / total if total else 1.0

    def hunks(self, context: int) -> Iterator[LineHunk]:
        """The changed lines, each with so many unchanged lines before and after."""
        group: list[_Change] = []
        for change in self._changes():
            if group and change.a - group[-1].a_end > 2 * context:
                yield self._hunk(group, context)
                group = []
            group.append(change)
        if group:
            yield self._hunk(group, context)

    def _changes(self) -> Iterator[_Change]:
        a = b = 0
        for next_a, next_b, size in (*self._blocks, (len(self.old), len(self.new), 0)):
            if a < next_a or b < next_b:
                yield _Change(a, next_a, b, next_b)
            a, b = next_a + size, next_b + size

    def _hunk(self, changes: list[_Change], context: int) -> LineHunk:
        first, last = changes[0], changes[-1]
        before = min(context, first.a, first.b)
        after = min(context, len(self.old) - last.a_end, len(self.new) - last.b_end)
        lines = []
        place = first.a - before
        for change in changes:
            lines += [Piece(SAME, line) for line in self.old[place : change.a]]
            lines += [Piece(REMOVED, line) for line in self.old[change.a : change.a_end]]
            lines += [Piece(ADDED, line) for line in self.new[change.b : change.b_end]]
            place = change.a_end
        lines += [Piece(SAME, line) for line in self.old[place : place + after]]
        old_start, new_start = first.a - before, first.b - before
        old_count, new_count = last.a_end + after - old_start, last.b_end + after - new_start
        return LineHunk(old_start + 1, old_count, new_start + 1, new_count, lines)


def lines_of(text: str) -> list[str]:
    """The lines with their ends; only a line feed ends one."""
    parts = text.split("\n")
    return [f"{line}\n" for line in parts[:-1]] + ([parts[-1]] if parts[-1] else [])


def _range(start: int, count: int) -> str:
    if count == 1:
        return str(start)
    # Nothing is said to come after the line before it.
    return f"{start if count else start - 1},{count}"
