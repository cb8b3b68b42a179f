"""The parts of an HLS playlist (RFC 8216): segments, keys and further playlists."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from webarc.crawler.joins import Joiner

_MOST_PARTS = 100_000
_LONGEST_VALUE = 1_000
_URI = re.compile(r'[:,]\s*+URI="([^"]++)"')
_LINE_END = re.compile(r"[\r\n]++")
_ATTRIBUTE = re.compile(r'([A-Z-]++)="([^"]*+)"')
_VARIABLE = re.compile(r"\{\$([A-Za-z0-9_-]++)\}")


def read_hls(body: bytes, url: str) -> list[str]:
    """The canonical URLs of the parts, each once."""
    text = body.decode("utf-8-sig", "replace")
    joined = map(Joiner(url).url, islice(_references(text), _MOST_PARTS))
    return list(dict.fromkeys(filter(None, joined)))


def _references(text: str) -> Iterator[str]:
    values: dict[str, str] = {}
    for line in map(str.strip, _LINE_END.split(text)):
        if line.startswith("#EXT-X-DEFINE:"):
            defined = dict(_ATTRIBUTE.findall(line))
            values[defined.get("NAME", "")] = defined.get("VALUE", "")[:_LONGEST_VALUE]
        elif line.startswith("#EXT-X-"):
            yield from (_filled(uri, values) for uri in _URI.findall(line))
        elif line and not line.startswith("#"):
            yield _filled(line, values)


def _filled(reference: str, values: dict[str, str]) -> str:
    """A reference with the playlist's own variables in it; empty if there is one that it does not define."""
    if "{$" not in reference:
        return reference
    names = _VARIABLE.findall(reference)
    known = len(reference) <= _LONGEST_VALUE and all(name in values for name in names)
    return _VARIABLE.sub(lambda variable: values[variable[1]], reference) if known else ""
