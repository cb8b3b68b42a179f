"""The image candidates of a srcset attribute."""

from __future__ import annotations

import re

_URL = re.compile(r"[\s,]*+(\S++)")
_COMMA_OR_BRACKET = re.compile(r",|\([^)]*+")


def read_srcset(value: str) -> list[str]:
    """The references in a srcset or imagesrcset, in order, as written; a comma inside one belongs to it."""
    found = []
    candidate = _URL.match(value)
    while candidate:
        reference, end = candidate.group(1), candidate.end()
        if reference.endswith(","):
            reference = reference.rstrip(",")
        else:
            end = _end_of_descriptors(value, end)
        if reference:
            found.append(reference)
        candidate = _URL.match(value, end)
    return found


def _end_of_descriptors(value: str, start: int) -> int:
    """Behind the next comma that stands in no brackets."""
    return next((mark.end() for mark in _COMMA_OR_BRACKET.finditer(value, start) if mark[0] == ","), len(value))
