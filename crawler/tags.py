"""The tags of a page, one after the other, in time that grows with its length only, whatever it contains.

This is the tokenizer of HTML without the tree: comments, raw text, quotes and an unfinished last tag are read as
browsers read them. It serves pages that would make a tree builder slow or large.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from html.entities import html5

_BLANK = rb" \t\n\f\r"
_VALUE = rb"""(?:"[^"]*+(?:"|\Z)|'[^']*+(?:'|\Z)|[^%b>"'][^%b>]*+|(?=>))""" % (_BLANK, _BLANK)
_ATTRIBUTE = rb"[^%b/>][^%b/>=]*+(?:[%b]*+=[%b]*+%b)?+" % (_BLANK, _BLANK, _BLANK, _BLANK, _VALUE)
_ATTRIBUTES = rb"(?:[%b/]++|%b)*+" % (_BLANK, _ATTRIBUTE)
_NAME = rb"[a-zA-Z][^%b/>]*+" % _BLANK
_NAME_END = rb"(?=[%b/>])" % _BLANK
_RAW = rb"script|style|textarea|title|xmp|iframe|noembed|noframes"
_SKIPPED = rb"(?:[^<]++|<(?![a-zA-Z/!?])|<!--(?:-?>|.*?--!?>|.*+)|<[!?][^>]*+|</(?![a-zA-Z])[^>]*+|</%b%b>)" % (
    _NAME,
    _ATTRIBUTES,
)
_PAIR = re.compile(
    r"""([^ \t\n\f\r/>][^ \t\n\f\r/>=]*+)"""
    r"""(?:[ \t\n\f\r]*+=[ \t\n\f\r]*+(?:"([^"]*+)"|'([^']*+)'|([^ \t\n\f\r>"'][^ \t\n\f\r>]*+)|(?=>)))?+"""
)
_CHARACTER = re.compile(r"&(?:#(?:[0-9]++|[xX][0-9a-fA-F]++);?|[a-zA-Z][a-zA-Z0-9]*+(?:;|(?!=)))")
_FORMATTING = re.compile(
    rb"<(?=[bcefinstuBCEFINSTU])(?:b|big|code|em|font|i|nobr|s|small|strike|strong|tt|u)[%b/]" % _BLANK, re.IGNORECASE
)
_HUGE_TAG = re.compile(rb"<%b(?:[%b/]*+%b){1000}" % (_NAME, _BLANK, _ATTRIBUTE))
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
        wanted = "|".join(sorted(names)).encode()
        other = rb"<(?!(?:%b|%b|plaintext)%b)%b%b>" % (wanted, _RAW, _NAME_END, _NAME, _ATTRIBUTES)
        self._next = re.compile(
            rb"(?:%b|%b)*+<(?:(%b)%b(%b)>((?:[^<]++|<(?!/\1%b))*+)|(%b)%b(%b)>)"
            % (_SKIPPED, other, _RAW, _NAME_END, _ATTRIBUTES, _NAME_END, wanted, _NAME_END, _ATTRIBUTES),
            re.IGNORECASE | re.DOTALL,
        )

    def find(self, page: bytes) -> Iterator[tuple[str, dict[str, str], str]]:
        """Name, attributes and raw text of each tag in a UTF-8 page; script, style and title always come, too."""
        found = self._next.match(page)
        while found:
            name, attributes, text = found[1] or found[4], found[2] or found[5] or b"", found[3] or b""
            yield name.decode().lower(), attributes_of(attributes), text.decode("utf-8", "replace")
            found = self._next.match(page, found.end())


def attributes_of(written: bytes) -> dict[str, str]:
    """The attributes of a tag; of two with one name, the first counts."""
    found: dict[str, str] = {}
    for name, double, single, bare in _PAIR.findall(written.decode("utf-8", "replace")):
        value = double or single or bare
        found.setdefault(name.lower(), _CHARACTER.sub(_character, value) if "&" in value else value)
    return found


def _character(reference: re.Match[str]) -> str:
    """A character reference in an attribute; `&copy=1` in a query is none, unlike `&copy;=1`."""
    written = reference.group()
    if written[1] == "#":
        return unescape(written)
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
