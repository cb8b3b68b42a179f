"""Traps: URLs that a site makes up without end, such as the months of a calendar, and how a crawl tells them.

A trap needs all three: hundreds of new URLs of one pattern, found on pages of that very pattern; pages that say the
same but for numbers and names of months and days; and no link from them to anything else but what all of them link to.
The pages of a forum or a newspaper differ in what they say, those of a list in what they lead to, and no newspaper is
from the future.

Memory is bounded: numbers per pattern, and a few fingerprints where a pattern has many URLs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from webarc.archive import times
from webarc.crawler.url_patterns import DATE, GROWTH, is_view_of, patterns_of, those_with_patterns, year_of

_MANY = 50
_NEW_URLS = 500
_FOUND_INSIDE = 400
_PAGES_ALIKE = 100
_OUT_OF_TIME = 50
_FIRST_YEAR = 1800
# Pages for a year, a month and a day say different things, and so do the pages of a folder.
_TEXTS_TOGETHER = 8
_RAREST_LOOK = 64
_MOST_COUNTED = 50_000
_MOST_FAMILIES = 2_000


@dataclass(slots=True)
class _Family:
    """The URLs of one pattern; `pages` and `inside` count since a page was last unlike those before it.

    `pages` are those that said the same, `inside` the new URLs of the pattern that they named, `out_of_time` those with
    a date that no page about something that happened can have, or whose year cannot be made out.
    """

    pattern: str
    urls: int = _MANY
    out_of_time: int = 0
    pages: int = 0
    inside: int = 0
    said: list[str] = field(default_factory=list)
    rest: int = 0
    pause: int = 1

    def is_due(self) -> bool:
        """Whether the next page is to be looked at: each while pages are alike, else fewer and fewer."""
        self.rest -= 1
        if self.rest > 0:
            return False
        self.rest = self.pause
        return True

    def look(self, said: str, inside: int, leads_out: bool) -> None:
        """Take one page into account."""
        if said in self.said and not leads_out:
            self.pages += 1
            self.inside += inside
            self.pause = self.rest = 1
            return
        self.pages = self.inside = 0
        self.pause = min(self.pause * 2, _RAREST_LOOK)
        if said and said not in self.said:
            most = _TEXTS_TOGETHER if self.pattern.endswith(GROWTH) or DATE in self.pattern else 1
            self.said = [*self.said, said][-most:]

    @property
    def is_trap(self) -> bool:
        """Whether there is no doubt."""
        if DATE in self.pattern and self.out_of_time < _OUT_OF_TIME:
            return False
        return self.urls >= _NEW_URLS and self.inside >= _FOUND_INSIDE and self.pages >= _PAGES_ALIKE


@dataclass(frozen=True, slots=True)
class Trap:
    """A pattern that is not followed: how many of its URLs were, and how many then were not."""

    pattern: str
    followed: int
    refused: int


class Traps:
    """What a crawl knows about patterns of URLs."""

    def __init__(self, *, on: bool = True, this_year: int | None = None) -> None:
        self._on = on
        self._years = range(_FIRST_YEAR, (this_year or times.now().year) + 1)
        self._counted: Counter[int] = Counter()
        self._families: dict[str, _Family] = {}
        self._closed: set[str] = set()

    def __bool__(self) -> bool:
        """Whether the crawl has met a trap."""
        return bool(self._closed)

    def found(self, refused: Iterable[str]) -> list[Trap]:
        """The traps, biggest first; `refused` are the URLs that were not asked for."""
        counts = Counter(map(self._closed_pattern, refused))
        traps = [Trap(name, max(self._families[name].urls - counts[name], 0), counts[name]) for name in self._closed]
        return sorted(traps, key=lambda trap: (-trap.followed, trap.pattern))

    def follow(self, urls: Iterable[str]) -> None:
        """New links are going to be asked for."""
        if not self._on:
            return
        for url in those_with_patterns(urls):
            for pattern in patterns_of(url):
                family = self._families.get(pattern)
                if family is not None:
                    family.urls += 1
                    family.out_of_time += DATE in pattern and year_of(url) not in self._years
                else:
                    self._count(pattern)

    def refuses(self, url: str) -> bool:
        """Whether a URL belongs to a trap."""
        return bool(self._closed) and bool(self._closed_pattern(url))

    def watches(self, url: str) -> bool:
        """Whether a URL is one of many of a pattern."""
        return bool(self._families_of(url))

    def samples(self, url: str) -> bool:
        """Whether it matters what the page at this URL says."""
        families = self._families_of(url)
        # Each of them counts down, whatever the others say.
        due = [family.is_due() for family in families if family.pattern not in self._closed]
        return True in due

    def look(self, url: str, said: str, named: Iterable[str]) -> None:
        """What a page says and where it leads, as a fingerprint, and the new URLs it names, its own parts included."""
        families = self._families_of(url)
        if not families:
            return
        named = [name for name in named if not is_view_of(name, url)]
        theirs = [set(patterns_of(name)) for name in named]
        for family in families:
            inside = sum(family.pattern in patterns for patterns in theirs)
            family.look(said, inside, leads_out=inside < len(named))
            if family.is_trap:
                self._closed.add(family.pattern)

    def _closed_pattern(self, url: str) -> str:
        return next((pattern for pattern in patterns_of(url) if pattern in self._closed), "")

    def _families_of(self, url: str) -> list[_Family]:
        if not self._families:
            return []
        return [family for family in map(self._families.get, patterns_of(url)) if family is not None]

    def _count(self, pattern: str) -> None:
        mark = hash(pattern)
        self._counted[mark] += 1
        if self._counted[mark] >= _MANY and len(self._families) < _MOST_FAMILIES:
            del self._counted[mark]
            self._families[pattern] = _Family(pattern)
        elif len(self._counted) > _MOST_COUNTED:
            self._counted = Counter(dict(self._counted.most_common(_MOST_COUNTED // 2)))
