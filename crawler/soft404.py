"""Soft 404s: pages that a host gives, with status 200, for whatever name it does not know.

Whether a host does so is asked once, with a name that nobody has, and only where there is reason to: two pages that say
the same, a title that speaks of it, or a number of pages. What looks the same as that answer is stored and flagged.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from webarc.archive.urls import host_of
from webarc.crawler.frontier import Item
from webarc.crawler.limits import origin_of
from webarc.crawler.reading import Reading

if TYPE_CHECKING:
    from webarc.crawler.fingerprints import Fingerprints

SOFT_404 = "soft-404"
_FIRST_PAGES = 20
_MOST_UNDECIDED = 1_000
_TELLING = re.compile(
    r"\b404\b|not found|page missing|no longer (?:exists|available)|nicht gefunden|introuvable|no encontrad|non trovat"
    r"|n[aã]o encontrad|niet gevonden|nie znaleziono|nenalezen|не найден|не знайден|hittades inte"
    r"|ikke fun(?:det|net)|見つかりません|找不到|未找到|찾을 수 없",
    re.IGNORECASE,
)


@dataclass(slots=True)
class _Host:
    """What is known of a host; `answer` is what it says to unknown names, empty if it says that it has none."""

    pages: dict[int, str] = field(default_factory=dict)
    seen: int = 0
    asked: bool = False
    answer: str | None = None


class Soft404:
    """Finds them; `ask`, which whoever fetches provides, asks for a URL that nobody has, unless that is forbidden."""

    def __init__(self, *, on: bool = True) -> None:
        self.ask: Callable[[str], bool] = _nobody
        self._on = on
        self._hosts: dict[str, _Host] = {}
        self.flagged: list[int] = []
        self.asked: list[str] = []

    def compares(self, item: Item) -> bool:
        """Whether it matters what the page at this URL says; it has come, but has not been read."""
        if not self._matters(item):
            return False
        host = self._hosts.setdefault(host_of(item.url), _Host())
        host.seen += 1
        # Until the answer is there all pages are looked at, which takes time: so it is asked for before they are read.
        if host.seen >= _FIRST_PAGES and not host.asked:
            self._ask_of(host, origin_of(item.url))
        return self._matters(item)

    def look(self, item: Item, reading: Reading) -> None:
        """Take a page into account."""
        if not reading.words or not self._matters(item):
            return
        host, words = self._hosts.setdefault(host_of(item.url), _Host()), reading.words[1]
        if host.answer is not None:
            self.flagged += [item.id] if words == host.answer else []
            return
        alike = words and words in host.pages.values()
        if not host.asked and (alike or _TELLING.search(reading.title or "")):
            self._ask_of(host, origin_of(item.url))
        if words and host.answer is None and len(host.pages) < _MOST_UNDECIDED:
            host.pages[item.id] = words

    def _matters(self, item: Item) -> bool:
        if not self._on or item.kind != "link":
            return False
        host = self._hosts.get(host_of(item.url))
        return host is None or host.answer is None or bool(host.answer)

    def _ask_of(self, host: _Host, origin: str) -> None:
        host.asked = True
        name = f"{origin}/{os.urandom(10).hex()}"
        if self.ask(name):
            self.asked.append(name)
        else:
            self.answered(name, None)

    def answered(self, url: str, words: Fingerprints | None) -> None:
        """What the host says to a name that nobody has; None where it says so, or nothing at all."""
        host = self._hosts[host_of(url)]
        host.answer = words[1] if words else ""
        self.flagged += [row for row, said in host.pages.items() if said == host.answer]
        host.pages.clear()


def _nobody(_url: str) -> bool:
    return False
