"""What an RSS (0.9x, 1.0, 2.0) or Atom feed names: its entries are links, as are the files that they enclose.

An enclosure is a link and not a part of the feed: nobody needs it to read the feed, feed readers fetch it when it is
asked for, and it may be large. Depth and scope count for it. Pictures that readers show beside an entry are parts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from webarc.archive.urls import canonical
from webarc.crawler.xml import read_xml, root_of_bytes, text_of
from webarc.errors import BadURL

FEED_ROOTS = frozenset(("rss", "feed", "rdf"))
FEED_TYPES = frozenset(
    ("application/rss+xml", "application/atom+xml", "application/rdf+xml", "application/xml", "text/xml")
)
# As the first five bytes of what is called HTML: cheap enough to look for in every page.
_BEGINNINGS = frozenset((b"<?xml", b"<rss ", b"<feed", b"<rdf:"))
_MOST_LINKS = 50_000
# The relations of Atom that lead to something to read; not those for programs, such as `hub` and `edit`.
_READABLE = frozenset(
    (
        *("alternate", "related", "via", "replies", "enclosure", "self", "canonical", "current", "first", "last"),
        *("next", "prev", "previous", "next-archive", "prev-archive"),
    )
)
_ENCLOSING = frozenset(("enclosure", "content", "player"))
_PICTURES = frozenset(("logo", "icon"))


@dataclass(slots=True)
class Feed:
    """Canonical URLs; `problem` says why a feed could not be read, or not wholly."""

    links: list[str]
    requisites: list[str]
    problem: str = ""


def is_feed(body: bytes, kind: str) -> bool:
    """Whether a document is a feed, by its root element; `kind` is the type it is said to have."""
    if kind in ("text/html", "application/xhtml+xml") and body[:5] not in _BEGINNINGS:
        return False
    return root_of_bytes(body) in FEED_ROOTS


def read_feed(body: bytes, url: str, content_type: str) -> Feed:
    """Read a feed; never raises."""
    return read_feed_text(text_of(body, content_type), url)


def read_feed_text(text: str, url: str) -> Feed:
    """Read a feed that is decoded already."""
    found, problem = read_xml(text, partial(_Entries, url))
    if found.full and not problem:
        problem = f"it names more than {_MOST_LINKS:,} URLs"
    return Feed(list(found.links), list(found.requisites), problem)


class _Entries:
    """Collects what the elements of a feed name; the formats share so much that one set of rules serves them all."""

    wanted = frozenset(("link", "guid", "comments", "url", *_PICTURES))

    def __init__(self, url: str) -> None:
        self._bases = [url]
        self._names: list[str] = []
        self._is_permalink = False
        self.links: dict[str, None] = {}
        self.requisites: dict[str, None] = {}

    @property
    def full(self) -> bool:
        """Whether the feed names too much."""
        return len(self.links) >= _MOST_LINKS or len(self.requisites) >= _MOST_LINKS

    def begin(self, name: str, attributes: Mapping[str, str]) -> None:
        """An element that names something in an attribute."""
        self._names.append(name)
        self._bases.append(self._joined(attributes["xml:base"]) if "xml:base" in attributes else self._bases[-1])
        if name == "link" and "href" in attributes:
            relation = attributes.get("rel", "alternate").rpartition("/")[2].lower()
            if relation in _READABLE:
                self._add(self.links, attributes["href"])
        elif name in _ENCLOSING:
            self._add(self.links, attributes.get("url") or attributes.get("src"))
        elif name == "thumbnail":
            self._add(self.requisites, attributes.get("url"))
        elif name == "image":
            self._add(self.requisites, attributes.get("href"))
        elif name == "guid":
            self._is_permalink = attributes.get("isPermaLink", "true").lower() != "false"

    def end(self, name: str, text: str) -> None:
        """An element that names something in its text."""
        if text:
            self._read_text(name, text)
        self._names.pop()
        self._bases.pop()

    def _read_text(self, name: str, text: str) -> None:
        if name == "link":
            self._add(self.links, text)
        elif name in ("guid", "comments"):
            # Either may be something else than a URL: an id of any kind, the number of comments.
            if text.startswith(("http:", "https:")) and (name == "comments" or self._is_permalink):
                self._add(self.links, text)
        elif name in _PICTURES or (name == "url" and self._names[-2:-1] == ["image"]):
            self._add(self.requisites, text)

    def _add(self, urls: dict[str, None], reference: str | None) -> None:
        if not reference:
            return
        try:
            urls[canonical(reference.strip(), self._bases[-1])] = None
        except BadURL:
            return

    def _joined(self, base: str) -> str:
        try:
            return canonical(base.strip(), self._bases[-1])
        except BadURL:
            return self._bases[-1]
