"""Long tables, printed as their rows come: columns as wide as what is in them, in two lines where one has no room."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable, Sequence
from itertools import chain, islice
from textwrap import wrap

import click

from webarc.cli.output import safe

# So many rows are looked at before the first is printed; a wider cell after them moves the rest of its line.
_LOOKED_AT = 1000
_GAP = "  "
_INDENT = 8
# The widest time, with its zone.
TIME = 26
# The last column begins a new line rather than being narrower.
_LEAST = TIME
_ENDLESS = 1 << 30


def lines(columns: Sequence[tuple[str, int]], cells: Iterable[Sequence[str]]) -> None:
    """Print rows under headers; the number is the most that a column is widened to, negative to set it to the right."""
    rows = ([safe(cell) for cell in row] for row in cells)
    first = list(islice(rows, _LOOKED_AT))
    on_terminal = sys.stdout.isatty()
    layout = _Layout(columns, first, shutil.get_terminal_size().columns if on_terminal else _ENDLESS)
    click.echo(click.style(layout.line([name for name, _ in columns]), bold=on_terminal or None))
    for row in chain(first, rows):
        click.echo(layout.line(row))


class _Layout:
    """Where each column stands. The last one is as wide as there is room, and goes on below itself."""

    def __init__(self, columns: Sequence[tuple[str, int]], rows: list[list[str]], room: int) -> None:
        self._right = [most < 0 for _, most in columns]
        self._widths = [
            max([len(name), *(min(len(row[place]), abs(most)) for row in rows)])
            for place, (name, most) in enumerate(columns[:-1])
        ]
        self._room = room
        last = max([len(columns[-1][0]), *(len(row[-1]) for row in rows)])
        self._breaks, self._start = self._placed(min(last, _LEAST))

    def line(self, cells: Sequence[str]) -> str:
        """A row; what has no room beside the others stands below them."""
        placed = [
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(cells, self._widths, self._right, strict=False)
        ]
        placed.append(self._folded(cells[-1]))
        ends = (*self._breaks, len(placed))
        parts = [_GAP.join(placed[start:end]).rstrip() for start, end in zip((0, *self._breaks), ends, strict=True)]
        below = [f"{' ' * _INDENT}{part}" for part in parts[1:] if part]
        return "\n".join([parts[0], *below])

    def _folded(self, text: str) -> str:
        width = max(self._room - self._start, _LEAST)
        return f"\n{' ' * self._start}".join(wrap(text, width)) if len(text) > width else text

    def _placed(self, last: int) -> tuple[list[int], int]:
        """The columns that begin a new line, and where the last one begins."""
        breaks: list[int] = []
        start = end = 0
        for place, width in enumerate((*self._widths, last)):
            start = end + len(_GAP) if place else 0
            if place and start + width > self._room:
                breaks.append(place)
                start = _INDENT
            end = start + width
        return breaks, start
