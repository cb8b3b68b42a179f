"""The tags of a page, one after the other, in time that grows with its length only, whatever it contains.

This is the tokenizer of HTML without the tree: comments, raw text, quotes and an unfinished last tag are read as
browsers read them. It serves pages that would make a tree builder slow or large.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from html.entities import html5

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
_SKIPPED = r"[^<]++|<(?![a-zA-Z/!?])|<!--(?:-?>|.*?--!?>|.*+)|<[!?][^>]*+|</(?![a-zA-Z])[^>]*+"
_SKIPPED_AT_ONCE = 500
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
    """Finds the tags of certain names."""

    def __init__(self, names: frozenset[str]) -> None:
        wanted = "|".join(sorted(names.union(_RAW)))
        other = rf"<(?:/|(?!(?:{wanted}|plaintext){_NAME_END})){_NAME}(?:>|[{_BLANK}/]{_attributes('others')}>)"
        self._next = re.compile(
            rf"(?:{_SKIPPED}|{other}){{0,{_SKIPPED_AT_ONCE}}}"
            rf"(?:<(?P<name>{wanted}){_NAME_END}(?P<attributes>{_attributes('run')})>)?".encode(),
            re.IGNORECASE | re.DOTALL,
        )

    def find(self, page: bytes) -> Iterator[tuple[str, dict[str, str], str]]:
        """Name, attributes and raw text of each tag in a UTF-8 page; script, style and title always come, too."""
        end = 0
        while (found := self._next.match(page, end)) and found.end() > end:
            end = found.end()
            if found["name"]:
                name = found["name"].decode().lower()
                text = _raw_text(name, page, end) if name in _RAW_END else b""
                end += len(text)
                yield name, attributes_of(found["attributes"]), text.decode("utf-8", "replace")


def _attributes(name: str) -> str:
    """All attributes up to the end of the tag; a few are read sooner without `many`."""
    return rf"(?:(?:{_ATTRIBUTE}){{0,{_FEW}}}{_GAP}(?=>)|{many(_ATTRIBUTE, name)}{_GAP})"


def _raw_text(name: str, page: bytes, start: int) -> bytes:
    """The text of an element in which nothing but its own end tag is a tag."""
    found = _RAW_END[name].search(page, start)
    return page[start : found.start() if found else len(page)]


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
