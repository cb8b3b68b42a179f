"""Changed lines of a text with a few unchanged ones around them: what is shown of a long one."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import takewhile
from typing import NamedTuple

SAME, REMOVED, ADDED = "=", "-", "+"
# A line can be as long as a page; of what is the same in it, so much is shown next to a change.
_BESIDE = 100
_LEFT_OUT = " … "


class Piece(NamedTuple):
    """A stretch of text that is the same in both versions (`=`), removed (`-`) or added (`+`)."""

    mark: str
    text: str


class Hunk(NamedTuple):
    """Lines of pieces; `line` is the number of the first one in the new text."""

    line: int
    lines: list[list[Piece]]


def hunks(pieces: Iterable[Piece], context: int) -> list[Hunk]:
    """The changed lines of a text in pieces, each with so many unchanged lines before and after."""
    cutter = _Cutter(context)
    for piece in pieces:
        cutter.put(piece.mark, piece.text.split("\n"))
    return cutter.finished()


class _Cutter:
    """Breaks pieces into lines and leaves out those that are far from every change."""

    def __init__(self, context: int) -> None:
        self._context = context
        self._line = 1
        self._hunks: list[Hunk] = []
        self._open()

    def put(self, mark: str, lines: list[str]) -> None:
        """Add a piece: the rest of the line that is open, more lines, and the beginning of the next."""
        if mark != SAME:
            if not self._changed and any(lines):
                self._begin()
        elif len(lines) > 2 * self._context + 1:
            self._append(mark, lines[: self._context + 1])
            self._close()
            rest = lines[-self._context - 1 :]
            self._line += len(lines) - len(rest) - self._context
            self._open()
            lines = rest
        self._append(mark, lines)

    def finished(self) -> list[Hunk]:
        """All hunks."""
        self._close()
        return self._hunks

    def _close(self) -> None:
        """Leave out the lines that are too far behind the last change."""
        unchanged = takewhile(lambda line: all(mark == SAME for mark, _ in line), reversed(self._lines))
        too_far = sum(1 for _ in unchanged) - self._context
        if too_far > 0:
            del self._lines[-too_far:]

    def _open(self) -> None:
        """Lines that become a hunk if there is a change in them, and the number of each in the new text."""
        self._lines: list[list[Piece]] = [[]]
        self._numbers = [self._line]
        self._changed = False

    def _begin(self) -> None:
        """The first change: now it is known which lines before it are close enough."""
        self._changed = True
        del self._lines[: -self._context - 1]
        self._hunks.append(Hunk(self._numbers[-len(self._lines)], self._lines))

    def _append(self, mark: str, lines: list[str]) -> None:
        for number, text in enumerate(lines):
            if number:
                self._line += mark != REMOVED
                self._lines.append([])
                self._numbers.append(self._line)
            if text:
                self._extend(self._lines[-1], mark, text)

    def _extend(self, line: list[Piece], mark: str, text: str) -> None:
        if mark != SAME:
            line.append(Piece(mark, text))
        elif line and line[-1].mark == SAME:
            line[-1] = Piece(SAME, _shortened(line[-1].text + text))
        else:
            line.append(Piece(SAME, _shortened(text)))


def excerpt(pieces: Iterable[Piece], characters: int) -> list[list[Piece]]:
    """The changed lines only, and of these no more than so many characters."""
    found: list[list[Piece]] = []
    for line in (line for hunk in hunks(pieces, 0) for line in hunk.lines if line):
        if characters <= 0:
            found.append([Piece(SAME, _LEFT_OUT.strip())])
            break
        found.append([])
        for mark, text in line:
            if characters > 0:
                found[-1].append(Piece(mark, text if len(text) <= characters else f"{text[:characters]}{_LEFT_OUT}"))
            characters -= len(text)
    return found


def _shortened(text: str) -> str:
    if len(text) <= 2 * _BESIDE:
        return text
    return f"{text[:_BESIDE].rpartition(' ')[0] or text[:_BESIDE]}{_LEFT_OUT}{_tail(text[-_BESIDE:])}"


def _tail(text: str) -> str:
    return text.partition(" ")[2] or text
