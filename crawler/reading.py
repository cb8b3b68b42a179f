"""What a crawl learns from a document: its title, its character set and the URLs it names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from webarc.crawler.charset import css_charset, header_charset
from webarc.crawler.css import read_stylesheet
from webarc.crawler.fingerprints import Fingerprints, fingerprints
from webarc.crawler.html import read_html

LARGEST_READ = 16 * 1024 * 1024
_HTML = ("text/html", "application/xhtml+xml")
_UNSURE = ("", "application/octet-stream", "text/plain", "unknown/unknown", "application/unknown")
_CSS = "text/css"


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read: the URLs of other pages, those of the document's own parts, and those not to be followed."""

    title: str | None
    charset: str
    links: Sequence[str] = ()
    requisites: Sequence[str] = ()
    unfollowed: Sequence[str] = ()
    cut: bool = False
    """Whether the document was too large to be read to its end."""
    words: Fingerprints | None = None
    """What it says, if that was asked for."""


def media_type(content_type: str) -> str:
    """The bare MIME type of a Content-Type header."""
    return content_type.partition(";")[0].strip().lower()


def read(body: bytes, url: str, content_type: str, *, follow: bool, agent: str | None) -> Reading:
    """Read a document as far as its type has something to say.

    `follow` is off where a header says nofollow; `agent` is the name that robots rules call us by, None to ignore them.
    """
    kind = media_type(content_type)
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
    return Reading(None, header_charset(content_type) or "")


def with_words(reading: Reading, body: bytes, url: str, content_type: str) -> Reading:
    """A reading that also tells what the document says and where it leads, if it is one that people read."""
    kind = media_type(content_type)
    html = kind in _HTML or (kind in _UNSURE and _looks_like_html(body))
    if not html and kind != "text/plain":
        return reading
    named = [*reading.links, *reading.requisites]
    return replace(reading, words=fingerprints(body, reading.charset, url, named, html=html))


def is_readable(content_type: str) -> bool:
    """Whether a document of this type may name other URLs."""
    kind = media_type(content_type)
    return kind in _HTML or kind in _UNSURE or kind == _CSS


def body_of(body: bytes | None, file: Path) -> bytes:
    """The bytes to read: those in memory, or the beginning of the file."""
    if body is not None:
        return body
    with file.open("rb") as stream:
        return stream.read(LARGEST_READ)


def _looks_like_html(body: bytes) -> bool:
    head = body[:1024].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    return head.startswith((b"<!doctype html", b"<html", b"<head", b"<body", b"<!--"))
