"""Traps: URLs that a site makes up without end, such as the months of a calendar, and how a crawl tells them.

A trap needs all three: hundreds of new URLs of one pattern, found on pages of that very pattern; pages that say the
same but for numbers and names of months and days; and no link from them to anything else but what all of them link to.
The pages of a forum or a newspaper differ in what they say, those of a list in what they lead to, no newspaper is
from the future, and no honest path repeats its folders over and over.

The patterns of a host that have a date are judged together, as a calendar has pages for months, days and events: what
leads from one to another is no link out while the pages of the other are alike, too.

Memory is bounded: numbers per pattern, and a few fingerprints where a pattern has many URLs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import chain

from webarc.archive import times
from webarc.crawler.limits import origin_of
from webarc.crawler.url_patterns import (
    DATE,
    GROWTH,
    date_pattern,
    folders_of,
    is_loop,
    is_view_of,
    patterns_of,
    repetitions,
    those_with_patterns,
    year_of,
)

_MANY = 50
# There are few months to many days, yet both must be looked at before there are too many days.
_MANY_DATED = 5
_NEW_URLS = 500
_FOUND_INSIDE = 400
_PAGES_ALIKE = 100
_SUSPECT = 50
# What each of several patterns that make up one calendar needs.
_PAGES_ALIKE_EACH = 10
_SUSPECT_EACH = 5
_FIRST_YEAR = 1800
_NO_HONEST_REPETITIONS = 3
# Paths that are refused, though they repeat nothing, have more folders than that behind what all have in common.
_SHALLOW = 2
_MOST_NAMES = 1_000
# Pages for a year, a month and a day say different things, and so do the pages of a folder.
_TEXTS_TOGETHER = 8
_RAREST_LOOK = 64
_MOST_COUNTED = 50_000
_MOST_FAMILIES = 2_000


@dataclass(slots=True)
class _Family:
    """The URLs of one pattern; all but `urls` and `suspect` counts since a page was last unlike those before it.

    `pages` are those that said the same, `inside` the new URLs of the pattern that they named, `beside` other patterns
    with a date that they named, `names` the folders in their own paths, and `common` those that all of them begin with.
    `suspect` are the URLs that no honest site has: with a date that no page about something that happened can have, or
    whose year cannot be made out; with a path that repeats its folders over and over.
    """

    pattern: str
    urls: int
    suspect: int = 0
    pages: int = 0
    inside: int = 0
    beside: set[str] = field(default_factory=set)
    names: set[str] = field(default_factory=set)
    common: list[str] | None = None
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

    def look(self, url: str, said: str, theirs: Iterable[list[str]]) -> bool:
        """Take one page into account: what it says, and the patterns of each new URL that it names."""
        inside, beside, leads_out = self._sorted(theirs)
        if leads_out or said not in self.said:
            self._differ(said)
            return False
        self.pages += 1
        self.inside += inside
        self.beside |= beside
        self.pause = self.rest = 1
        if is_loop(self.pattern):
            self._remember_folders(folders_of(url))
        return True

    def begin_anew(self) -> None:
        """Forget the pages so far."""
        self.pages = self.inside = 0
        self.beside.clear()
        self.names.clear()
        self.common = None

    def _sorted(self, theirs: Iterable[list[str]]) -> tuple[int, set[str], bool]:
        """How many URLs are of the pattern or beside it, what is beside it, and whether anything else is there."""
        inside, beside = 0, set()
        for patterns in theirs:
            other = "" if self.pattern in patterns or DATE not in self.pattern else date_pattern(patterns)
            if other and origin_of(other) == origin_of(self.pattern):
                beside.add(other)
            elif self.pattern not in patterns:
                return 0, set(), True
            inside += 1
        return inside, beside, False

    def _differ(self, said: str) -> None:
        self.begin_anew()
        self.pause = min(self.pause * 2, _RAREST_LOOK)
        if said and said not in self.said:
            most = _TEXTS_TOGETHER if self.pattern.endswith(GROWTH) or DATE in self.pattern else 1
            self.said = [*self.said, said][-most:]

    def _remember_folders(self, folders: list[str]) -> None:
        if len(self.names) < _MOST_NAMES:
            self.names.update(folders)
        common = self.common if self.common is not None else folders
        same = [mine == theirs for mine, theirs in zip(common, folders, strict=False)]
        self.common = common[: same.index(False) if False in same else len(same)]


@dataclass(slots=True)
class _Loop:
    """Folders of a host that hold one another without end; `name` is what the crawl calls them.

    `pages` are those that showed it; paths that repeat nothing are not of it unless they are longer than `deep`.
    """

    name: str
    folders: set[str]
    deep: int
    pages: int

    def holds(self, url: str) -> bool:
        """Whether nothing but these folders leads to a URL, and it is too deep to be one of the honest ones."""
        folders = folders_of(url)
        return self.folders.issuperset(folders) and (len(folders) > self.deep or repetitions(url) > 0)


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
        # How many URLs of each were followed or queued before it was closed.
        self._closed: dict[str, int] = {}
        self._loops: dict[str, list[_Loop]] = {}

    def __bool__(self) -> bool:
        """Whether the crawl has met a trap."""
        return bool(self._closed or self._loops)

    def found(self, refused: Iterable[str]) -> list[Trap]:
        """The traps, biggest first; `refused` are the URLs that were not asked for."""
        counts = Counter(map(self._trap_of, refused))
        followed = Counter({name: max(urls - counts[name], 0) for name, urls in self._closed.items()})
        for loop in chain.from_iterable(self._loops.values()):
            followed[loop.name] += loop.pages
        traps = [Trap(name, followed[name], counts[name]) for name in followed]
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
                    family.suspect += self._is_suspect(pattern, url)
                else:
                    self._count(pattern)

    def refuses(self, url: str) -> bool:
        """Whether a URL belongs to a trap."""
        return bool(self) and bool(self._trap_of(url))

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
        theirs = [patterns_of(name) for name in named if not is_view_of(name, url)]
        for family in families:
            if not family.look(url, said, theirs):
                self._doubt(family.pattern)
                continue
            members = self._together(family)
            if _are_a_trap(members):
                self._close(members)

    def _doubt(self, pattern: str) -> None:
        """A page was unlike the others of its pattern: pages that lead to such ones lead out."""
        if DATE in pattern:
            for family in self._families.values():
                if pattern in family.beside:
                    family.begin_anew()

    def _together(self, family: _Family) -> list[_Family]:
        """A pattern with all that it leads to, directly or not, except for traps; nothing if one of them is unknown."""
        names, members = [family.pattern], []
        for name in names:
            member = self._families.get(name)
            if member is None:
                return []
            if name not in self._closed:
                members.append(member)
                names += sorted(member.beside.difference(names))
        return members

    def _close(self, members: list[_Family]) -> None:
        for family in members:
            if is_loop(family.pattern):
                self._close_loop(family)
            else:
                self._closed[family.pattern] = family.urls

    def _close_loop(self, family: _Family) -> None:
        """Other folders of the host may be a trap of their own, so that its pattern stays open."""
        origin = origin_of(family.pattern)
        common = dict.fromkeys(family.common or ())
        loop = _Loop(
            f"{origin}{''.join(f'/{folder}' for folder in common)}{GROWTH}",
            family.names,
            len(common) + _SHALLOW,
            family.pages,
        )
        self._loops.setdefault(origin, []).append(loop)
        del self._families[family.pattern]

    def _trap_of(self, url: str) -> str:
        closed = next((pattern for pattern in patterns_of(url) if pattern in self._closed), "")
        if closed or not self._loops:
            return closed
        return next((loop.name for loop in self._loops.get(origin_of(url), ()) if loop.holds(url)), "")

    def _families_of(self, url: str) -> list[_Family]:
        if not self._families:
            return []
        return [family for family in map(self._families.get, patterns_of(url)) if family is not None]

    def _is_suspect(self, pattern: str, url: str) -> bool:
        if DATE in pattern:
            return year_of(url) not in self._years
        return is_loop(pattern) and repetitions(url) >= _NO_HONEST_REPETITIONS

    def _count(self, pattern: str) -> None:
        mark = hash(pattern)
        self._counted[mark] += 1
        many = _MANY_DATED if DATE in pattern else _MANY
        if self._counted[mark] >= many and len(self._families) < _MOST_FAMILIES:
            del self._counted[mark]
            self._families[pattern] = _Family(pattern, many)
        elif len(self._counted) > _MOST_COUNTED:
            self._counted = Counter(dict(self._counted.most_common(_MOST_COUNTED // 2)))


def _are_a_trap(members: list[_Family]) -> bool:
    """Whether there is no doubt."""
    if not members or any(member.pages < _PAGES_ALIKE_EACH for member in members):
        return False
    if DATE in members[0].pattern and any(member.suspect < _SUSPECT_EACH for member in members):
        return False
    needs_suspects = DATE in members[0].pattern or is_loop(members[0].pattern)
    return (
        (not needs_suspects or sum(member.suspect for member in members) >= _SUSPECT)
        and sum(member.urls for member in members) >= _NEW_URLS
        and sum(member.inside for member in members) >= _FOUND_INSIDE
        and sum(member.pages for member in members) >= _PAGES_ALIKE
    )
