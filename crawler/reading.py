"""What a crawl learns from a document: its title, its character set and the URLs it names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from webarc.crawler.charset import css_charset, header_charset
from webarc.crawler.css import read_stylesheet
from webarc.crawler.feeds import FEED_TYPES, is_feed, read_feed
from webarc.crawler.html import read_html
from webarc.crawler.link_header import read_link_header

if TYPE_CHECKING:
    from webarc.crawler.fingerprints import Fingerprints

LARGEST_READ = 16 * 1024 * 1024
_HTML = ("text/html", "application/xhtml+xml")
_UNSURE = ("", "application/octet-stream", "text/plain", "unknown/unknown", "application/unknown")
_CSS = "text/css"
_XML = ("application/xml", "text/xml")
_MANIFEST = ("application/manifest+json", "application/x-web-app-manifest+json", "application/json", "text/json")
_HLS = (
    *("application/vnd.apple.mpegurl", "application/x-mpegurl", "application/mpegurl"),
    *("audio/mpegurl", "audio/x-mpegurl", "video/mpegurl"),
)
_DASH = "application/dash+xml"
_BLANK = b"\xef\xbb\xbf \t\r\n"
_READABLE = frozenset((*_HTML, *_UNSURE, _CSS, *_XML, *_MANIFEST, *_HLS, _DASH, *FEED_TYPES))


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read: the URLs of other pages, those of the document's own parts, and those not to be followed."""

    title: str | None
    charset: str
    links: Sequence[str] = ()
    requisites: Sequence[str] = ()
    unfollowed: Sequence[str] = ()
    cut: bool = False
    """Whether the document was too large, or too broken, to be read to its end."""
    words: Fingerprints | None = None
    """What it says, if that was asked for."""


def media_type(content_type: str) -> str:
    """The bare MIME type of a Content-Type header."""
    return content_type.partition(";")[0].strip().lower()


def read(body: bytes, url: str, content_type: str, *, follow: bool, agent: str | None, link: str = "") -> Reading:
    """Read a document as far as its type has something to say, and the `Link:` headers that came with it.

    `follow` is off where a header says nofollow; `agent` is the name that robots rules call us by, None to ignore them.
    """
    reading = _document(body, url, content_type, follow=follow, agent=agent)
    return with_link_header(reading, link, url, follow=follow, agent=agent) if link else reading


def _document(body: bytes, url: str, content_type: str, *, follow: bool, agent: str | None) -> Reading:
    kind = media_type(content_type)
    if kind not in _READABLE:
        return Reading(None, "")
    if is_feed(body, kind):
        feed = read_feed(body, url, content_type)
        links, unfollowed = (feed.links, []) if follow else ([], feed.links)
        return Reading(None, header_charset(content_type) or "", links, feed.requisites, unfollowed, bool(feed.problem))
    if kind in _HTML or (kind in _UNSURE and _looks_like_html(body)):
        page = read_html(body, url, content_type, agent or "webarc")
        links, unfollowed = list(page.followed), []
        if not follow or (agent and page.nofollow):
            links, unfollowed = [], links
        elif agent and True in page.followed.values():
            unfollowed = [url for url, nofollow in page.followed.items() if nofollow]
            links = [url for url, nofollow in page.followed.items() if not nofollow]
        return Reading(page.title, page.charset, links, page.needed, unfollowed, page.cut)
    if kind == _CSS:
        found = list(read_stylesheet(body, url, content_type))
        return Reading(None, css_charset(body, content_type), requisites=found)
    return Reading(None, header_charset(content_type) or "", requisites=_parts(body, url, kind))


def _parts(body: bytes, url: str, kind: str) -> list[str]:
    """The files that a playlist or a web manifest names; these are rare, and are loaded only where they occur."""
    head = body[:1024].lstrip(_BLANK)
    if kind in _HLS or (kind in _UNSURE and head.startswith(b"#EXTM3U")):
        from webarc.crawler.hls import read_hls

        return read_hls(body, url)
    if kind == _DASH or (kind in (*_UNSURE, *_XML) and b"<MPD" in head):
        from webarc.crawler.dash import read_dash

        return read_dash(body, url)
    if kind in _MANIFEST or (kind in _UNSURE and head.startswith(b"{")):
        from webarc.crawler.manifest import read_manifest

        return read_manifest(body, url)
    return []


def with_link_header(reading: Reading, link: str, url: str, *, follow: bool, agent: str | None) -> Reading:
    """A reading, and what the headers of the same answer name."""
    said = read_link_header(link, url)
    links, unfollowed = [*said.links, *(said.unfollowed if not agent else ())], said.unfollowed if agent else []
    if not follow:
        links, unfollowed = [], [*links, *unfollowed]
    return replace(
        reading,
        links=_merged(reading.links, links),
        requisites=_merged(reading.requisites, said.requisites),
        unfollowed=_merged(reading.unfollowed, unfollowed),
    )


def _merged(some: Sequence[str], more: Sequence[str]) -> list[str]:
    return list(dict.fromkeys((*some, *more)))


def with_words(reading: Reading, body: bytes, url: str, content_type: str) -> Reading:
    """A reading that also tells what the document says and where it leads, if it is one that people read."""
    kind = media_type(content_type)
    html = kind in _HTML or (kind in _UNSURE and _looks_like_html(body))
    if not html and kind != "text/plain":
        return reading
    from webarc.crawler.fingerprints import fingerprints

    named = [*reading.links, *reading.requisites, *reading.unfollowed]
    return replace(reading, words=fingerprints(body, reading.charset, url, named, html=html))


def is_readable(content_type: str) -> bool:
    """Whether a document of this type may name other URLs."""
    return media_type(content_type) in _READABLE


def body_of(body: bytes | None, file: Path) -> bytes:
    """The bytes to read: those in memory, or the beginning of the file."""
    if body is not None:
        return body
    with file.open("rb") as stream:
        return stream.read(LARGEST_READ)


def _looks_like_html(body: bytes) -> bool:
    head = body[:1024].lstrip(_BLANK).lower()
    return head.startswith((b"<!doctype html", b"<html", b"<head", b"<body", b"<!--"))
