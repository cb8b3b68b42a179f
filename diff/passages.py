"""What changed between two passages of texts, word by word."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from webarc.diff.hunks import ADDED, REMOVED, SAME, Piece
from webarc.diff.matching import Effort, matching
from webarc.diff.readable import Run, readable
from webarc.diff.wording import Words


class Passage:
    """What changed from one passage to another."""

    def __init__(self, old: Words, new: Words, effort: Effort) -> None:
        self.old, self.new = old, new
        self._blocks = matching(self.old.words, self.new.words, effort)

    @property
    def different(self) -> bool:
        """Whether any word changed."""
        return self.old.words != self.new.words

    @cached_property
    def kept(self) -> int:
        """How many words are the same in both."""
        return sum(size for _, _, size in self._blocks)

    def pieces(self) -> Iterator[Piece]:
        """The new text with what was removed put in where it was."""
        for run in readable(self._runs(), self.old, self.new):
            if run.same:
                yield Piece(SAME, self.new.gap(run.b) + self.new.text(run.b, run.b_end))
                continue
            yield self._lead(run)
            yield Piece(REMOVED, self.old.text(run.a, run.a_end))
            yield Piece(ADDED, self.new.text(run.b, run.b_end))

    def end(self) -> Piece:
        """The white space behind the last word, if a text goes on there."""
        number = len(self.new.words)
        return Piece(SAME, self.new.gap(number)) if number else _only_old(self.old.gap(len(self.old.words)))

    def _lead(self, run: Run) -> Piece:
        """The white space before a change; line ends that only the old text has do not count in the new one."""
        if run.b < run.b_end:
            return Piece(SAME, self.new.gap(run.b))
        return _only_old(self.old.gap(run.a))

    def _runs(self) -> Iterator[Run]:
        """The texts from the first to the last word, what is the same and what changed in turn."""
        a = b = 0
        for next_a, next_b, size in (*self._blocks, (len(self.old.words), len(self.new.words), 0)):
            if a < next_a or b < next_b:
                yield Run(False, a, next_a, b, next_b)
            a, b = next_a + size, next_b + size
            if size:
                yield Run(True, next_a, a, next_b, b)


def _only_old(gap: str) -> Piece:
    ends = gap.count("\n")
    return Piece(REMOVED, "\n" * ends) if ends else Piece(SAME, gap)
