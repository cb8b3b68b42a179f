"""The pages and further sitemaps that a sitemap lists: XML, gzip, an index of sitemaps, a feed, or plain text."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from webarc.archive.urls import canonical
from webarc.crawler.feeds import FEED_ROOTS, read_feed_text
from webarc.crawler.xml import read_xml, root_of, text_of
from webarc.errors import BadURL

# What the protocol allows one file to have.
_LARGEST = 50 * 1024 * 1024
_MOST_URLS = 50_000
_GZIP = b"\x1f\x8b"
_PIECE = 64 * 1024
_MOST_MEMBERS = 10_000
_PAGE_ROOTS = frozenset(("html", "head", "title", "meta", "body", "h1", "p", "div"))
IS_PAGE, NAMES_NOTHING = "it is a web page", "it names no URL"


@dataclass(slots=True)
class Sitemap:
    """What was listed, as canonical URLs; `problem` says why a file could not be read, or not wholly."""

    pages: list[str] = field(default_factory=list)
    sitemaps: list[str] = field(default_factory=list)
    problem: str = ""


def read_sitemap(body: bytes, url: str, content_type: str = "") -> Sitemap:
    """Read a sitemap of any form; never raises."""
    body, problem = _unpacked(body)
    text = text_of(body, content_type)
    root = root_of(text)
    if root in FEED_ROOTS:
        feed = read_feed_text(text, url)
        found = Sitemap(feed.links, problem=feed.problem)
    elif root in _PAGE_ROOTS or text[:14].lower() == "<!doctype html":
        found = Sitemap(problem=IS_PAGE)
    elif text.startswith("<"):
        found = _read_listing(text, url)
    else:
        found = _read_lines(text, url)
    found.problem = problem or found.problem
    return found


def _unpacked(body: bytes) -> tuple[bytes, str]:
    """The bytes in a gzip file, of which several may follow each other, and what is wrong with it."""
    if not body.startswith(_GZIP):
        return body[:_LARGEST], "it is too large" if len(body) > _LARGEST else ""
    parts: list[bytes] = []
    room, place, problem = _LARGEST, 0, ""
    for _ in range(_MOST_MEMBERS):
        part, place, problem = _member(body, place, room)
        parts.append(part)
        room -= len(part)
        # What follows the last member and is none, such as padding, does not count.
        if problem or body[place : place + 2] != _GZIP:
            return b"".join(parts), problem
    return b"".join(parts), "it has too many parts"


def _member(body: bytes, place: int, room: int) -> tuple[bytes, int, str]:
    """One member of a gzip file: its bytes, where it ends, and what is wrong with it."""
    unpacker = zlib.decompressobj(wbits=31)
    parts: list[bytes] = []
    while not unpacker.eof:
        piece = body[place : place + _PIECE]
        try:
            # One byte more than there is room for shows that there is more.
            parts.append(unpacker.decompress(piece, room + 1))
        except zlib.error:
            return b"".join(parts), place, "it is not valid gzip"
        room -= len(parts[-1])
        place += len(piece)
        if room < 0:
            return b"".join(parts), place, "it is too large"
        if not piece and not unpacker.eof:
            return b"".join(parts), place, "it is cut short"
    return b"".join(parts), place - len(unpacker.unused_data), ""


def _read_listing(text: str, url: str) -> Sitemap:
    listing, problem = read_xml(text, _Listing)
    found = Sitemap(_canonical(listing.places["url"], url), _canonical(listing.places["sitemap"], url), problem)
    if listing.full and not problem:
        found.problem = f"it lists more than {_MOST_URLS:,} URLs"
    elif not listing.is_sitemap and not problem:
        found.problem = f"its root element is {root_of(text)[:40]!r}, which is no sitemap's"
    return found


def _read_lines(text: str, url: str) -> Sitemap:
    lines = [line for line in text.splitlines() if line.lstrip().startswith("http")]
    found = Sitemap(_canonical(lines[:_MOST_URLS], url))
    if len(lines) > _MOST_URLS:
        found.problem = f"it lists more than {_MOST_URLS:,} URLs"
    elif not found.pages:
        found.problem = NAMES_NOTHING
    return found


class _Listing:
    """Collects the places that `url` and `sitemap` elements name; those of pictures and videos are not pages."""

    wanted = frozenset(("loc",))

    def __init__(self) -> None:
        self.places: dict[str, list[str]] = {"url": [], "sitemap": []}
        self.is_sitemap = False
        self.full = False
        self._names: list[str] = []
        self._count = 0

    def begin(self, name: str, _attributes: Mapping[str, str]) -> None:
        """Remember where we are; an entry more than allowed is not read any more."""
        if name in self.places:
            self._count += 1
            self.full = self._count > _MOST_URLS
        self.is_sitemap |= not self._names and name in ("urlset", "sitemapindex")
        self._names.append(name)

    def end(self, name: str, text: str) -> None:
        """A place, if it belongs to an entry."""
        self._names.pop()
        if name == "loc" and text and self._names and self._names[-1] in self.places and not self.full:
            self.places[self._names[-1]].append(text)
            self.is_sitemap = True


def _canonical(places: Iterable[str], url: str) -> list[str]:
    found: dict[str, None] = {}
    for place in places:
        try:
            found[canonical(place.strip(), url)] = None
        except BadURL:
            continue
    return list(found)
