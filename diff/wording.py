"""A text as words: runs of letters and digits, single marks, and single signs of scripts without blanks."""

from __future__ import annotations

import re
import string

# The low line is part of names.
_MARKS = re.escape(string.punctuation.replace("_", "")) + "\xa1-\xbf‐-‧‰-⁞　-〿＀-／：-＠"
# Thai, Lao, Burmese, Khmer, Chinese and Japanese are written without blanks: each sign is a word.
_SIGNS = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_LETTERS = rf"[^\s{_MARKS}{_SIGNS}]+"
# Prices, dates and contractions stay whole: 1,234.50 or 2026-11-15 or don't.
_WORD = re.compile(rf"({_LETTERS}(?:[.,'’-]{_LETTERS}){{0,8}}|[{_MARKS}{_SIGNS}])")


def words_of(text: str) -> list[str]:
    """The words and marks of a text; white space does not count."""
    return _WORD.findall(text)


class Words:
    """A text in words, which can still be shown as it was written."""

    def __init__(self, text: str) -> None:
        # Gap, word, gap, word, ..., gap.
        self._parts = _WORD.split(text)
        self.words = self._parts[1::2]

    def gap(self, number: int) -> str:
        """The white space before a word."""
        return self._parts[2 * number]

    def text(self, start: int, end: int) -> str:
        """The words from one to another, without the white space around them."""
        return "".join(self._parts[2 * start + 1 : 2 * end])
