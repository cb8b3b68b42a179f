"""Markup and a few formats told by their first bytes, much as browsers do it, in microseconds."""

from __future__ import annotations

import re

XHTML = "application/xhtml+xml"
_HTML_TYPES = ("text/html", XHTML)

# A hostile page must not make these go back and forth: what was read in one way can be read in no other. Python before
# 3.11.5 matches atomic groups and possessive repeats of groups wrongly; a look-ahead and its group do the same.
_COMMENT = rb"<!--[^-]*+(?:-(?!->)[^-]*+)*-->"
_BLANK = rb"(?=(?P<blank>(?:[ \t\r\n\f]++|%b)*))(?P=blank)" % _COMMENT
_SURE = re.compile(_BLANK + rb"(?i:<!doctype[ \t\r\n\f]+html|<html)(?=[\s>/\"'])")
_LIKELY = re.compile(
    _BLANK + rb"(?i:<(?:head|title|body|meta|link|script|style|iframe|frameset|base|h[1-6]|div|font|table|form|center"
    rb"|img|section|main|article|span|ul|ol|hr|a|b|br|p|i|em|strong|pre)(?=[\s>/])|<!--)"
)
_TAG = re.compile(rb"<(?:[a-zA-Z][a-zA-Z0-9:-]*+(?:\s[^<>]*+)?/?>|/[a-zA-Z][^<>]*+>|!(?i:doctype)\s)")
_PROLOG = re.compile(rb"\s*+<\?xml[\s?]")
_ROOT = re.compile(
    rb"(?:\s++|<\?[^?]*+(?:\?(?!>)[^?]*+)*\?>|%b"
    rb"|<!(?i:doctype)[^\[>]*+(?:\[[^\]]*+(?:\](?!\s*+>)[^\]]*+)*\]\s*+)?>)*"
    rb"<((?:[\w.-]++:)?)([\w.-]++)([^>]*+)" % _COMMENT
)
_ROOT_TYPES = {
    b"svg": "image/svg+xml",
    b"rss": "application/rss+xml",
    b"feed": "application/atom+xml",
    b"math": "application/mathml+xml",
    b"html": XHTML,
}
_NAMESPACES = {
    b"svg": b"http://www.w3.org/2000/svg",
    b"feed": b"http://www.w3.org/2005/Atom",
    b"math": b"http://www.w3.org/1998/Math/MathML",
    b"html": b"http://www.w3.org/1999/xhtml",
}
_MAPS = (b"urlset", b"sitemapindex")

# Formats that libmagic does not know, or only with more than their signature.
_SIGNATURES = {
    b"wOFF": "font/woff",
    b"wOF2": "font/woff2",
    b"OTTO": "font/otf",
    b"ttcf": "font/collection",
    b"\0asm": "application/wasm",
    b"%PDF": "application/pdf",
    b"{\\rt": "text/rtf",
}


def readable(head: bytes, content_type: str) -> bytes:
    """The first bytes without their byte order mark, UTF-16 as UTF-8, so that the tests below can read them."""
    if head.startswith(b"\xef\xbb\xbf"):
        return head[3:]
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return head.decode("utf-16", "ignore").encode("utf-8", "ignore")
    lowered = content_type.lower()
    if "utf-16" in lowered and b"\0" in head[:4]:
        return head.decode("utf-16-be" if head[:1] == b"\0" else "utf-16-le", "ignore").encode("utf-8", "ignore")
    return head


def by_signature(head: bytes, said: str, named: str) -> str:
    """The type that the first bytes leave no doubt about, or an empty text."""
    start = head.lstrip(b" \t\r\n\f")[:1]
    if start != b"<":
        return _SIGNATURES.get(head[:4], "")
    if _SURE.match(head):
        return _page(head, said)
    root = _xml(head, said)
    if root:
        return root
    return "text/html" if _may_be_page(said, named) and _LIKELY.match(head) else ""


def has_tag(head: bytes) -> bool:
    """Whether there is anything in it that a browser would take for a tag."""
    return _TAG.search(head) is not None


def _page(head: bytes, said: str) -> str:
    """HTML, or XHTML where the server says so and the root agrees."""
    return XHTML if said == XHTML and _NAMESPACES[b"html"] in head else "text/html"


def _may_be_page(said: str, named: str) -> bool:
    """A first tag makes a page only if nobody says otherwise: Markdown and templates begin with tags, too."""
    if said in _HTML_TYPES:
        return True
    return said in ("", "text/plain") and named in ("", *_HTML_TYPES, "text/x-php")


def _xml(head: bytes, said: str) -> str:
    """The type of an XML document by its root element; empty if it is none."""
    prolog = _PROLOG.match(head) is not None
    root = _ROOT.match(head)
    name = root[2].lower() if root else b""
    if root and name == b"rdf":
        return "application/rss+xml" if b"http://purl.org/rss/1.0/" in head else "application/rdf+xml"
    if root and name in _ROOT_TYPES and (prolog or said == _ROOT_TYPES[name] or _declares(root[3], name)):
        # A page with an XML prolog that is served as HTML is read as HTML by every browser.
        return said if name == b"html" and said == "text/html" else _ROOT_TYPES[name]
    if root and name in _MAPS:
        return _xml_name(said)
    if prolog or (root and _is_xml(said)):
        return "text/html" if said == "text/html" and not prolog else _xml_name(said)
    return ""


def _declares(attributes: bytes, name: bytes) -> bool:
    """Whether the root has the namespace of its name; rss has none."""
    return _NAMESPACES.get(name, b"version") in attributes


def _is_xml(name: str) -> bool:
    return name in ("text/xml", "application/xml") or name.endswith("+xml")


def _xml_name(said: str) -> str:
    """The declared kind of XML if it is one; not XHTML or SVG, whose root would have said so."""
    return said if _is_xml(said) and said not in (XHTML, "image/svg+xml") else "application/xml"
