"""Finding a phrase in texts whatever its case, its white space or the way its letters are written."""

from __future__ import annotations

import re
from collections.abc import Callable
from unicodedata import normalize

from webarc.errors import UsageProblem

END = b"\0"
_BLANK = ord(" ")
# What nobody sees, or what ends a text: soft hyphen, zero-width space, word joiner, byte order mark.
_UNSEEN = ("\0", "\u00ad", "\u200b", "\u2060", "\ufeff")
_EAST_ASIAN = "\u2e80-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff"
# A blank, most often from the end of a line, between letters of a script that needs none.
_NEEDLESS_BLANK = re.compile(f" (?=[{_EAST_ASIAN}])(?<=[{_EAST_ASIAN}] )")
# What the letters of these scripts begin with in UTF-8, and few others do.
_EAST_ASIAN_BYTES = bytes((*range(0xE3, 0xEA), 0xEF, 0xF0))
_RADICALS = tuple(bytes((0xE2, second)) for second in range(0xBA, 0xC0))
_WITHOUT_BORDERS = re.compile(f"[{_EAST_ASIAN}\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\ua980-\ua9df]")
_WORD = re.compile(r"\w")
_LONGEST_CHARACTER = 4


def letters(text: str) -> str:
    """A text without differences of case and spelling that nobody sees; white space is left as it is."""
    for sign in _UNSEEN:
        text = text.replace(sign, "")
    return text.lower() if text.isascii() else normalize("NFC", normalize("NFC", text).casefold())


def settled(text: str) -> str:
    """Lines put together of pieces of `letters`, as if they had been one piece: an accent may follow a tag."""
    return text if text.isascii() else unbroken(normalize("NFC", text))


def unbroken(text: str) -> str:
    """A text without the blanks that a script without blanks does not need."""
    return _NEEDLESS_BLANK.sub("", text) if _is_east_asian(text) else text


def lines_of(text: str) -> list[str]:
    """The lines of a plain text of `letters` with single blanks in them; one, where words may go across their ends."""
    if _is_east_asian(text):
        return [unbroken(" ".join(text.split()))]
    return list(filter(None, (" ".join(line.split()) for line in text.split("\n"))))


def _is_east_asian(text: str) -> bool:
    if text.isascii():
        return False
    data = text.encode("utf-8", "surrogatepass")
    return len(data.translate(None, _EAST_ASIAN_BYTES)) < len(data) or any(each in data for each in _RADICALS)


class Phrase:
    """What is looked for; `word` finds it only where no letter or digit adjoins it."""

    def __init__(self, text: str, *, word: bool = False) -> None:
        written = unbroken(" ".join(letters(text).split()))
        if not written:
            raise UsageProblem("the phrase is empty; give at least one letter to look for.")
        self._needle = written.encode("utf-8", "surrogatepass")
        blanks = [place for place, sign in enumerate(self._needle) if sign == _BLANK]
        self._beginnings = [self._needle[:place] for place in blanks]
        self._border_before = word and _has_border(written[0])
        self._border_after = word and _has_border(written[-1])

    def is_in(self, text: bytes) -> bool:
        """Whether a folded text holds it."""
        return bool(self.lines_with(text + END))

    def lines_with(self, lines: bytes) -> set[int]:
        """The numbers of the lines that hold it, from 0; each is folded and ended by END."""
        return _numbers(lines, self._needle, self._fits)

    def lines_before(self, lines: bytes) -> set[int]:
        """The numbers of the lines that end as it begins, so that it may go on in the next one."""
        found = (_numbers(lines, beginning + END, _anywhere) for beginning in self._beginnings)
        return set().union(*found)

    def _fits(self, texts: bytes, place: int) -> bool:
        end = place + len(self._needle)
        before = texts[max(place - _LONGEST_CHARACTER, 0) : place].decode("utf-8", "ignore")[-1:]
        after = texts[end : end + _LONGEST_CHARACTER].decode("utf-8", "ignore")[:1]
        return not ((self._border_before and _WORD.match(before)) or (self._border_after and _WORD.match(after)))


def _numbers(lines: bytes, wanted: bytes, fits: Callable[[bytes, int], bool]) -> set[int]:
    """The numbers of the lines in which something is found at a place that fits."""
    found: set[int] = set()
    number = position = 0
    while (place := lines.find(wanted, position)) >= 0:
        number += lines.count(END, position, place)
        position = place + 1
        if fits(lines, place):
            found.add(number)
            # Once in a line is enough.
            position = lines.index(END, place)
    return found


def _anywhere(_lines: bytes, _place: int) -> bool:
    return True


def _has_border(character: str) -> bool:
    """Whether a character is part of a word that blanks or signs would set apart from others."""
    return _WORD.match(character) is not None and _WITHOUT_BORDERS.match(character) is None
