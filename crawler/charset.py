"""Which character encoding a document is in, and its text, decided as browsers decide it."""

from __future__ import annotations

import codecs
import re
from functools import lru_cache

_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16le"), (codecs.BOM_UTF16_BE, "utf-16be"))
_HEADER = re.compile(r"""charset\s*+=\s*+(?:"([^"]*+)"?|'([^']*+)'?|([^\s;,"']++))""", re.IGNORECASE)
_META_CONTENT = re.compile(rb"""charset\s*+=\s*+(?:"([^"]++)"|'([^']++)'|([^\s;"']++))""", re.IGNORECASE)
_COMMENT = re.compile(rb"<!--(?:-?>|.*?-->|.*)", re.DOTALL)
# In lower case, so that the search is for plain letters.
_META = re.compile(rb"<meta[\s/]++((?:[^>\"']++|\"[^\"]*+\"?+|'[^']*+'?+)*)")
_ATTRIBUTE = re.compile(rb"""([^\s/>=]++)(?:\s*+=\s*+(?:"([^"]*+)"?|'([^']*+)'?|([^\s>]++)))?""")
_XML = re.compile(rb"""<\?xml\s[^>]{0,200}?encoding\s*=\s*["']([A-Za-z0-9._:-]+)["']""")
_CSS = re.compile(rb'@charset "([^"]*)";')
_LABEL = re.compile(r"[a-z0-9_.:()-]{1,40}")
_PRESCAN = 1024

# Python's name of a codec -> the name that browsers give to the encoding they use instead.
_NAMES = {
    **{name: name for name in ("utf-8", "gbk", "gb18030", "koi8-r", "koi8-u")},
    **{f"iso8859-{part}": f"iso-8859-{part}" for part in (2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16)},
    **{f"cp{page}": f"windows-{page}" for page in (874, 1250, 1251, 1252, 1253, 1254, 1255, 1256, 1257, 1258)},
    "ascii": "windows-1252",
    "iso8859-1": "windows-1252",
    "iso8859-9": "windows-1254",
    "iso8859-11": "windows-874",
    "tis-620": "windows-874",
    "utf-16": "utf-16le",
    "utf-16-le": "utf-16le",
    "utf-16-be": "utf-16be",
    "gb2312": "gbk",
    "hz": "replacement",
    "iso2022_kr": "replacement",
    "big5": "big5",
    "big5hkscs": "big5",
    "cp950": "big5",
    "shift_jis": "shift_jis",
    "cp932": "shift_jis",
    "euc_jp": "euc-jp",
    "iso2022_jp": "iso-2022-jp",
    "euc_kr": "euc-kr",
    "cp949": "euc-kr",
    "cp866": "ibm866",
    "mac-roman": "macintosh",
    "mac-cyrillic": "x-mac-cyrillic",
}
# Labels that Python does not know, or understands in another way.
_LABELS = {
    "874": "windows-874",
    "cn-big5": "big5",
    "dos-874": "windows-874",
    "gb_2312-80": "gbk",
    "iso-10646-ucs-2": "utf-16le",
    "iso-8859-8-e": "iso-8859-8",
    "iso-8859-8-i": "iso-8859-8",
    "koi": "koi8-r",
    "logical": "iso-8859-8",
    "ucs-2": "utf-16le",
    "unicode": "utf-16le",
    "unicode-1-1-utf-8": "utf-8",
    "visual": "iso-8859-8",
    "windows-31j": "shift_jis",
    "windows-874": "windows-874",
    "windows-949": "euc-kr",
    "x-mac-cyrillic": "x-mac-cyrillic",
    "x-mac-roman": "macintosh",
    "x-mac-ukrainian": "x-mac-cyrillic",
    "x-x-big5": "big5",
}
# The codec that reads a name above, where it is not the codec of that name.
_CODECS = {
    "big5": "big5hkscs",
    "euc-kr": "cp949",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "windows-874": "cp874",
    "x-mac-cyrillic": "mac-cyrillic",
    "replacement": "ascii",
}


def charset_of(body: bytes, content_type: str) -> str:
    """The encoding of a page: byte order mark, then header, then meta, then UTF-8 if valid, else windows-1252."""
    return _marked(body) or header_charset(content_type) or _declared(body[:_PRESCAN]) or _guessed(body)


def css_charset(body: bytes, content_type: str) -> str:
    """The encoding of a style sheet: byte order mark, then header, then @charset, then UTF-8."""
    return _marked(body) or header_charset(content_type) or _from_rule(body) or "utf-8"


def header_charset(content_type: str) -> str | None:
    """The encoding that a Content-Type header names, if browsers know it."""
    if "=" not in content_type:
        return None
    found = _HEADER.search(content_type)
    return encoding_named(found.group(1) or found.group(2) or found.group(3) or "") if found else None


def decoded(body: bytes, charset: str) -> str:
    """The text of a document; bytes that make no sense become U+FFFD, a byte order mark is dropped."""
    return body.decode(codec_of(charset), "replace").removeprefix("\ufeff")


def codec_of(charset: str) -> str:
    """Python's codec for an encoding that this module named."""
    return _CODECS.get(charset, charset)


@lru_cache(maxsize=256)
def encoding_named(label: str) -> str | None:
    """The encoding that browsers understand by a label, or None."""
    label = label.strip().lower()
    if not _LABEL.fullmatch(label):
        return None
    if label in _LABELS:
        return _LABELS[label]
    try:
        return _NAMES.get(codecs.lookup(label.removeprefix("x-")).name)
    except LookupError:
        return None


def _marked(body: bytes) -> str | None:
    return next((name for mark, name in _BOMS if body.startswith(mark)), None)


def _declared(head: bytes) -> str | None:
    """What the first meta element (or the XML declaration) with a known encoding says."""
    found = _XML.match(head)
    named = encoding_named(found.group(1).decode("ascii")) if found else None
    lower = head.lower()
    if not named and b"charset" in lower:
        plain = _COMMENT.sub(b"", lower) if b"<!--" in lower else lower
        named = next(filter(None, (_meta_charset(meta) for meta in _META.findall(plain) if b"charset" in meta)), None)
    # Whoever reads the declaration as ASCII has proved that it is not UTF-16.
    return "utf-8" if named and named.startswith("utf-16") else named


@lru_cache(maxsize=256)
def _meta_charset(attributes: bytes) -> str | None:
    values: dict[bytes, bytes] = {}
    for name, *value in _ATTRIBUTE.findall(attributes):
        values.setdefault(name.lower(), b"".join(value))
    label = values.get(b"charset")
    if label is None and values.get(b"http-equiv", b"").strip().lower() == b"content-type":
        found = _META_CONTENT.search(values.get(b"content", b""))
        label = b"".join(filter(None, found.groups())) if found else None
    return encoding_named(label.decode("latin-1")) if label else None


def _from_rule(body: bytes) -> str | None:
    found = _CSS.match(body)
    named = encoding_named(found.group(1).decode("latin-1")) if found else None
    return "utf-8" if named and named.startswith("utf-16") else named


def _guessed(body: bytes) -> str:
    try:
        body.decode()
    except UnicodeDecodeError:
        return "windows-1252"
    return "utf-8"
