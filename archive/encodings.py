"""The character encodings of the web, named, read and written as the WHATWG Encoding standard has it.

Python's own codecs differ from it in more than half of the encodings: they lack characters (the NEC and IBM rows of
EUC-JP and ISO-2022-JP), lose their place after a broken one, or leave bytes undefined that browsers show.
"""

from __future__ import annotations

import endec
from webencodings import LABELS

_BLANK = "\t\n\f\r "
_UNICODE = ("utf-8", "utf-16le", "utf-16be")
# Browsers show one sign for a whole document in these old encodings of seven bits, so that nobody can hide scripts in
# them. An archive runs no scripts, and what is plain ASCII in such a document tells where it leads.
_REPLACEMENT = "replacement"


def encoding_named(label: str) -> str | None:
    """The encoding that browsers understand by a label, in small letters, or None."""
    label = label.strip(_BLANK)
    return LABELS.get(label.lower()) if label.isascii() else None


def decoded(data: bytes, encoding: str) -> str:
    """The text of a document without its byte order mark; what makes no sense in it becomes U+FFFD."""
    text = text_of(data, encoding)
    return text.removeprefix("\ufeff") if encoding in _UNICODE else text


def text_of(data: bytes, encoding: str) -> str:
    """The text of bytes in an encoding of the standard, which may be a part of a document."""
    if encoding == "utf-8":
        return data.decode("utf-8", "replace")
    if encoding == _REPLACEMENT:
        return data.decode("ascii", "replace")
    return endec.decode(data, encoding, "replace", bom="ignore")


def bytes_of(text: str, encoding: str) -> bytes:
    """Text in an encoding; what it lacks becomes character references, as in forms that browsers send."""
    if encoding.startswith("utf-16"):
        return text.encode(f"utf-16-{encoding[-2:]}", "replace")
    return endec.encode(text.encode("utf-8", "replace").decode(), encoding, "xmlcharrefreplace")
