"""What changed between two texts, word by word."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cached_property, lru_cache

from webarc.diff.hunks import SAME, Piece
from webarc.diff.matching import Effort, matching
from webarc.diff.passages import Passage
from webarc.diff.unified import lines_of
from webarc.diff.wording import Words, words_of

# In a longer text (both together, in characters) equal lines are found first, and words only where lines differ.
_LONG = 20_000
# As many characters as a word has at least, with what parts it from the next.
_SHORT_WORD = 4
# What a word counts that both texts have in another order.
_MOVED = 0.25


class WordDiff:
    """What changed from one text to another; `removed` and `added` are numbers of words."""

    def __init__(self, old: str, new: str) -> None:
        effort = Effort((len(old) + len(new)) // _SHORT_WORD)
        is_long = len(old) + len(new) > _LONG
        self._parts = _in_parts(old, new, effort) if is_long else [Passage(_words(old), _words(new), effort)]
        self.steps = effort.taken
        self._passages = [part for part in self._parts if isinstance(part, Passage)]
        self.different = any(part.different for part in self._passages)
        self.removed = sum(len(part.old.words) - part.kept for part in self._passages)
        self.added = sum(len(part.new.words) - part.kept for part in self._passages)

    @cached_property
    def kept(self) -> int:
        """How many words are the same in both."""
        return self._equal + sum(part.kept for part in self._passages)

    @property
    def share(self) -> float:
        """The share of all words that are kept in their order."""
        return self._share(self.kept)

    @property
    def similarity(self) -> float:
        """The same, but words that are in both texts in another order count for a little; see `similarity`."""
        kept = self.share
        # No more than that can come of words in another order.
        return kept if kept >= _MOVED else max(kept, _MOVED * self._share(self._in_both()))

    def _share(self, words: int) -> float:
        total = 2 * self.kept + self.removed + self.added
        return 2 * words / total if total else 1.0

    @cached_property
    def _equal(self) -> int:
        """How many words are in equal lines, which are not worth being counted if nobody asks."""
        return sum(len(words_of(part)) for part in self._parts if isinstance(part, str))

    def _in_both(self) -> int:
        """How many words the texts have in common, whatever their order."""
        old, new = Counter[str](), Counter[str]()
        for part in self._passages:
            old.update(part.old.words)
            new.update(part.new.words)
        return self._equal + (old & new).total()

    def pieces(self) -> Iterator[Piece]:
        """The new text with what was removed put in where it was."""
        for number, part in enumerate(self._parts, 1):
            if isinstance(part, str):
                yield Piece(SAME, part)
                continue
            yield from part.pieces()
            if number < len(self._parts):
                yield part.end()


# Of many versions in a row each is compared with the one before and the one behind it.
_words = lru_cache(maxsize=4)(Words)


def _in_parts(old: str, new: str, effort: Effort) -> list[str | Passage]:
    """The texts in passages of equal lines, which are plain strings, and of lines that differ."""
    lines_old, lines_new = lines_of(old), lines_of(new)
    found: list[str | Passage] = []
    a = b = 0
    for next_a, next_b, size in (*matching(lines_old, lines_new, effort), (len(lines_old), len(lines_new), 0)):
        if a < next_a or b < next_b:
            old_words, new_words = Words("".join(lines_old[a:next_a])), Words("".join(lines_new[b:next_b]))
            found.append(Passage(old_words, new_words, effort))
        a, b = next_a + size, next_b + size
        if size:
            found.append("".join(lines_new[next_b:b]))
    return found
