"""The image candidates of a srcset attribute."""

from __future__ import annotations

import re

from webarc.crawler.expressions import many

_URL = re.compile(r"[\s,]*+(\S++)")
_DESCRIPTORS = re.compile(r"[^,(]*+" + many(r"\([^)]*+[^,(]*+", "brackets") + ",?")


def read_srcset(value: str) -> list[str]:
    """The references in a srcset or imagesrcset, in order, as written; a comma inside one belongs to it."""
    found = []
    candidate = _URL.match(value)
    while candidate:
        reference, end = candidate.group(1), candidate.end()
        if reference.endswith(","):
            reference = reference.rstrip(",")
        else:
            descriptors = _DESCRIPTORS.match(value, end)
            end = descriptors.end() if descriptors else end
        if reference:
            found.append(reference)
        candidate = _URL.match(value, end)
    return found
