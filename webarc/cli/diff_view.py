"""How a comparison is shown: marks or colours, hunks with headers, figures in a line."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING

import click

from webarc.archive.zones import shown
from webarc.cli.output import safe

if TYPE_CHECKING:
    from webarc.diff.hunks import Piece
    from webarc.diff.pair import VersionPair
    from webarc.sql.rows import VersionRow

_MARKS = {"=": ("", ""), "-": ("[-", "-]"), "+": ("{+", "+}")}
_COLORS = {"-": "red", "+": "green"}
_SIGNS = {"=": " ", "-": "-", "+": "+"}
# Blanks of all kinds, such as those that never break, are a blank to the reader of a text.
_BLANKS = re.compile(r"[^\S\t]")
_LINES_AT_ONCE = 1000
_NO_END = "\\ No newline at end of file"


class DiffView:
    """Prints a comparison of two versions."""

    def __init__(self, pair: VersionPair, around: int, color: str) -> None:
        self._pair, self._around = pair, around
        on_terminal = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
        self._color = color == "always" or (color == "auto" and on_terminal)

    def show(self, only_figures: bool) -> None:
        """Print it; nothing if there is no difference."""
        if not self._pair.different:
            return
        lines = iter([self.figures()]) if only_figures else self._lines()
        while part := list(islice(lines, _LINES_AT_ONCE)):
            click.echo("\n".join(part), color=self._color)

    def figures(self) -> str:
        """How much changed, in a line."""
        from webarc.diff.shares import written

        pair = self._pair
        sizes = f"{pair.old.length:,} -> {pair.new.length:,} bytes"
        start = f"version {pair.old.number} -> {pair.new.number}: "
        if changed := pair.words or pair.lines:
            noun = "words" if pair.words else "lines"
            counts = f"+{changed.added:,} -{changed.removed:,} {noun}, {written(changed.share)} of them kept, "
            return start + counts + sizes
        if pair.same_bytes:
            return f"{start}the same {pair.new.length:,} bytes, {_types(pair)}"
        return f"{start}{sizes}, {_types(pair)}, similarity {written(pair.similarity)}"

    def _lines(self) -> Iterator[str]:
        body = iter(self._body())
        first = next(body, None)
        if first is None:
            return
        yield self._styled(f"--- {_heading(self._pair.old)}", bold=True)
        yield self._styled(f"+++ {_heading(self._pair.new)}", bold=True)
        yield first
        yield from body

    def _body(self) -> Iterable[str]:
        if self._pair.words is not None:
            return self._word_lines()
        if self._pair.lines is not None:
            return self._source_lines()
        what = "Only the type differs" if self._pair.same_bytes else "Binary files differ"
        return [f"{what}: {self.figures()}"]

    def _word_lines(self) -> Iterator[str]:
        from webarc.diff.hunks import hunks

        assert self._pair.words is not None
        for hunk in hunks(self._pair.words.pieces(), self._around):
            yield self._styled(f"@@ line {hunk.line} @@", fg="cyan")
            for line in hunk.lines:
                yield "".join(map(self._word_piece, line))

    def _word_piece(self, piece: Piece) -> str:
        mark, text = piece
        if not text.isprintable():
            text = _shown(_BLANKS.sub(" ", text))
        if self._color:
            return self._styled(text, fg=_COLORS.get(mark))
        start, end = _MARKS[mark]
        return f"{start}{text}{end}"

    def _source_lines(self) -> Iterator[str]:
        assert self._pair.lines is not None
        for hunk in self._pair.lines.hunks(self._around):
            yield self._styled(hunk.header, fg="cyan")
            for mark, line in hunk.lines:
                yield self._styled(f"{_SIGNS[mark]}{_shown(line.removesuffix(chr(10)))}", fg=_COLORS.get(mark))
                if not line.endswith("\n"):
                    yield _NO_END

    def _styled(self, text: str, fg: str | None = None, bold: bool | None = None) -> str:
        return click.style(text, fg=fg, bold=bold) if self._color and (fg or bold) else text


def _heading(row: VersionRow) -> str:
    return f"{safe(row.url)}\tversion {row.number}, {shown(row.crawl_time)}"


def _types(pair: VersionPair) -> str:
    from webarc.diff.pair import kind

    old, new = kind(pair.old), kind(pair.new)
    return safe(old if old == new else f"{old} -> {new}")


def _shown(text: str) -> str:
    """A line that cannot move the cursor; tabs stay."""
    return text if text.isprintable() else "\t".join(map(safe, text.split("\t")))
