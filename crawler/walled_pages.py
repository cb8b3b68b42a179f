"""Pages behind a wall that lets nobody in who has no cookie yet: which of them to ask for again, and when.

Pages that are asked for side by side disturb each other at a wall that remembers one visitor's way at a time. So what
was sent on to another redirect is asked for again when its level of links is done and its cookies have changed: first
all of it together, since one visit may open the wall for all, then what is still no page, one page after the other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from webarc.archive.urls import host_of
from webarc.crawler.frontier import Frontier, Item

# So many in a row that were asked for alone, in vain: this host has no such wall.
_IN_VAIN = 10


class WalledPages:
    """Finds them among the redirects of a crawl."""

    def __init__(self, frontier: Frontier, cookies: Callable[[str], int]) -> None:
        self._frontier = frontier
        self._cookies = cookies
        self._times: Counter[int] = Counter()
        self._alone: Item | None = None
        self._in_vain: Counter[str] = Counter()

    def due(self) -> list[Item]:
        """What to ask for again now, before the next level of links."""
        found = self._frontier.sent_on()
        self._learn({item.id for item, _ in found})
        changed = [item for item, before in found if self._cookies(item.url) not in (before, 0)]
        chosen = [item for item in changed if not self._times[item.id]]
        if not chosen:
            chosen = [item for item in changed if self._may_go_alone(item)][:1]
            self._alone = chosen[0] if chosen else None
        self._times.update(item.id for item in chosen)
        return chosen

    def _may_go_alone(self, item: Item) -> bool:
        return self._times[item.id] == 1 and self._in_vain[host_of(item.url)] < _IN_VAIN

    def _learn(self, still: set[int]) -> None:
        """Whether the page that was asked for alone is one now."""
        if self._alone is not None:
            host = host_of(self._alone.url)
            self._in_vain[host] = self._in_vain[host] + 1 if self._alone.id in still else 0
            self._alone = None
