"""XML from strangers, element by element: no tree in memory, nothing that it declares, as much as can be read of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from typing import Protocol, TypeVar
from xml.parsers import expat

from webarc.archive.encodings import decoded
from webarc.crawler.charset import charset_of
from webarc.crawler.expressions import many

_BLANKS = "\ufeff\0 \t\r\n"
_LONGEST_TEXT = 64 * 1024
_DEEPEST = 1_000
_MOST_ELEMENTS = 2_000_000
_MOST_REPAIRS = 500_000
_BEGINNING = 4096
_BEFORE_ROOT = many(r"\s++|<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^>\[]*+(?:\[.*?\]\s*+)?>", "before")
_ROOT = re.compile(_BEFORE_ROOT + r"<(?:[\w.-]++:)?(?P<root>[A-Za-z_][\w.-]*+)(?!:)", re.DOTALL | re.IGNORECASE)
# What makes most of the broken documents: a bare & or an entity of HTML, and characters that XML does not have.
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_BROKEN = re.compile(
    r"(<!\[CDATA\[.*?(?:\]\]>|\Z))|&(?!(?:#\d{1,7}|#x[0-9a-f]{1,6}|amp|lt|gt|quot|apos);)|" + _CONTROL.pattern,
    re.DOTALL | re.IGNORECASE,
)


class Elements(Protocol):
    """Who is told of the elements of a document; names come without a prefix, `begin` with all attributes."""

    @property
    def wanted(self) -> Collection[str]:
        """The elements whose text is to be kept for `end`."""

    @property
    def full(self) -> bool:
        """Whether no more is wanted."""

    def begin(self, name: str, attributes: Mapping[str, str]) -> None:
        """An element begins."""

    def end(self, name: str, text: str) -> None:
        """An element ends; `text` is what stands in it behind its last child."""


Told = TypeVar("Told", bound=Elements)


class _Enough(Exception):
    """Ends the parsing early; the argument says why, empty if nothing is wrong."""


def text_of(body: bytes, content_type: str) -> str:
    """The text of an XML document, without what stands before it and should not."""
    if body[:2] in (b"<\0", b"\0<"):
        return decoded(body, "utf-16le" if body[0] else "utf-16be").lstrip(_BLANKS)
    body = body.lstrip(b" \t\r\n")
    return decoded(body, charset_of(body, content_type)).lstrip(_BLANKS)


def root_of(text: str) -> str:
    """The name of the first element in lower case and without a prefix, or an empty text."""
    found = _ROOT.match(text)
    return found.group("root").lower() if found else ""


def root_of_bytes(body: bytes) -> str:
    """The same by the beginning of a document whose encoding nobody has looked at."""
    head = body[:_BEGINNING].removeprefix(b"\xef\xbb\xbf").lstrip(b"\xff\xfe").replace(b"\0", b"")
    return root_of(head.decode("latin-1"))


def read_xml(text: str, make: Callable[[], Told]) -> tuple[Told, str]:
    """Tell a newly made listener of all elements; returns it and why not everything could be read, or an empty text."""
    told, problem, repairable = _read(text, make())
    if repairable:
        repaired = _BROKEN.sub(_repaired, text, count=_MOST_REPAIRS)
        if repaired != text:
            told, problem, _ = _read(repaired, make())
    return told, problem


def _repaired(found: re.Match[str]) -> str:
    kept = found.group(1)
    return _CONTROL.sub("", kept) if kept else "&amp;" if found.group() == "&" else ""


def _read(text: str, told: Told) -> tuple[Told, str, bool]:
    parser = expat.ParserCreate()
    parser.buffer_text = True
    telling = _Telling(told)
    parser.StartElementHandler = telling.begin
    parser.EndElementHandler = telling.end
    parser.CharacterDataHandler = telling.characters
    parser.StartDoctypeDeclHandler = _check_doctype
    try:
        parser.Parse(text, True)
    except _Enough as reason:
        return told, str(reason), False
    except expat.ExpatError as error:
        return told, f"it is not well-formed XML ({error})", True
    return told, "", False


def _check_doctype(_name: str, _system: str | None, _public: str | None, has_declarations: int) -> None:
    """A document type may be named, as RSS 0.91 has it; nothing of it is loaded, and it may declare nothing."""
    if has_declarations:
        raise _Enough("it has a document type with declarations of its own, which are not obeyed")


class _Telling:
    """Passes on what expat finds."""

    def __init__(self, told: Elements) -> None:
        self._told = told
        self._wanted = frozenset(told.wanted)
        self._pieces: list[str] | None = None
        self._room = 0
        self._depth = 0
        self._count = 0

    def begin(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        self._count += 1
        if self._depth > _DEEPEST or self._count > _MOST_ELEMENTS:
            raise _Enough("it has too many elements")
        local = name.rpartition(":")[2]
        self._told.begin(local, attributes)
        self._pieces, self._room = ([], _LONGEST_TEXT) if local in self._wanted else (None, 0)

    def end(self, name: str) -> None:
        self._depth -= 1
        pieces, self._pieces = self._pieces, None
        self._told.end(name.rpartition(":")[2], "".join(pieces).strip() if pieces else "")
        if self._told.full:
            raise _Enough

    def characters(self, text: str) -> None:
        if self._pieces is not None and self._room > 0:
            self._pieces.append(text)
            self._room -= len(text)
