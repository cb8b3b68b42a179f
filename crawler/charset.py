"""Which character encoding a document is in, decided as browsers decide it."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice

from webarc.archive.encodings import encoding_named
from webarc.crawler.tags import all_tags, attributes_of

_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16le"), (codecs.BOM_UTF16_BE, "utf-16be"))
_QUOTED = r'"([^"\\]*+(?:\\.[^"\\]*+)*)"?'
_PARAMETER = re.compile(rf""";\s*+([^;=\s]*+)\s*+(?:=\s*+(?:{_QUOTED}|'([^']*+)'?|([^\s;,"']*+)))?[^;]*+""")
_QUOTED_PAIR = re.compile(r"\\(.)")
_META_CONTENT = re.compile(r"""charset\s*+=\s*+(?:"([^"]++)"|'([^']++)'|([^\s;"']++))""", re.IGNORECASE)
_XML = re.compile(rb"""<\?xml\s[^>]{0,200}?encoding\s*=\s*["']([A-Za-z0-9._:-]+)["']""")
_XML_OF_TWO_BYTES = ((b"<\0?\0x\0", "utf-16le"), (b"\0<\0?\0x", "utf-16be"))
_CSS = re.compile(rb'@charset "([^"]*)";')
# A browser looks at so much in any case, and then for as long as it reads nothing but these.
_LOOKED_AT = 1024
_MOST_TAGS = 20_000
_IN_HEAD = {"base", "head", "html", "link", "meta", "noscript", "object", "script", "style", "title"}


def charset_of(body: bytes, content_type: str) -> str:
    """The encoding of a page: byte order mark, then header, then meta, then UTF-8 if valid, else windows-1252."""
    xml = "xhtml" in content_type.lower()
    return _marked(body) or header_charset(content_type) or _declared(body, xml) or _guessed(body)


def css_charset(body: bytes, content_type: str) -> str:
    """The encoding of a style sheet: byte order mark, then header, then @charset, then UTF-8."""
    return _marked(body) or header_charset(content_type) or _from_rule(body) or "utf-8"


@lru_cache(maxsize=256)
def header_charset(content_type: str) -> str | None:
    """The encoding that a Content-Type header names, if browsers know it: the first one that has a value."""
    if "=" not in content_type:
        return None
    for name, quoted, single, bare in map(re.Match.groups, _PARAMETER.finditer(content_type)):
        if name.lower() == "charset" and (bare or quoted is not None or single is not None):
            return encoding_named(_QUOTED_PAIR.sub(r"\1", quoted) if quoted else single or bare or "")
    return None


def _marked(body: bytes) -> str | None:
    return next((name for mark, name in _BOMS if body.startswith(mark)), None)


def _declared(body: bytes, xml: bool) -> str | None:
    """What the first meta element with a known encoding says, or else the XML declaration, which comes first in XML."""
    for start, name in _XML_OF_TWO_BYTES:
        if body.startswith(start):
            return name
    found = _XML.match(body)
    by_xml = _as_declared(found[1]) if found else None
    if (by_xml and xml) or not (b"charset" in body[:_LOOKED_AT].lower() or b"charset" in body.lower()):
        return by_xml
    return next(filter(None, map(_meta_charset, _metas(body))), None) or by_xml


def _metas(body: bytes) -> Iterator[bytes]:
    """The attributes of the meta elements that a browser meets while it may still change the encoding."""
    in_head = True
    for is_end, name, attributes, start in islice(all_tags(body), _MOST_TAGS):
        if not in_head and start >= _LOOKED_AT:
            return
        if name == "meta" and not is_end:
            yield attributes
        in_head = in_head and name in _IN_HEAD and not (is_end and name in ("head", "html"))


@lru_cache(maxsize=256)
def _meta_charset(attributes: bytes) -> str | None:
    values = attributes_of(attributes)
    label = values.get("charset")
    if label is None and values.get("http-equiv", "").lower() == "content-type":
        found = _META_CONTENT.search(values.get("content", ""))
        label = "".join(filter(None, found.groups())) if found else None
    return _as_declared(label.encode("utf-8", "replace")) if label else None


def _from_rule(body: bytes) -> str | None:
    found = _CSS.match(body)
    return _not_wide(encoding_named(found[1].decode("latin-1"))) if found else None


def _as_declared(label: bytes) -> str | None:
    """What a page means that says this of itself."""
    named = encoding_named(label.decode("latin-1"))
    return "windows-1252" if named == "x-user-defined" else _not_wide(named)


def _not_wide(named: str | None) -> str | None:
    """Whoever reads a declaration as ASCII has proved that it is not UTF-16."""
    return "utf-8" if named and named.startswith("utf-16") else named


def _guessed(body: bytes) -> str:
    try:
        body.decode()
    except UnicodeDecodeError:
        return "windows-1252"
    return "utf-8"
