"""What the references of a page become when the page is a file among others."""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import quote

from webarc.archive.checkout import Lead
from webarc.crawler.html import joiner

_BLANK = "".join(map(chr, range(0x21)))
_ABSOLUTE = re.compile(r"https?://", re.IGNORECASE)
_PLAIN_IN_FRAGMENTS = "!#$%&'(*+),/:;=?@[]^_{|}~-."


class Link(NamedTuple):
    """The new text of a reference, and whether it leads to a file of the checkout."""

    text: str
    is_local: bool


class Links:
    """The references of one page, which are relative to `base`."""

    def __init__(self, url: str, base: str, charset: str, lead: Lead) -> None:
        self._urls_of, self._lead = joiner(base, charset), lead
        self._base = base if base != url else None

    def new(self, reference: str, *, embedded: bool, empty: bool = False) -> Link | None:
        """What a reference becomes; None where it may stay as it is. `empty` says that an empty one is one, too."""
        trimmed = reference.strip(_BLANK)
        before, mark, fragment = trimmed.partition("#")
        # What only names a part of a page means the page itself, unless that has another base.
        url = self._urls_of([trimmed])[0] if before else self._base if (mark or empty) and not embedded else None
        if url is None:
            return None
        end = mark + quote(fragment, _PLAIN_IN_FRAGMENTS)
        file = self._lead(url, embedded)
        if file is not None:
            return Link(file + end, True)
        return None if _ABSOLUTE.match(trimmed) else Link(url + end, False)
