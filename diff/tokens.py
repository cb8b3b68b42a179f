"""A single tag, comment or raw text of HTML, read as browsers read it, in time that grows with its length only."""

from __future__ import annotations

import re
from html import unescape

from webarc.diff.marks import NOTHING, OF_TAG

BLANK = r" \t\n\f\r"
HIDDEN = ("script", "style", "noscript", "iframe", "noembed", "noframes")
LITERAL = ("title", "textarea", "xmp")
# Any other `<` is text.
TOKEN_START = re.compile("<(?=[a-zA-Z/!?])")
_NAME = re.compile(rf"<(/?[a-zA-Z][^{BLANK}/>]*)")
# Each of the ends of a value fits where no other does, so nothing is ever read in a second way.
_VALUE = rf"""(?:"[^"]*(?:"|\Z)|'[^']*(?:'|\Z)|[^{BLANK}>"'][^{BLANK}>]*|(?=>))"""
_ATTRIBUTES = re.compile(rf"(?:[{BLANK}/]*[^{BLANK}/>][^{BLANK}/>=]*(?:[{BLANK}]*=[{BLANK}]*{_VALUE})?){{1,100}}")
_GAP = re.compile(rf"[{BLANK}/]*")
_EMPTY_COMMENT = re.compile("<!---?>")
_COMMENT_END = re.compile("--!?>")
_ENDS = {name: re.compile(rf"</{name}(?=[{BLANK}/>])", re.IGNORECASE) for name in (*HIDDEN, *LITERAL)}
_ENDLESS_NUMBER = re.compile("&#[0-9]{1000,};?")


def read_token(text: str, start: int, endless: set[str]) -> tuple[str, int]:
    """What stands for the token that begins at `start` (where TOKEN_START matches), and where the next one begins.

    An unfinished tag or comment goes on to the end of the page, as it does in browsers. `endless` keeps the names that
    have no end tag any more, so that nobody looks for it twice; it begins empty and goes with a page that is read on.
    """
    tag = _NAME.match(text, start)
    if tag:
        return _tag(text, tag[1].lower(), tag.end(), endless)
    if text.startswith("<!--", start):
        return NOTHING, _comment_end(text, start)
    return NOTHING, text.find(">", start) + 1 or len(text)


def characters(text: str) -> str:
    """A text with its character references resolved."""
    if "&" not in text:
        return text
    try:
        return unescape(text)
    except ValueError:
        return unescape(_ENDLESS_NUMBER.sub("\ufffd", text))


def _tag(text: str, name: str, start: int, endless: set[str]) -> tuple[str, int]:
    end, closed = _tag_end(text, start)
    mark = OF_TAG.get(name, NOTHING)
    if name == "plaintext":
        return text[end:], len(text)
    if name not in _ENDS:
        return mark, end
    found = _ENDS[name].search(text, end) if name not in endless else None
    if found is None and closed:
        endless.add(name)
        return NOTHING, end
    stop = found.start() if found else len(text)
    if name in HIDDEN:
        return mark, stop
    shown = text[end:stop]
    shown = shown if name == "xmp" else characters(shown)
    return mark + shown + OF_TAG[f"/{name}"], stop


def _tag_end(text: str, start: int) -> tuple[int, bool]:
    """Where a tag ends, and whether it closes itself, which elements of drawings may do."""
    while found := _ATTRIBUTES.match(text, start):
        start = found.end()
    found = _GAP.match(text, start)
    end = found.end() if found else start
    return min(end + 1, len(text)), text[end - 1 : end] == "/"


def _comment_end(text: str, start: int) -> int:
    empty = _EMPTY_COMMENT.match(text, start)
    found = empty or _COMMENT_END.search(text, start + 4)
    return found.end() if found else len(text)
