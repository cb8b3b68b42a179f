"""What changed between two texts, word by word."""

from __future__ import annotations

from collections.abc import Iterator

from webarc.diff.hunks import SAME, Piece
from webarc.diff.matching import Effort, matching
from webarc.diff.passages import Passage
from webarc.diff.unified import lines_of
from webarc.diff.wording import words_of

# In a longer text (both together, in characters) equal lines are found first, and words only where lines differ.
_LONG = 100_000
# As many characters as a word has at least, with what parts it from the next.
_SHORT_WORD = 4


class WordDiff:
    """What changed from one text to another; `kept`, `removed` and `added` are numbers of words."""

    def __init__(self, old: str, new: str) -> None:
        self._parts = _in_parts(old, new) if len(old) + len(new) > _LONG else [Passage(old, new)]
        self.different = any(part.different for part in self._parts if isinstance(part, Passage))
        self.kept = self.removed = self.added = 0
        for part in self._parts:
            if isinstance(part, str):
                self.kept += len(words_of(part))
            else:
                self.kept += part.kept
                self.removed += len(part.old.words) - part.kept
                self.added += len(part.new.words) - part.kept

    @property
    def similarity(self) -> float:
        """The share of all words that are kept; see `similarity.similarity`."""
        total = 2 * self.kept + self.removed + self.added
        return 2 * self.kept / total if total else 1.0

    def pieces(self) -> Iterator[Piece]:
        """The new text with what was removed put in where it was."""
        for number, part in enumerate(self._parts, 1):
            if isinstance(part, str):
                yield Piece(SAME, part)
                continue
            yield from part.pieces()
            if number < len(self._parts):
                yield part.end()


def _in_parts(old: str, new: str) -> list[str | Passage]:
    """The texts in passages of equal lines, which are plain strings, and of lines that differ."""
    lines_old, lines_new = lines_of(old), lines_of(new)
    effort = Effort((len(old) + len(new)) // _SHORT_WORD)
    found: list[str | Passage] = []
    a = b = 0
    for next_a, next_b, size in (*matching(lines_old, lines_new, effort), (len(lines_old), len(lines_new), 0)):
        if a < next_a or b < next_b:
            found.append(Passage("".join(lines_old[a:next_a]), "".join(lines_new[b:next_b]), effort))
        a, b = next_a + size, next_b + size
        if size:
            found.append("".join(lines_new[next_b:b]))
    return found
