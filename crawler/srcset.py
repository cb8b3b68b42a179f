"""The image candidates of a srcset attribute."""

from __future__ import annotations

import re
from collections.abc import Iterator

from webarc.crawler.expressions import many

_URL = re.compile(r"[\s,]*+(\S++)")
_DESCRIPTORS = re.compile(r"[^,(]*+" + many(r"\([^)]*+[^,(]*+", "brackets") + ",?")


def read_srcset(value: str) -> list[str]:
    """The references in a srcset or imagesrcset, in order, as written; a comma inside one belongs to it."""
    return [value[start:end] for start, end in candidates(value)]


def candidates(value: str) -> Iterator[tuple[int, int]]:
    """Where these references stand."""
    candidate = _URL.match(value)
    while candidate:
        start, end = candidate.span(1)
        behind = end
        if value[end - 1] == ",":
            end = start + len(value[start:end].rstrip(","))
        else:
            descriptors = _DESCRIPTORS.match(value, end)
            behind = descriptors.end() if descriptors else end
        if end > start:
            yield start, end
        candidate = _URL.match(value, behind)
