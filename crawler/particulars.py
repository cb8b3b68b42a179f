"""What makes pages different though their text is the same: texts of attributes, words in scripts, drawings.

Session ids, nonces and times that differ whenever a page is sent must not count: a page with such would never be like
another one. So only what reads like words is taken from where programs read, and of drawings only their shape.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache

from selectolax.lexbor import LexborHTMLParser, LexborNode

_SHOWN = frozenset(("alt", "title", "aria-label", "label", "summary"))
_TOLD = re.compile(r"(?:description|keywords|title|author|subject|image:alt)$", re.IGNORECASE)
_SHAPES = frozenset(("path", "polygon", "polyline", "rect", "circle", "ellipse", "line"))
_SHAPE = frozenset(
    ("d", "points", "x", "y", "x1", "y1", "x2", "y2", "cx", "cy", "r", "rx", "ry", "width", "height", "transform")
)
# Letters with nothing beside them that makes them a part of an id, a path or a code.
_WORD = re.compile(r"(?<![\w+/=\\%$#-])[^\W\d_]{2,60}(?![\w+/=%$-])")
_SHORTEST = 3
_MOST_REMEMBERED = 16


@dataclass(slots=True)
class Particulars:
    """Each once, as how often something is there may depend on how many days a month has.

    `shown` are texts that browsers and search engines show, `spoken` words that scripts are given, `drawn` shapes of
    drawings and images that are in the page itself.
    """

    shown: set[str] = field(default_factory=set)
    spoken: set[str] = field(default_factory=set)
    drawn: set[str] = field(default_factory=set)

    def take(self, node: LexborNode) -> None:
        """Take one element into account."""
        tag, attributes = node.tag, node.attributes
        if tag == "script":
            self.spoken |= _words(node.text())
        elif tag == "meta":
            self._take_meta(attributes)
        elif tag in _SHAPES:
            self.drawn.add(" ".join(f"{name}={value}" for name, value in sorted(attributes.items()) if name in _SHAPE))
        else:
            self._take_attributes(attributes)

    def _take_meta(self, attributes: dict[str, str | None]) -> None:
        content, name = attributes.get("content") or "", attributes.get("name") or attributes.get("property") or ""
        if _TOLD.search(name):
            self.shown.add(content)
        else:
            self.spoken |= _words(content)

    def _take_attributes(self, attributes: dict[str, str | None]) -> None:
        for name, value in attributes.items():
            if not value:
                continue
            if name in _SHOWN:
                self.shown.add(value)
            elif name == "value" or name.startswith("data-"):
                self.spoken |= _words(value)
            elif name == "src" and value.startswith("data:"):
                self.drawn.add(value)


def particulars(parser: LexborHTMLParser) -> Particulars:
    """What a page has of these."""
    found = Particulars()
    for node in parser.root.traverse() if parser.root is not None else ():
        found.take(node)
    return found


# All pages of a site have most of their scripts in common.
@lru_cache(maxsize=_MOST_REMEMBERED)
def _words(text: str) -> frozenset[str]:
    """What is written as people write words: ids mix upper and lower case, letters and digits."""
    words = _WORD.findall(text)
    return frozenset(word for word in words if word[1:] == word[1:].lower() and _is_long(word))


def _is_long(word: str) -> bool:
    return len(word) >= _SHORTEST or not word.isascii()
