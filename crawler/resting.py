"""URLs at rest: those with a query that nothing links to, which need not be asked for in every crawl.

The mark in urls.xml names the complete crawl from which on a URL rests, by its number, and after how many further ones
it was asked for again. So it stays the same from crawl to crawl, and a site that does not change adds nothing to git.
"""

from __future__ import annotations

import re
from typing import NamedTuple

RESTING, UNLINKED, CARRIED = "resting", "unlinked", "carried"
CARRIED_UNLINKED = f"{CARRIED} {UNLINKED}"
_STAGES = (10, 100)
_MARK = re.compile(rf"{RESTING} ([0-9]{{1,9}})(?: ([0-9]{{1,9}}))?")


class Rest(NamedTuple):
    """Since which complete crawl a URL rests, and the last stage at which it was asked for again."""

    since: int
    stage: int = 0

    def is_due(self, crawl: int) -> bool:
        """Whether the complete crawl of this number asks for it; numbers that are impossible are no reason not to."""
        return crawl < self.since or any(self.stage < stage <= crawl - self.since for stage in _STAGES)

    def asked(self, crawl: int) -> Rest:
        """How it rests after that crawl has asked for it."""
        if crawl < self.since:
            return Rest(crawl)
        return Rest(self.since, max([self.stage, *(stage for stage in _STAGES if stage <= crawl - self.since)]))

    def __str__(self) -> str:
        return f"{RESTING} {self.since} {self.stage}" if self.stage else f"{RESTING} {self.since}"


def rest_of(mark: str) -> Rest | None:
    """How a URL with this mark rests, None if it does not."""
    found = _MARK.fullmatch(mark) if mark.startswith(RESTING) else None
    return Rest(int(found[1]), int(found[2] or 0)) if found else None


def may_rest(url: str) -> bool:
    """Whether URLs like this one can be without number: those with a query, or with `;name=value` in the path."""
    return "?" in url or (";" in url and "=" in url)


def unlinked_mark(url: str, before: str, crawl: int, *, whole: bool) -> str:
    """The mark of a URL that was asked for though nothing links to it; `whole` if the crawl followed every link."""
    rest = rest_of(before)
    if rest is not None:
        return str(rest.asked(crawl) if whole else rest)
    if whole and before in (UNLINKED, CARRIED_UNLINKED) and may_rest(url):
        return str(Rest(crawl))
    return UNLINKED


def carried_mark(before: str) -> str:
    """The mark of a URL that was not asked for, and that must not be forgotten."""
    if rest_of(before) is not None:
        return before
    return CARRIED_UNLINKED if before in (UNLINKED, CARRIED_UNLINKED) else CARRIED
