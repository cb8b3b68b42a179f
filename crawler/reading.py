"""What a crawl learns from a document: its title, its character set and the URLs it names."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from webarc.crawler.charset import charset_of
from webarc.crawler.css import read_css
from webarc.crawler.html import read_html

LARGEST_READ = 16 * 1024 * 1024
_HTML = ("text/html", "application/xhtml+xml")
_UNSURE = ("", "application/octet-stream", "text/plain", "unknown/unknown", "application/unknown")
_CSS = "text/css"


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read: links as (URL, is it a requisite)."""

    title: str | None
    charset: str
    links: Iterable[tuple[str, bool]]


def media_type(content_type: str) -> str:
    """The bare MIME type of a Content-Type header."""
    return content_type.partition(";")[0].strip().lower()


def declared_charset(content_type: str) -> str:
    """The charset that a Content-Type header names."""
    for parameter in content_type.split(";")[1:]:
        name, _, value = parameter.partition("=")
        if name.strip().lower() == "charset":
            return value.strip().strip("\"'").lower()
    return ""


def read(body: bytes, url: str, content_type: str, *, follow: bool, agent: str | None) -> Reading:
    """Read a document as far as its type has something to say.

    `follow` is off where a header says nofollow; `agent` is the name that robots rules call us by, None to ignore them.
    """
    kind = media_type(content_type)
    if kind in _HTML or (kind in _UNSURE and _looks_like_html(body)):
        page = read_html(body, url, content_type, agent or "webarc")
        follow = follow and not (agent and page.nofollow)
        links = [
            (link.url, link.kind == "requisite")
            for link in page.links
            if link.kind == "requisite" or (follow and not (agent and link.nofollow))
        ]
        return Reading(page.title, page.charset, links)
    if kind == _CSS:
        charset = charset_of(body, content_type)
        return Reading(None, charset, [(found, True) for found in read_css(_decoded(body, charset), url)])
    return Reading(None, declared_charset(content_type), ())


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


def _decoded(body: bytes, charset: str) -> str:
    try:
        return body.decode(charset or "utf-8", "replace")
    except LookupError:
        return body.decode("utf-8", "replace")
