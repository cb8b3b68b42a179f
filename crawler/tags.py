"""The tags of a page, one after the other, in time that grows with its length only, whatever it contains.

This is the tokenizer of HTML without the tree: comments, raw text, quotes and an unfinished last tag are read as
browsers read them. It serves pages that would make a tree builder slow or large.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, cached_property
from html import unescape
from html.entities import html5
from typing import AnyStr

from webarc.crawler.expressions import many

_BLANK = r" \t\n\f\r"
_GAP = rf"[{_BLANK}/]*+"
_VALUE = rf"""(?:"[^"]*+"?+|'[^']*+'?+|[^{_BLANK}>"'][^{_BLANK}>]*+|(?=>))"""
# Where one of the three ends fits no other does: nothing can be read in a second way. The first is the usual one.
_ATTRIBUTE = (
    rf"{_GAP}[^{_BLANK}/>][^{_BLANK}/>=]*+"
    rf"""(?:="[^"]*+"?+|(?!=")[{_BLANK}]*+=[{_BLANK}]*+{_VALUE}|(?![{_BLANK}]*+=[{_BLANK}]*+[^{_BLANK}]))"""
)
_FEW = 50
_NAME = rf"[a-zA-Z][^{_BLANK}/>]*+"
_NAME_END = rf"(?=[{_BLANK}/>])"
_RAW = ("script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes")
_RAW_END = {name: re.compile(rf"</{name}{_NAME_END}".encode(), re.IGNORECASE) for name in _RAW}
_SCRIPT = re.compile(rf"(<!--)|(-->)|<(/?)script{_NAME_END}".encode(), re.IGNORECASE)
_SKIPPED = r"[^<]++|<(?![a-zA-Z/!?])|<!--(?:-?>|.*?--!?>|.*+)|<[!?][^>]*+|</(?![a-zA-Z])[^>]*+"
_SKIPPED_AT_ONCE = 500
_CDATA = r"<!\[CDATA\[.*?(?:\]\]>|\Z)"
_SHEET = re.compile(many(rf"[^<]++|{_CDATA}|<!--.*?(?:-->|\Z)", "sheet").encode(), re.DOTALL)
# What may hold HTML again inside a drawing or a formula, and what cannot be a part of one and so ends it.
_FOREIGN = {
    "svg": frozenset(("desc", "foreignobject", "title")),
    "math": frozenset(("annotation-xml", "mi", "mn", "mo", "ms", "mtext")),
}
_HOLDERS = frozenset(name for holders in _FOREIGN.values() for name in holders)
_INERT = "template"
_OPENED = frozenset((*_FOREIGN, _INERT))
_ENDS = frozenset(("br", "p"))
_BREAKS = _ENDS.union(
    ("b", "big", "blockquote", "body", "center", "code", "dd", "div", "dl", "dt", "em", "embed", "font"),
    ("h1", "h2", "h3", "h4", "h5", "h6", "head", "hr", "i", "img", "li", "listing", "menu", "meta", "nobr", "ol"),
    ("pre", "ruby", "s", "small", "span", "strike", "strong", "sub", "sup", "table", "tt", "u", "ul", "var"),
)
_OF_FONTS = frozenset(("color", "face", "size"))
_DEEPEST = 100
_PAIR = re.compile(
    r"""([^ \t\n\f\r/>][^ \t\n\f\r/>=]*+)"""
    r"""(?:[ \t\n\f\r]*+=[ \t\n\f\r]*+(?:"([^"]*+)"|'([^']*+)'|([^ \t\n\f\r>"'][^ \t\n\f\r>]*+)|(?=>)))?"""
)
_NO_CHARACTER = re.compile(r"&#(?:0*+[1-9][0-9]{7,}+|[xX]0*+[1-9a-fA-F][0-9a-fA-F]{6,}+);?")
_ZEROS = re.compile(r"(&#[xX]?)0{9,}+")
_CHARACTER = re.compile(r"&(?:#(?:[0-9]++|[xX][0-9a-fA-F]++);?|[a-zA-Z][a-zA-Z0-9]*+(?:;|(?!=)))")
_FORMATTING = re.compile(
    rf"<(?=[bcefinstuBCEFINSTU])(?:b|big|code|em|font|i|nobr|s|small|strike|strong|tt|u)[{_BLANK}/]".encode(),
    re.IGNORECASE,
)
_HUGE_TAG = re.compile(rf"<{_NAME}[{_BLANK}/](?:{_ATTRIBUTE}){{1000}}".encode())
_SURELY_FEW = 1_500
_SURELY_SHORT = 65_536
_MOST_TAGS = 12_000
_LARGEST_TREE = 2 * 1024 * 1024
_MOST_COPIES = 600_000
# Active formatting elements without attributes: thirteen names, three of each.
_PLAIN_FORMATTING = 39


class Tags:
    """Finds the tags of certain names. Its expressions take milliseconds to make, and most crawls never need them."""

    def __init__(self, names: frozenset[str]) -> None:
        self._names = names.union(_RAW)

    @cached_property
    def _next(self) -> re.Pattern[bytes]:
        wanted = "|".join(sorted(self._names.union(_OPENED)))
        other = rf"<(?:/|(?!(?:{wanted}|plaintext){_NAME_END})){_NAME}{_rest('others')}"
        return _next(rf"{_SKIPPED}|{other}", rf"<(?P<slash>)(?P<name>{wanted})")

    @cached_property
    def _next_inside(self) -> re.Pattern[bytes]:
        return self._inside(_SKIPPED)

    @cached_property
    def _next_drawn(self) -> re.Pattern[bytes]:
        return self._inside(rf"{_CDATA}|{_SKIPPED}")

    def _inside(self, skipped: str) -> re.Pattern[bytes]:
        names = "|".join(sorted(self._names.union(_OPENED, _HOLDERS, _BREAKS)))
        other = rf"</?+(?!(?:{names}){_NAME_END}){_NAME}{_rest('others')}"
        return _next(rf"{skipped}|{other}", rf"<(?P<slash>/?+)(?P<name>{names})")

    def find(self, page: bytes) -> Iterator[tuple[str, dict[str, str], str]]:
        """Name, attributes and raw text of each tag in a UTF-8 page; script, style and title always come, too.

        A title of a drawing does not, nor a base in a template, which means nothing there.
        """
        end, drawing = 0, _Drawing()
        while (found := self._next_in(drawing).match(page, end)) and found.end() > end:
            end = found.end()
            if not found["name"]:
                continue
            name, attributes, text = found["name"].decode().lower(), found["attributes"], b""
            if found["slash"]:
                drawing.end(name)
                continue
            if name in _RAW and not drawing.is_foreign:
                text = page[end : end_of_raw(name, page, end)]
                end += len(text)
            elif name == "style":
                text = page[end : _end_of_sheet(page, end)]
            is_none = (name == "title" and drawing.is_drawn) or (name == "base" and drawing.is_inert)
            if drawing or name in _OPENED:
                drawing.start(name, attributes)
            if name in self._names and not is_none:
                yield name, attributes_of(attributes), text.decode("utf-8", "replace")

    def _next_in(self, drawing: _Drawing) -> re.Pattern[bytes]:
        if not drawing:
            return self._next
        return self._next_drawn if drawing.is_foreign else self._next_inside


class _Drawing:
    """Which parts of drawings (SVG) and formulas are open: in them, other tags have raw text than elsewhere.

    Templates, too: the stack is that of the tree builder, as far as it matters here.
    """

    def __init__(self) -> None:
        self._open: list[str] = []

    def __bool__(self) -> bool:
        return bool(self._open)

    @property
    def is_foreign(self) -> bool:
        """Whether what comes next is a part of a drawing, not of HTML inside one."""
        return bool(self._open) and self._open[-1] in _FOREIGN

    @property
    def is_drawn(self) -> bool:
        """Whether what comes next is in a drawing, be it a part of it or not."""
        return not _FOREIGN.keys().isdisjoint(self._open)

    @property
    def is_inert(self) -> bool:
        """Whether what comes next is in a template."""
        return _INERT in self._open

    def start(self, name: str, attributes: bytes) -> None:
        """There is a start tag."""
        if self.is_foreign and name in _BREAKS and (name != "font" or attributes_of(attributes).keys() & _OF_FONTS):
            self._leave()
        elif self._opens(name) and len(self._open) < _DEEPEST and not _closes_itself(name, attributes):
            self._open.append(name)

    def end(self, name: str) -> None:
        """There is an end tag."""
        if name in self._open:
            while self._open.pop() != name:
                pass
        elif name in _ENDS:
            self._leave()

    def _opens(self, name: str) -> bool:
        if not self.is_foreign:
            return name in _OPENED
        kind = self._open[-1]
        return name == kind or name in _FOREIGN[kind]

    def _leave(self) -> None:
        while self.is_foreign:
            self._open.pop()


def all_tags(page: bytes) -> Iterator[tuple[bool, str, bytes, int]]:
    """Every tag: whether it is an end tag, its name, its attributes as written, and where it begins."""
    end = 0
    while (found := _any().match(page, end)) and found.end() > end:
        end = found.end()
        if found["name"]:
            name = found["name"].decode("latin-1").lower()
            yield bool(found["slash"]), name, found["attributes"], found.start("slash") - 1
            if name in _RAW and not found["slash"]:
                end = end_of_raw(name, page, end)


def _next(skipped: str, tag: str) -> re.Pattern[bytes]:
    """What finds the next tag behind much that is none of those that are looked for."""
    attributes = rf"{_NAME_END}(?P<attributes>{_attributes('run')})>"
    return re.compile(
        rf"(?:{skipped}){{0,{_SKIPPED_AT_ONCE}}}(?:{tag}{attributes})?".encode(), re.IGNORECASE | re.DOTALL
    )


def _rest(name: str) -> str:
    """What follows the name of a tag."""
    return rf"(?:>|[{_BLANK}/]{_attributes(name)}>)"


def _attributes(name: str) -> str:
    """All attributes up to the end of the tag; a few are read sooner without `many`."""
    return rf"(?:(?:{_ATTRIBUTE}){{0,{_FEW}}}{_GAP}(?=>)|{many(_ATTRIBUTE, name)}{_GAP})"


@cache
def _any() -> re.Pattern[bytes]:
    """What finds the next tag, whatever its name."""
    return _next(_SKIPPED, rf"<(?P<slash>/?+)(?P<name>{_NAME})")


def end_of_raw(name: str, page: bytes, start: int) -> int:
    """Where the text ends of an element in which nothing but its own end tag is a tag."""
    if name == "script":
        return end_of_script(_SCRIPT, page, start)
    found = _RAW_END[name].search(page, start)
    return found.start() if found else len(page)


def end_of_script(marks: re.Pattern[AnyStr], page: AnyStr, start: int) -> int:
    """The same for scripts, where an end tag between `<!-- <script>` and `-->` does not count.

    The marks are the beginning of a comment, its end, and the tags of scripts, of which the slash is a group.
    """
    escaped, inner, position = False, False, start
    while found := marks.search(page, position):
        opening, closing, slash = found.groups()
        position = found.end()
        if opening:
            escaped, position = True, found.start() + 2
        elif closing:
            escaped = inner = False
        elif not slash:
            inner = escaped
        elif inner:
            inner = False
        else:
            return found.start()
    return len(page)


def _end_of_sheet(page: bytes, start: int) -> int:
    """Where the text of a style element ends that belongs to a drawing."""
    found = _SHEET.match(page, start)
    return found.end() if found else start


def _closes_itself(name: str, attributes: bytes) -> bool:
    """Whether a tag of a drawing ends with a slash that is no part of a value."""
    if name == _INERT or not attributes.endswith(b"/"):
        return False
    *_, last = [None, *_PAIR.finditer(attributes.decode("latin-1"))]
    return last is None or last.end() < len(attributes)


def attributes_of(written: bytes) -> dict[str, str]:
    """The attributes of a tag; of two with one name, the first counts."""
    found: dict[str, str] = {}
    text = written.decode("utf-8", "replace")
    # All at once is quicker, but millions of them would not fit into memory.
    pairs = _PAIR.findall(text) if len(text) < _SURELY_SHORT else (pair.groups("") for pair in _PAIR.finditer(text))
    for name, double, single, bare in pairs:
        value = double or single or bare
        found.setdefault(name.lower(), _CHARACTER.sub(_character, value) if "&" in value else value)
    return found


def unescaped(text: str) -> str:
    """Text without character references; a number of more digits than any character has stands for none."""
    if "&#" in text:
        text = _ZEROS.sub(r"\g<1>0", _NO_CHARACTER.sub("\N{REPLACEMENT CHARACTER}", text))
    return unescape(text)


def _character(reference: re.Match[str]) -> str:
    """A character reference in an attribute; `&copy=1` in a query is none, unlike `&copy;=1`."""
    written = reference.group()
    if written[1] == "#":
        return unescaped(written)
    return html5.get(written[1:], written)


def is_monstrous(page: bytes) -> bool:
    """Whether a tree builder could take long over this page: its time may grow with the square of the tags.

    Nesting, attributes of one tag, and unclosed formatting that every following block repeats are the three ways.
    """
    tags = page.count(b"<")
    if tags > _MOST_TAGS or len(page) > _LARGEST_TREE:
        return True
    if tags > _SURELY_FEW and tags * (len(_FORMATTING.findall(page)) + _PLAIN_FORMATTING) > _MOST_COPIES:
        return True
    return len(page) > _SURELY_SHORT and _HUGE_TAG.search(page) is not None
