"""The characters of a stored document: what its byte order mark, the archive and the document itself say."""

from __future__ import annotations

import codecs
import re

from webarc.archive.encodings import decoded as decoded_as
from webarc.archive.encodings import encoding_named

_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16le"), (codecs.BOM_UTF16_BE, "utf-16be"))
_BEGINNING = 1024
_DECLARED = re.compile(
    rb"""<(?:\?xml|meta)[ \t\r\n\f/][^<>]{0,500}?(?:encoding|charset)[ \t\r\n]*=[ \t\r\n]*["']?([\w.:-]{1,40})""",
    re.IGNORECASE,
)
# Encodings in which a `>` is always one, wherever a document is cut.
_PIECEWISE = frozenset(
    (
        *("utf-8", "windows-1250", "windows-1251", "windows-1252", "windows-1254"),
        *("iso-8859-2", "iso-8859-15", "koi8-r"),
    )
)


def decoded(data: bytes, charset: str, most: int | None = None) -> str:
    """The text of a document, or of its first bytes; what makes no sense in it becomes U+FFFD.

    `charset` is what the archive knows, which counts after a byte order mark; without one the document's own XML
    declaration or meta element is asked, and at last it is UTF-8 if it can be, else windows-1252.
    """
    beginning = data[:most]
    encoding = _named(data, charset)
    if encoding is not None:
        return decoded_as(beginning, encoding)
    try:
        # A cut may go through a character.
        return codecs.getincrementaldecoder("utf-8")().decode(beginning, final=len(beginning) == len(data))
    except UnicodeDecodeError:
        return decoded_as(beginning, "windows-1252")


def piecewise_encoding(data: bytes, charset: str) -> tuple[str, int] | None:
    """The encoding of a document, of which every part between two tags can be decoded alone, and where it begins."""
    encoding = _named(data, charset) or ("utf-8" if data.isascii() else None)
    if encoding not in _PIECEWISE:
        return None
    return encoding, len(codecs.BOM_UTF8) if data.startswith(codecs.BOM_UTF8) and encoding == "utf-8" else 0


def _named(data: bytes, charset: str) -> str | None:
    return _marked(data) or encoding_named(charset) or encoding_named(_declared(data))


def _marked(data: bytes) -> str | None:
    return next((encoding for mark, encoding in _MARKS if data.startswith(mark)), None)


def _declared(data: bytes) -> str:
    found = _DECLARED.search(data[:_BEGINNING])
    name = found[1].decode("ascii", "replace") if found else ""
    # Whoever reads the declaration as ASCII has proved that it is not UTF-16.
    return "utf-8" if name.lower().startswith(("utf-16", "utf-32", "ucs-2")) else name
