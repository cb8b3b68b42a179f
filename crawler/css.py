"""The files that a style sheet needs: url(), @import and image-set()."""

from __future__ import annotations

import re
from collections.abc import Iterator

from webarc.crawler.charset import css_charset, decoded
from webarc.crawler.joins import Joiner

_STRING = r"""(?:"(?:[^"\\\n]++|\\.)*+"?+|'(?:[^'\\\n]++|\\.)*+'?+)"""
_TOKEN = re.compile(
    rf"""
      /\*(?:[^*]++|\*(?!/))*+(?:\*/)?+                      # a comment; the last one may lack its end
    | @namespace\b[^;]*+                                    # names a vocabulary, not a file
    | @import\s*+(?P<imported>{_STRING})
    | (?<![\w-])url\(\s*+(?:(?P<quoted>{_STRING})|(?P<bare>(?:[^\s"'()\\]++|\\.)++)\s*+(?=[)]|\Z))
    | (?P<set>image-set\()(?:[^()"']++|{_STRING}|\((?:[^()"']++|{_STRING})*+\))*+
    | {_STRING}
    """,
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)
_STRINGS = re.compile(rf"(?:url|type)\([^)]*+\)|({_STRING})", re.IGNORECASE | re.DOTALL)
_ESCAPE = re.compile(r"\\(?:([0-9a-fA-F]{1,6})(?:\r\n|\s)?|(\r\n|[\n\r\f])|(.))", re.DOTALL)


def read_css(text: str, url: str) -> list[str]:
    """The canonical URLs that a style sheet at `url` needs, each once."""
    joiner = Joiner(url)
    return list(dict.fromkeys(found for found in map(joiner.url, references(text)) if found))


def read_stylesheet(body: bytes, url: str, content_type: str) -> list[str]:
    """The same from the bytes of a style sheet, whatever its character encoding."""
    return read_css(decoded(body, css_charset(body, content_type)), url)


def references(text: str) -> Iterator[str]:
    """What a style sheet or style attribute refers to, as written but for its escapes."""
    for token in _TOKEN.finditer(text):
        if token["set"]:
            yield from references(token.group().partition("(")[2])
            yield from map(_plain, filter(None, _STRINGS.findall(token.group())))
        elif token["bare"]:
            yield _plain(token["bare"])
        elif token["imported"] or token["quoted"]:
            yield _plain(token["imported"] or token["quoted"])


def _plain(written: str) -> str:
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
