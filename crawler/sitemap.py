"""The pages and further sitemaps that a sitemap lists: XML, gzipped XML, an index of sitemaps, or plain text."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from io import BytesIO
from itertools import islice

from lxml import etree

from webarc.archive.encodings import decoded
from webarc.archive.urls import canonical
from webarc.crawler.charset import charset_of
from webarc.errors import BadURL

# What the protocol allows one file to have.
_LARGEST = 50 * 1024 * 1024
_MOST_URLS = 50_000
_GZIP = b"\x1f\x8b"
_DOCTYPE = re.compile(rb"<!\s*(?:DOCTYPE|ENTITY)", re.IGNORECASE)


@dataclass(slots=True)
class Sitemap:
    """What was listed, as canonical URLs; `problem` says why a file could not be read, or not wholly."""

    pages: list[str] = field(default_factory=list)
    sitemaps: list[str] = field(default_factory=list)
    problem: str = ""


def read_sitemap(body: bytes, url: str) -> Sitemap:
    """Read a sitemap of any of the four forms; never raises."""
    found = Sitemap()
    text = _unpacked(body, found)
    if _DOCTYPE.search(text.replace(b"\0", b"") if b"\0" in text[:4] else text):
        found.problem = "it has a document type, which a sitemap must not have"
    elif text.lstrip(b"\xef\xbb\xbf\xff\xfe \t\r\n\0").startswith(b"<"):
        _read_xml(text, url, found)
    else:
        lines = decoded(text, charset_of(text, "")).splitlines()
        found.pages = _canonical((line for line in lines if line.lstrip().startswith("http")), url)
    return found


def _unpacked(body: bytes, found: Sitemap) -> bytes:
    if not body.startswith(_GZIP):
        return body[:_LARGEST]
    unpacker = zlib.decompressobj(wbits=31)
    try:
        text = unpacker.decompress(body, _LARGEST)
    except zlib.error:
        found.problem = "it is not valid gzip"
        return b""
    if not unpacker.eof:
        found.problem = "it is too large or cut short"
    return text


def _read_xml(text: bytes, url: str, found: Sitemap) -> None:
    listed: dict[str, list[str]] = {"url": [], "sitemap": []}
    try:
        for kind, place in islice(_entries(text), _MOST_URLS):
            listed[kind].append(place)
    except (etree.XMLSyntaxError, ValueError) as problem:
        found.problem = f"it is not well-formed XML ({problem})"
    found.pages = _canonical(listed["url"], url)
    found.sitemaps = _canonical(listed["sitemap"], url)


def _entries(text: bytes) -> Iterator[tuple[str, str]]:
    """`url` or `sitemap`, and the place it names; elements are dropped as soon as they are read."""
    entries = etree.iterparse(
        BytesIO(text), tag=("{*}url", "{*}sitemap"), resolve_entities=False, no_network=True, load_dtd=False
    )
    for _, entry in entries:
        place = entry.findtext("{*}loc")
        if place:
            yield etree.QName(entry).localname, place
        entry.clear()
        while entry.getprevious() is not None:
            del entry.getparent()[0]


def _canonical(places: Iterable[str], url: str) -> list[str]:
    found: dict[str, None] = {}
    for place in islice(places, _MOST_URLS):
        try:
            found[canonical(place.strip(), url)] = None
        except BadURL:
            continue
    return list(found)
