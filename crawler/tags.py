"""The tags of a page, one after the other, in time that grows with its length only, whatever it contains.

This is the tokenizer of HTML without the tree: comments, raw text, quotes and an unfinished last tag are read as
browsers read them. It serves pages that would make a tree builder slow or large.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape

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
    rb"""([^%b/>][^%b/>=]*+)(?:[%b]*+=[%b]*+(?:"([^"]*+)"|'([^']*+)'|([^%b>"'][^%b>]*+)|(?=>)))?+""" % ((_BLANK,) * 6)
)
_FORMATTING = re.compile(
    rb"<(?=[bcefinstuBCEFINSTU])(?:b|big|code|em|font|i|nobr|s|small|strike|strong|tt|u)[%b/]" % _BLANK, re.IGNORECASE
)
_HUGE_TAG = re.compile(rb"<%b(?:[%b/]*+%b){1000}" % (_NAME, _BLANK, _ATTRIBUTE))
_SURELY_FEW = 1_500
_SURELY_SHORT = 98_304
_MOST_TAGS = 12_000
_MOST_COPIES = 600_000
# Active formatting elements without attributes: thirteen names, three of each.
_PLAIN_FORMATTING = 39


class Tags:
    """Finds the tags of certain names."""

    def __init__(self, names: frozenset[str]) -> None:
        wanted = "|".join(sorted(names)).encode()
        other = rb"<(?!(?:%b|%b|plaintext)%b)%b%b>" % (wanted, _RAW, _NAME_END, _NAME, _ATTRIBUTES)
        self._next = re.compile(
            rb"(?:%b|%b)*+<(?:(%b)%b(%b)>((?:[^<]++|<(?!/\1%b))*+)|(%b)%b(%b)>|\Z)"
            % (_SKIPPED, other, _RAW, _NAME_END, _ATTRIBUTES, _NAME_END, wanted, _NAME_END, _ATTRIBUTES),
            re.IGNORECASE | re.DOTALL,
        )

    def find(self, page: bytes) -> Iterator[tuple[str, dict[str, str], str]]:
        """Name, attributes and raw text of each tag in a UTF-8 page; script, style and title always come, too."""
        found = self._next.match(page)
        while found:
            name, attributes = found[1] or found[4], found[2] or found[5]
            if name is None:
                return
            yield name.decode().lower(), attributes_of(attributes or b""), (found[3] or b"").decode("utf-8", "replace")
            found = self._next.match(page, found.end())


def attributes_of(written: bytes) -> dict[str, str]:
    """The attributes of a tag; of two with one name, the first counts."""
    found: dict[str, str] = {}
    for name, *values in _PAIR.findall(written):
        value = b"".join(values).decode("utf-8", "replace")
        found.setdefault(name.decode("utf-8", "replace").lower(), unescape(value) if "&" in value else value)
    return found


def is_monstrous(page: bytes) -> bool:
    """Whether a tree builder could take long over this page: its time may grow with the square of the tags.

    Nesting, attributes of one tag, and unclosed formatting that every following block repeats are the three ways.
    """
    tags = page.count(b"<")
    if tags > _MOST_TAGS:
        return True
    if tags > _SURELY_FEW and tags * (len(_FORMATTING.findall(page)) + _PLAIN_FORMATTING) > _MOST_COPIES:
        return True
    return len(page) > _SURELY_SHORT and _HUGE_TAG.search(page) is not None
