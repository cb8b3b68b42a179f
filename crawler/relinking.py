"""Documents whose links lead to files beside them: only the bytes of the links change, all others stay as they were."""

from __future__ import annotations

from webarc.archive.checkout import Lead
from webarc.archive.checkout_names import HTML
from webarc.archive.checkout_site import shown_type
from webarc.crawler.charset import charset_of, css_charset
from webarc.crawler.reading import LARGEST_READ
from webarc.crawler.relinking_links import Links
from webarc.crawler.relinking_page import Page
from webarc.crawler.relinking_sheet import relink_css
from webarc.crawler.relinking_text import Source
from webarc.sql.rows import VersionRow

_CSS = "text/css"
_UNREADABLE = "replacement"
_BOMS = {"utf-16le": b"\xff\xfe", "utf-16be": b"\xfe\xff"}


def relinked(body: bytes, row: VersionRow, lead: Lead) -> bytes:
    """A page, drawing or style sheet whose links lead where `lead` says, or else to the live web.

    A file has no header: where only that told the character encoding, the document now says it itself. What lies
    behind the part that crawls read is left alone.
    """
    kind = shown_type(row)
    if row.charset == _UNREADABLE:
        return body
    head, rest = body[:LARGEST_READ], body[LARGEST_READ:]
    declared = f"{kind}; charset={row.charset}" if row.charset else kind
    if kind == _CSS:
        return _sheet(head, css_charset(head, declared), row.url, lead) + rest
    return _page(head, charset_of(head, declared), kind, row.url, lead) + rest


def _sheet(body: bytes, charset: str, url: str, lead: Lead) -> bytes:
    if charset == _UNREADABLE:
        return body
    source = Source(body, charset)
    relink_css(source, 0, len(source.text), Links(url, url, charset, lead))
    if charset == css_charset(body, ""):
        return source.spliced()
    return _BOMS.get(charset, f'@charset "{charset}";'.encode()) + source.spliced()


def _page(body: bytes, charset: str, kind: str, url: str, lead: Lead) -> bytes:
    if charset == _UNREADABLE:
        return body
    page = Page(Source(body, charset), url, charset, lead, xml=kind != HTML)
    page.relink()
    if kind != HTML or charset == charset_of(body, ""):
        return page.source.spliced()
    if charset not in _BOMS:
        page.label(charset)
    return _BOMS.get(charset, b"") + page.source.spliced()
