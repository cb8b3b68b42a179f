"""The text of HTML pages without their markup, read quickly piece by piece; what was read once is remembered.

Versions of a page differ in few places, and pages of a site share their frames. A page is cut behind tags, and a
piece that begins and ends between tags means the same wherever it stands. Whatever is odd in a piece is left to
`tokens`, which reads everything as browsers do.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from webarc.diff import marks
from webarc.diff.tidy import Tidy, joined, tidied, without_templates
from webarc.diff.tokens import BLANK, HIDDEN, LITERAL, TOKEN_START, characters, read_token

_SHORT, _MEDIUM, _LONG, LONGEST_PIECE = 300, 1_000, 3_000, 16_000
_MOST_REMEMBERED = 32_000_000
# What a short piece takes beside its letters.
_OF_EACH = 400
_ODD_AT_ONCE = 64
_VALUE = rf"""[{BLANK}]*(?:"[^"]*"|'[^']*'|[^{BLANK}<>"'=`]+(?=[{BLANK}>]))"""
_REST = rf"""(?:/?>|[{BLANK}](?:[^<>"'=]*[^<>"'={BLANK}/][{BLANK}]*={_VALUE}){{0,60}}[^<>"'=]*>)"""
_READ_WITH_END = ("script", "style", "noscript", "iframe")
_HIDDEN = "|".join(rf"{name}{_REST}[^<]*(?:<(?!/{name}[{BLANK}/>])[^<]*){{0,2000}}</{name}>" for name in _READ_WITH_END)
_SPECIAL = "|".join((*HIDDEN, "xmp", "plaintext"))
_NO_TAG = "|".join(
    (
        *(f"(?:{names})[{BLANK}/>]" for names in (_SPECIAL, _SPECIAL.upper(), "TITLE|TEXTAREA")),
        *(f"{name}(?=[{BLANK}/>])(?![^<>]*>[^<]*</{name}>)" for name in ("title", "textarea")),
    )
)
# Names of tags, and at last the first thing that is odd, with all that follows it.
_TOKEN = re.compile(
    rf"<(?:((?!{_NO_TAG})/?(?:[a-z][a-z0-9-]*|[A-Z][A-Z0-9]*)){_REST}"
    rf"|{_HIDDEN}"
    r"|!--(?!-?>)[^-]*(?:-(?!-!?>)[^-]*){0,2000}-->"
    r"|(?:!(?:doctype|DOCTYPE)|\?)[^<>]*>"
    r"|([a-zA-Z/!?](?s:.*)))"
)
_SELF_CLOSED = re.compile(rf"<({'|'.join((*HIDDEN, *LITERAL))})([{BLANK}][^<>]*|)/>", re.IGNORECASE | re.ASCII)
_QUOTED = re.compile(r"<!\[CDATA\[(.*?)(?:\]\]>|\Z)", re.DOTALL)


class Piece(NamedTuple):
    """What a piece of a page shows up to anything odd in it, and how much of it that is."""

    tidy: Tidy
    used: int


class Markup:
    """Reads pages; keep one for pages that have much in common. `finish` is done to every piece of their text.

    It gets the piece before its white space is collapsed, and must leave marks and white space as they are.
    """

    def __init__(self, finish: Callable[[str], str] = str) -> None:
        self._finish = finish
        # A piece means something else where the ends of lines count.
        self._known: tuple[dict[str, Piece], dict[str, Piece]] = ({}, {})
        self._remembered = 0

    def text(self, page: str, *, xml: bool = False) -> str:
        """What a reader sees: the title, then a line for every block, white space collapsed."""
        pieces = list(self._pieces(unmarked(_as_html(page) if xml else page)))
        title = next((piece.title for piece in pieces if piece.title), "")
        shown = without_templates(joined(piece.text for piece in pieces))
        lines = shown.replace(marks.LINE, "\n")
        return f"{title}\n{lines}" if title and lines else title or lines

    def _pieces(self, page: str) -> Iterator[Tidy]:
        position, laid_out, endless = 0, False, set[str]()
        while position < len(page):
            written = page[position : _cut(page, position)]
            piece = self.piece(written, laid_out)
            yield piece.tidy
            position += piece.used
            laid_out = piece.tidy.laid_out
            if piece.used < len(written) or not written:
                shown, position = _odd(page, position, endless)
                tidy = self.tidied(shown, laid_out)
                yield tidy
                laid_out = tidy.laid_out

    def piece(self, written: str, laid_out: bool) -> Piece:
        """What a piece that begins between tags shows; `laid_out` where the ends of lines count."""
        return self._known[laid_out].get(written) or self._read(written, laid_out)

    def tidied(self, shown: str, laid_out: bool) -> Tidy:
        """What was read in another way, with `finish` done to it."""
        return tidied(self._finish(shown.replace(marks.NOTHING, "")), laid_out)

    def _read(self, written: str, laid_out: bool) -> Piece:
        parts: list[str | None] = _TOKEN.split(written)  # text, name, rest, text, name, rest, ..., text
        rest = parts[-2] if len(parts) > 1 else None
        del parts[2::3]
        parts[1::2] = [marks.OF_TAG.get(name or "", marks.NOTHING) for name in parts[1::2]]
        shown = characters("".join(part or "" for part in parts))
        piece = Piece(self.tidied(shown, laid_out), len(written) - (len(rest) + 1 if rest else 0))
        self._remember(written, laid_out, piece)
        return piece

    def _remember(self, written: str, laid_out: bool, piece: Piece) -> None:
        if self._remembered > _MOST_REMEMBERED:
            for known in self._known:
                known.clear()
            self._remembered = 0
        self._remembered += len(written) + len(piece.tidy.text) + _OF_EACH
        self._known[laid_out][written] = piece


def _cut(page: str, position: int) -> int:
    """Where the next piece ends: behind the tag at the end of a line, else behind any tag, or nowhere (`position`).

    Lines keep pieces the same after a change before them, which any tag would not.
    """
    end = page.find(">\n", position + _SHORT, position + _LONG) + 1
    if end:
        return end
    start, limit = position + _MEDIUM, position + LONGEST_PIECE
    end = page.find(">", max(page.find("</", start, limit), start), limit) + 1
    if end:
        return end
    return len(page) if len(page) <= limit else position


def _odd(page: str, position: int, endless: set[str]) -> tuple[str, int]:
    """What some tokens show, read one by one, and where the last of them ends."""
    found: list[str] = []
    for _ in range(_ODD_AT_ONCE):
        token = TOKEN_START.search(page, position)
        start = token.start() if token else len(page)
        found.append(characters(page[position:start]))
        position = start
        if token is None:
            break
        shown, position = read_token(page, start, endless)
        found.append(shown)
    return "".join(found), position


def read_to_cut(page: str, position: int, cut: str, endless: set[str]) -> tuple[str, int]:
    """What the tokens from a position on show, to behind the first `cut` between them, and where that is.

    A cut is a `>` and an end of a line; the `>` may be that of the token before it.
    """
    found: list[str] = []
    while True:
        token = TOKEN_START.search(page, position)
        start = token.start() if token else len(page)
        place = page.find(cut, max(position - 1, 0), start)
        if place >= 0:
            end = place + len(cut)
            return "".join((*found, characters(page[position:end]))), end
        found.append(characters(page[position:start]))
        if token is None:
            return "".join(found), start
        shown, position = read_token(page, start, endless)
        found.append(shown)


def unmarked(page: str) -> str:
    """A page without the signs that stand for tags."""
    for mark in marks.ALL:
        if mark in page:
            page = page.replace(mark, " ")
    return page


def _as_html(page: str) -> str:
    """In XHTML every element may close itself, and text may be quoted."""
    page = _QUOTED.sub(lambda found: found[1].replace("&", "&amp;").replace("<", "&lt;"), page)
    return _SELF_CLOSED.sub(r"<\1\2></\1>", page)
