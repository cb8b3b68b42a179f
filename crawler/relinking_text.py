"""A document in any character encoding as text whose places are places of its bytes, some of which are replaced.

All that marks up HTML and CSS is ASCII, so every other character is masked by one letter: the text is then as long as
the bytes are (or half as long for UTF-16), and what is replaced is replaced in the bytes, the rest of which stays.
"""

from __future__ import annotations

import re
from itertools import pairwise
from operator import itemgetter

from webarc.archive.encodings import bytes_of, text_of

_MASK = b"\xe9"
_MASKED = bytes(range(128)) + _MASK * 128
# Characters of several bytes of which some look like ASCII; so many at once, since each repeat takes memory.
_SEVERAL = {
    "gbk": rb"[\x81-\xfe](?:[\x40-\x7e\x80-\xfe]|[0-9][\x81-\xfe][0-9])",
    "big5": rb"[\x81-\xfe][\x40-\x7e\xa1-\xfe]",
    "shift_jis": rb"[\x81-\x9f\xe0-\xfc][\x40-\x7e\x80-\xfc]",
    "euc-kr": rb"[\x81-\xfe][A-Za-z\x81-\xfe]",
    "iso-2022-jp": rb"\x1b(?!\([BJ])[^\x1b]*",
}
_SEVERAL["gb18030"] = _SEVERAL["gbk"]
_RUNS = {charset: re.compile(rb"(?:%b){1,500}" % several) for charset, several in _SEVERAL.items()}
# As many as a crawl reads links.
_MOST_EDITS = 250_000
Edit = tuple[int, int, bytes]


class Source:
    """The bytes of a document and its masked text."""

    __slots__ = ("_body", "_charset", "_edits", "_width", "text")

    def __init__(self, body: bytes, charset: str) -> None:
        self._body, self._charset = body, charset
        self._width = 2 if charset.startswith("utf-16") else 1
        self._edits: list[Edit] = []
        self.text = _masked(body, charset).translate(_MASKED).decode("latin-1")

    @property
    def room(self) -> int:
        """How much more can be replaced before the rest had better stay as it is."""
        return max(0, _MOST_EDITS - len(self._edits))

    def written(self, start: int, end: int) -> str:
        """What really stands at a place."""
        return text_of(self._body[start * self._width : end * self._width], self._charset)

    def replace(self, start: int, end: int, text: str) -> None:
        """Put another text at a place in which nothing was replaced before."""
        self._edits.append((start * self._width, end * self._width, bytes_of(text, self._charset)))

    def spliced(self) -> bytes:
        """The bytes with everything replaced."""
        if not self._edits:
            return self._body
        edits = [(0, 0, b""), *sorted(self._edits, key=itemgetter(0)), (len(self._body), 0, b"")]
        pieces = []
        for (_, end, text), (start, _, _) in pairwise(edits):
            pieces += [text, self._body[end:start]]
        return b"".join(pieces)


def _masked(body: bytes, charset: str) -> bytes:
    """Bytes that are not ASCII, or belong to a character that is not, are not ASCII here."""
    if charset.startswith("utf-16"):
        first = charset == "utf-16be"
        high, low = body[1 - first :: 2], body[first::2]
        return bytes([0xE9 if above else below for above, below in zip(high, low, strict=False)])
    runs = _RUNS.get(charset)
    return runs.sub(lambda run: _MASK * len(run.group()), body) if runs else body
