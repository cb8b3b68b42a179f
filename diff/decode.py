"""The characters of a stored document: what its byte order mark, the archive and the document itself say."""

from __future__ import annotations

import codecs
import re
from functools import lru_cache

_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_BEGINNING = 1024
_DECLARED = re.compile(
    rb"""<(?:\?xml|meta)[ \t\r\n\f/][^<>]{0,500}?(?:encoding|charset)[ \t\r\n]*=[ \t\r\n]*["']?([\w.:-]{1,40})""",
    re.IGNORECASE,
)
# Browsers read the name on the left as the codec on the right, which knows more characters.
_READ_AS = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "tis-620": "cp874",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "big5": "big5hkscs",
    "cp950": "big5hkscs",
    "euc_kr": "cp949",
    "shift_jis": "cp932",
    "utf-16": "utf-16-le",
}
_NOT_FOR_PYTHON = {"windows-874": "cp874", "x-mac-cyrillic": "mac-cyrillic", "replacement": "ascii"}


# Encodings in which a `>` is always one, wherever a document is cut.
_PIECEWISE = frozenset(("utf-8", "cp1250", "cp1251", "cp1252", "cp1254", "iso8859-2", "iso8859-15", "koi8-r"))


def decoded(data: bytes, charset: str, most: int | None = None) -> str:
    """The text of a document, or of its first bytes; what makes no sense in it becomes U+FFFD.

    `charset` is what the archive knows, which counts after a byte order mark; without one the document's own XML
    declaration or meta element is asked, and at last it is UTF-8 if it can be, else windows-1252.
    """
    beginning = data[:most]
    codec = _named(data, charset)
    if codec is not None:
        return beginning.decode(codec, "replace").removeprefix("\ufeff")
    try:
        # A cut may go through a character.
        return codecs.getincrementaldecoder("utf-8")().decode(beginning, final=len(beginning) == len(data))
    except UnicodeDecodeError:
        return beginning.decode("cp1252", "replace")


def piecewise_codec(data: bytes, charset: str) -> tuple[str, int] | None:
    """The encoding of a document, of which every part between two tags can be decoded alone, and where it begins."""
    codec = _named(data, charset) or ("utf-8" if data.isascii() else None)
    if codec not in _PIECEWISE:
        return None
    return codec, len(codecs.BOM_UTF8) if data.startswith(codecs.BOM_UTF8) and codec == "utf-8" else 0


def _named(data: bytes, charset: str) -> str | None:
    return _marked(data) or _codec(charset) or _codec(_declared(data))


def _marked(data: bytes) -> str | None:
    return next((codec for mark, codec in _MARKS if data.startswith(mark)), None)


@lru_cache(maxsize=256)
def _codec(name: str) -> str | None:
    """Python's codec for the name of an encoding; None for one that is unknown or no encoding of texts."""
    name = name.strip().lower()
    try:
        found = codecs.lookup(_NOT_FOR_PYTHON.get(name, name))
        b"a".decode(found.name, "replace")
    except (LookupError, ValueError):
        return None
    return _READ_AS.get(found.name, found.name)


def _declared(data: bytes) -> str:
    found = _DECLARED.search(data[:_BEGINNING])
    name = found[1].decode("ascii", "replace") if found else ""
    # Whoever reads the declaration as ASCII has proved that it is not UTF-16.
    return "utf-8" if name.lower().startswith(("utf-16", "utf-32", "ucs-2")) else name
