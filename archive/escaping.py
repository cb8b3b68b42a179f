"""Characters that XML forbids, written so that any string survives: `\\xNN`, `\\uNNNN`, and every backslash doubled."""

from __future__ import annotations

import re

_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_ESCAPABLE = re.compile("[\\\\\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_ESCAPE = re.compile(r"\\(\\|x[0-9a-f]{2}|u[0-9a-f]{4})")
# Line ends and tabs are legal, but a parser normalises them unless they are written as references.
_IN_TEXT = re.compile("[&<>\n\r]")
_IN_ATTRIBUTE = re.compile('[&<>"\t\n\r]')
# Most texts have none of what must be written in another way.
_SPECIAL = re.compile('[&<>"\t\n\r\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]')
_REFERENCES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\t": "&#9;", "\n": "&#10;", "\r": "&#13;"}


def is_forbidden(text: str) -> bool:
    """Whether XML cannot hold this text as it is."""
    return _FORBIDDEN.search(text) is not None


def escape(text: str) -> str:
    """The text without forbidden characters; `unescape` is the way back."""
    return _ESCAPABLE.sub(_escaped, text)


def unescape(text: str) -> str:
    """The text that `escape` was given."""
    return _ESCAPE.sub(_character, text)


def in_text(text: str) -> str:
    """The text as it stands in an element, on one line."""
    return _IN_TEXT.sub(_reference, text) if _IN_TEXT.search(text) else text


def in_attribute(text: str) -> str:
    """The text as it stands between double quotes."""
    return _IN_ATTRIBUTE.sub(_reference, text) if _IN_ATTRIBUTE.search(text) else text


def element(name: str, text: str, attribute: str | None = None) -> str:
    """`<name>text</name>`, marked as escaped where it must be; the attribute is called `name`."""
    if attribute is None and not _SPECIAL.search(text):
        return f"<{name}>{text}</{name}>"
    mark = ""
    if is_forbidden(text) or (attribute is not None and is_forbidden(attribute)):
        mark, text = ' escaped="true"', escape(text)
        attribute = None if attribute is None else escape(attribute)
    if attribute is not None:
        mark = f' name="{in_attribute(attribute)}"{mark}'
    return f"<{name}{mark}>{in_text(text)}</{name}>"


def _reference(match: re.Match[str]) -> str:
    return _REFERENCES[match.group()]


def _escaped(match: re.Match[str]) -> str:
    char = match.group()
    if char == "\\":
        return "\\\\"
    return f"\\x{ord(char):02x}" if ord(char) < 0x100 else f"\\u{ord(char):04x}"


def _character(match: re.Match[str]) -> str:
    code = match.group(1)
    return code if code == "\\" else chr(int(code[1:], 16))
