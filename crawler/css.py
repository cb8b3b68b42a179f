"""The files that a style sheet needs: url(), @import and image-set()."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from webarc.archive.encodings import decoded
from webarc.crawler.charset import css_charset
from webarc.crawler.expressions import many
from webarc.crawler.joins import Joiner

_BLANK = r"[ \t\n\r\f]"
# The blank that ends the number of a character belongs to it, and so do both signs of a line end there.
_NUMBER = rf"[0-9a-fA-F]{{1,6}}+(?:\r\n|{_BLANK})?"
_BARE = r"""(?=[^ \t\n\r\f"'()])[^ \t\n\r\f"'()\\]*+""" + many(
    rf"""\\(?:{_NUMBER}|[^\n\r\f])[^ \t\n\r\f"'()\\]*+""", "bare_escapes"
)


def _comment(name: str) -> str:
    return r"/\*[^*]*+" + many(r"\*++[^*/][^*]*+", name) + r"(?:\*++/?)?"


def _string(name: str) -> str:
    """A string; it may lack its end. In an expression nothing may follow it that does not always fit."""
    kinds = (("double", r"[^\"\\\n]*+", '"'), ("single", r"[^'\\\n]*+", "'"))
    return "|".join(
        quote + plain + many(rf"\\.{plain}", f"{name}_{kind}") + f"{quote}?" for kind, plain, quote in kinds
    )


def _spelled(word: str) -> str:
    """A word in which every character may be escaped, by its number or, if it is no digit of one, as it is."""
    after = rf"(?:\r\n|{_BLANK})?"
    found = []
    for char in word:
        as_it_is = "" if char in "abcdef" else f"|{char}"
        number = f"(?:{ord(char):x}|{ord(char.upper()):x})"
        found.append(rf"(?:{char}|\\(?:(?:0{{4}}{number}|0{{0,3}}{number}(?![0-9a-f])){after}{as_it_is}))")
    return f"(?i:{''.join(found)})"


def _tokens(url: str, at_import: str, image_set: str) -> re.Pattern[str]:
    gap = rf"{_BLANK}*+" + many(rf"{_comment('gap_comment')}{_BLANK}*+", "gap")
    return re.compile(
        rf"""
      {_comment("comment")}
    | @(?i:namespace)\b[^;]*+                               # names a vocabulary, not a file
    | {at_import}{gap}(?P<imported>{_string("imported")})
    | {url}{_BLANK}*+(?:(?P<quoted>{_string("quoted")})|(?P<bare>{_BARE}){_BLANK}*+(?=[)]|\Z))
    | {image_set}\((?P<set>)
    | {_string("string")}
    """,
        re.VERBOSE | re.DOTALL,
    )


# All begin with a character or class, which is tried soonest; hence what stands before `url(` is looked at behind it.
_TOKEN = _tokens(r"[uU](?i:rl)\((?<![\w-]....)", "@(?i:import)", "[iI](?i:mage)-(?i:set)")


@cache
def _escaped_token() -> re.Pattern[str]:
    """The same where names have escapes; it takes milliseconds to make, and most crawls never need it."""
    return _tokens(rf"(?<![\w-]){_spelled('url')}\(", f"@{_spelled('import')}", _spelled("image-set"))


# Escapes of letters are as rare in style sheets as other ones are frequent.
_ESCAPED_LETTER = re.compile(r"\\(?:[g-zG-Z-]|0{0,4}(?:2[dD]|[4-7][0-9a-fA-F])(?![0-9a-fA-F]{2}))")
_NESTING = re.compile(rf"[()]|{_comment('comment')}|{_string('any')}", re.DOTALL)
_DEPTH = {"(": 1, ")": -1}
_REFERENCES = ("imported", "quoted", "bare")
_LONGEST_TYPE = 20
_ESCAPE = re.compile(r"\\(?:([0-9a-fA-F]{1,6})(?:\r\n|[ \t\n\r\f])?|(\r\n|[\n\r\f])|(.))", re.DOTALL)


def read_css(text: str, url: str) -> list[str]:
    """The canonical URLs that a style sheet at `url` needs, each once."""
    joiner = Joiner(url)
    return list(dict.fromkeys(found for found in map(joiner.url, references(text)) if found))


def read_stylesheet(body: bytes, url: str, content_type: str) -> list[str]:
    """The same from the bytes of a style sheet, whatever its character encoding."""
    return read_css(decoded(body, css_charset(body, content_type)), url)


def references(text: str) -> Iterator[str]:
    """What a style sheet or style attribute refers to, as written but for its escapes."""
    return (plain(text[start:end]) for start, end in places(text))


def places(text: str) -> Iterator[tuple[int, int]]:
    """Where the references of a style sheet or style attribute stand, with their quotes."""
    end_of_set = 0
    tokens = _escaped_token() if "\\" in text and _ESCAPED_LETTER.search(text) else _TOKEN
    for token in tokens.finditer(text):
        kind, start = token.lastgroup, token.start()
        if kind == "set" and start >= end_of_set:
            end_of_set = _end_of_set(text, token.end())
        elif kind in _REFERENCES:
            yield token.span(kind)
        elif start < end_of_set and text[start] in "\"'" and not _is_type(text, start):
            yield token.span()


def _end_of_set(text: str, start: int) -> int:
    """Where the brackets of image-set() close, in which strings are references."""
    depth = 1
    for part in _NESTING.finditer(text, start):
        depth += _DEPTH.get(part[0], 0)
        if depth == 0:
            return part.start()
    return len(text)


def _is_type(text: str, start: int) -> bool:
    """Whether a string stands in type("image/png"), which names no file."""
    return text[max(0, start - _LONGEST_TYPE) : start].rstrip().lower().endswith("type(")


def plain(written: str) -> str:
    """A string or a bare URL without its quotes and escapes."""
    if written[0] in "\"'":
        written = written[1:].removesuffix(written[0])
    return _ESCAPE.sub(_unescaped, written) if "\\" in written else written


def _unescaped(escape: re.Match[str]) -> str:
    digits, line_end, other = escape.groups()
    if line_end:
        return ""
    if not digits:
        return str(other)
    number = int(digits, 16)
    return chr(number) if 0 < number < 0x110000 and not 0xD800 <= number < 0xE000 else "\ufffd"
