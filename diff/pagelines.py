"""The lines of the versions of one page as numbers, found without making a text of what has been read before.

Versions of a page differ in few places. A page is cut behind every tag at the end of a line. Most pieces begin with a
tag that begins a line of the text, or show nothing; such a piece shows the same lines wherever it stands, and they are
remembered. Others go on where the text before them ended: they are read together, from one such piece to the next.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from collections.abc import Iterable
from functools import cached_property
from typing import NamedTuple

from webarc.archive.encodings import text_of
from webarc.diff import marks
from webarc.diff.decode import piecewise_encoding
from webarc.diff.markup import LONGEST_PIECE, Markup, Piece, read_to_cut, unmarked
from webarc.diff.packing import NUMBER, Texts
from webarc.diff.phrases import settled
from webarc.diff.text import LARGEST_READ
from webarc.diff.tidy import Tidy, joined

_CUTS = (b">\n", b">\r\n")
_BEGINNING = 4_096
_NOTHING = ("", " ")
_HIDING = (marks.TEMPLATE, marks.TEMPLATE_END)
_MOST_REMEMBERED = 8_000_000
# What a short piece takes beside its bytes.
_OF_EACH = 200


class _Unfit(Exception):
    """A page that has to be read as a whole."""


class _Known:
    """The lines of pieces, each with a cut behind it, by the bytes before the cut."""

    def __init__(self) -> None:
        self.lines: dict[bytes, bytes] = {}
        # Of those with a title in them, the lines and the title.
        self.titled: dict[bytes, tuple[bytes, str]] = {}
        # Those among `lines` that do not even end one.
        self.blank: set[bytes] = set()
        self.size = 0


class _Group(NamedTuple):
    """The lines of pieces that are read together, the title in them, and the number of the piece behind them."""

    numbers: bytes
    title: str
    end: int


class PageLines:
    """Reads versions of a page of HTML; their lines are kept in `texts`."""

    def __init__(self, markup: Markup, texts: Texts) -> None:
        self._markup, self._texts = markup, texts
        self._places: dict[str, int] = {}
        self._known: dict[str, _Known] = {}
        self._fit = True

    def numbers(self, data: bytes, charset: str) -> bytes | None:
        """The numbers of the lines of a version; None if it has to be read as a whole."""
        found = piecewise_encoding(data, charset) if self._fit and len(data) <= LARGEST_READ else None
        if found is None:
            return None
        encoding, start = found
        if sum(known.size for known in self._known.values()) > _MOST_REMEMBERED:
            self._known.clear()
        known = self._known.setdefault(encoding, _Known())
        try:
            return _Version(self, known, data[start:], encoding).numbers()
        except _Unfit:
            # The other versions hardly are any better.
            self._fit = False
            return None

    def read(self, written: str, laid_out: bool) -> Piece:
        """What a piece shows."""
        piece = self._markup.piece(written, laid_out)
        if len(written) > max(piece.used, LONGEST_PIECE) or _hides(piece.tidy.text):
            raise _Unfit
        return piece

    def tidied(self, shown: str, laid_out: bool) -> Tidy:
        """The same for what was read in another way."""
        if _hides(shown):
            raise _Unfit
        return self._markup.tidied(shown, laid_out)

    def placed(self, lines: Iterable[str]) -> bytes:
        """The numbers of lines; empty ones do not count."""
        places = self._places
        return array(
            NUMBER, [places[line] if line in places else self._place(line) for line in lines if line]
        ).tobytes()

    def _place(self, line: str) -> int:
        self._places[line] = place = self._texts.place(settled(line))
        return place


class _Version:
    """One version, in pieces."""

    def __init__(self, page: PageLines, known: _Known, data: bytes, encoding: str) -> None:
        self._page, self._known, self._data, self._encoding = page, known, data, encoding
        self._cut = max(_CUTS, key=data[:_BEGINNING].count)
        self._pieces = data.split(self._cut)
        # Behind the last piece there is no cut, so it may mean something else than the same bytes with one.
        self._last = self._pieces.pop()
        self._found = list(map(known.lines.get, self._pieces))
        if self._last:
            self._pieces.append(self._last)
            self._found.append(None)
        self._titles: dict[int, str] = {}
        self._endless: set[str] = set()

    def numbers(self) -> bytes:
        """The numbers of all lines, that of the title first."""
        parts: list[bytes | None] = []
        done, unknown = 0, self._next_unknown(0)
        while unknown is not None:
            if not self._learn(unknown):
                start = self._line_start(done, unknown)
                group = self._group(start)
                parts += (*self._found[done:start], group.numbers)
                self._titles[start] = group.title
                done = unknown = group.end
            unknown = self._next_unknown(unknown)
        parts += self._found[done:]
        titles = (self._titles[number] for number in sorted(self._titles))
        title = self._page.placed([next(filter(None, titles), "")])
        return title + b"".join(part for part in parts if part)

    def _next_unknown(self, start: int) -> int | None:
        try:
            return self._found.index(None, start)
        except ValueError:
            return None

    def _learn(self, number: int) -> bool:
        """Read a piece by itself; whether it begins a line or shows nothing, so that nothing else matters."""
        piece, known = self._pieces[number], self._known
        if self._is_last(number):
            return False
        if piece not in known.lines and piece not in known.titled and not self._read(number, piece):
            return False
        if piece in known.titled:
            self._found[number], self._titles[number] = known.titled[piece]
        else:
            self._found[number] = known.lines[piece]
        return True

    def _read(self, number: int, piece: bytes) -> bool:
        written = self._written(number)
        found, known = self._page.read(written, laid_out=False), self._known
        text, title, laid_out = found.tidy
        is_blank = text in _NOTHING
        if found.used < len(written) or laid_out or not (is_blank or text[0] == marks.LINE):
            return False
        numbers = self._page.placed(line.strip(" ") for line in text.split(marks.LINE))
        if title:
            known.titled[piece] = numbers, title
        else:
            known.lines[piece] = numbers
        if is_blank:
            known.blank.add(piece)
        known.size += len(piece) + len(numbers) + _OF_EACH
        return True

    def _line_start(self, first: int, number: int) -> int:
        """The piece that the line of another may begin in."""
        while number > first:
            number -= 1
            if self._pieces[number] not in self._known.blank:
                break
        return number

    def _group(self, start: int) -> _Group:
        """Read on to the next piece that begins a line."""
        found: list[Tidy] = []
        number = start
        while number < len(self._pieces) and not (found and self._may_end(number, found[-1].laid_out)):
            tidies, number = self._shown(number, laid_out=bool(found) and found[-1].laid_out)
            found += tidies
        title = next((tidy.title for tidy in found if tidy.title), "")
        return _Group(self._page.placed(joined(tidy.text for tidy in found).split(marks.LINE)), title, number)

    def _may_end(self, number: int, laid_out: bool) -> bool:
        if laid_out or (self._found[number] is None and not self._learn(number)):
            return False
        return self._pieces[number] not in self._known.blank

    def _shown(self, number: int, laid_out: bool) -> tuple[list[Tidy], int]:
        """What a piece shows, and the number of the next; of several, where a cut went through a script or the like."""
        written = self._written(number)
        piece = self._page.read(written, laid_out)
        if piece.used == len(written):
            return [piece.tidy], number + 1
        text, starts = self._whole
        shown, end = read_to_cut(text, starts[number] + piece.used, self._cut.decode(), self._endless)
        return [piece.tidy, self._page.tidied(shown, piece.tidy.laid_out)], bisect_left(starts, end)

    @cached_property
    def _whole(self) -> tuple[str, list[int]]:
        """The version in one piece, and where each of the pieces begins in it."""
        text = self._decoded(self._data)
        return text, [0, *(found.end() for found in re.finditer(self._cut.decode(), text))]

    def _written(self, number: int) -> str:
        return self._decoded(self._pieces[number] + (b"" if self._is_last(number) else self._cut))

    def _decoded(self, data: bytes) -> str:
        return unmarked(text_of(data, self._encoding))

    def _is_last(self, number: int) -> bool:
        return bool(self._last) and number == len(self._pieces) - 1


def _hides(text: str) -> bool:
    return any(mark in text for mark in _HIDING)
