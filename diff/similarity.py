"""How alike two texts are, as a figure from 0 to 1."""

from __future__ import annotations

from webarc.diff.words import WordDiff


def similarity(a: str, b: str) -> float:
    """The share of the words of both texts that are kept, in their order: 2 * kept / (words of a + words of b).

    Where that is less, it is a quarter of the share of words that both have in any order. So 1.0 means that all words
    are the same (two texts without words are), 0.0 that none is, and it does not matter which text is which. The time
    is bounded (see `matching`): of long texts that are hardly alike some words that were kept may go unnoticed, so that
    the figure is too low, but never too high, and never lower than words in any order make it.
    """
    return WordDiff(a, b).similarity
