"""What a checkout holds: the file of every URL of the domain, and of the parts that its pages take from elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from operator import attrgetter

from webarc.archive.catalog import Catalog, moment_of, removed_before
from webarc.archive.checkout_names import HTML, XHTML, Names, host_folder, wanted_name
from webarc.archive.dropped import Dropped
from webarc.archive.layout import arc_of
from webarc.archive.urls import canonical, host_of, key_of
from webarc.errors import BadURL
from webarc.sql.rows import SightingRow, VersionRow

OTHERS = "_other"
_MOST_REDIRECTS = 20


@dataclass(frozen=True, slots=True)
class State:
    """One domain at one crawl time; `fitting` gives files the endings that browsers know their types by."""

    domain: str
    when: str
    fitting: bool
    requisites: bool


class Site:
    """The files of a checkout by URL."""

    def __init__(self, catalog: Catalog, state: State) -> None:
        self._catalog, self._state = catalog, state
        self._names = Names()
        self._own: dict[str, str] = {}
        self._others: dict[str, str | None] = {}
        self._pending: list[tuple[VersionRow, str]] = []
        self._ready: set[str] = set()
        self._name_own()
        self._until = self._end_of_crawl()

    def __len__(self) -> int:
        return len(self._own)

    def own(self) -> Iterator[tuple[VersionRow, str]]:
        """The versions of the domain and their files, by ARC."""
        for row in self._rows():
            # What a crawl has brought since the names were given has none.
            if file := self._own.get(key_of(row.url)):
                yield row, file

    def others(self) -> Iterator[tuple[VersionRow, str]]:
        """The parts from other domains that were asked for, including those asked for meanwhile."""
        while self._pending:
            yield self._pending.pop()

    def file_of(self, url: str, embedded: bool = False) -> str | None:
        """The file that a canonical URL leads to, redirects followed; None if the checkout has none.

        Of other domains only what is `embedded` in a page is held, from when it is first asked for.
        """
        if host_of(url) != self._state.domain:
            return self._other(url) if embedded and self._state.requisites else None
        return self._own.get(key_of(url)) or self._redirected(url, embedded) or self._cleaned(url, embedded)

    def _cleaned(self, url: str, embedded: bool) -> str | None:
        """The file under a URL without what crawls dropped of it, which pages still name."""
        for each in self._dropped.cleaned(url):
            if file := self._own.get(key_of(each)) or self._redirected(each, embedded):
                return file
        return None

    @cached_property
    def _dropped(self) -> Dropped:
        return Dropped(self._catalog.index.crawls(self._state.domain))

    # -- the domain itself ------------------------------------------------------------------------------------

    def _name_own(self) -> None:
        wanted = {key_of(row.url): self._wanted(row) for row in self._rows()}
        self._names.reserve(OTHERS)
        for path in wanted.values():
            self._names.reserve(path.rpartition("/")[0])
        self._own = {key: self._names.take(path) for key, path in wanted.items()}

    def _rows(self) -> Iterator[VersionRow]:
        return self._catalog.versions_at(self._state.domain, self._state.when)

    def _wanted(self, row: VersionRow) -> str:
        return wanted_name(row.url, shown_type(row) if self._state.fitting else "")

    def _redirected(self, url: str, embedded: bool) -> str | None:
        for _ in range(_MOST_REDIRECTS):
            target = self._redirects.get(key_of(url))
            if target is None:
                return None
            if host_of(target) != self._state.domain:
                return self.file_of(target, embedded)
            spellings = (target, *self._dropped.cleaned(target))
            if file := next(filter(None, (self._own.get(key_of(each)) for each in spellings)), None):
                return file
            url = target
        return None

    @cached_property
    def _redirects(self) -> dict[str, str]:
        """Where URLs of the domain redirected to when they were asked for last, by key."""
        found: dict[str, str] = {}
        for url, rows in groupby(self._catalog.index.sightings(self._state.domain), key=attrgetter("url")):
            seen, _, target = max((self._last_seen(row), row.first_tag, row.target) for row in rows)
            if seen and target and (followed := _canonical(target)):
                found[key_of(url)] = followed
        return found

    def _last_seen(self, sighting: SightingRow) -> str:
        """When this was so for the last time, as far as the checkout's time; empty if only afterwards."""
        first, last = moment_of(sighting.first_tag) or "", moment_of(sighting.last_tag) or ""
        return min(last, self._state.when) if first <= self._state.when else ""

    # -- other domains ----------------------------------------------------------------------------------------

    def _end_of_crawl(self) -> str:
        """Parts from elsewhere may be a little later than the crawl that brought them, but not than its end."""
        crawls = self._catalog.index.crawls(self._state.domain)
        ends = [crawl.end_time for crawl in crawls if crawl.crawl_time <= self._state.when]
        return max([self._state.when, *ends])

    def _other(self, url: str) -> str | None:
        key = key_of(url)
        if key not in self._others:
            row = self._version_elsewhere(host_of(url), arc_of(url))
            self._others[key] = self._taken_in(row) if row is not None else self._other_cleaned(url)
        return self._others[key]

    def _other_cleaned(self, url: str) -> str | None:
        """Cleaned first and then remembered, so that many spellings of a part have one file."""
        return next(filter(None, map(self._other, self._dropped.cleaned(url))), None)

    def _taken_in(self, row: VersionRow) -> str:
        file = self._names.take(self._wanted_elsewhere(row))
        self._pending.append((row, file))
        return file

    def _wanted_elsewhere(self, row: VersionRow) -> str:
        return f"{OTHERS}/{host_folder(row.domain)}/{self._wanted(row)}"

    def _version_elsewhere(self, domain: str, arc: str) -> VersionRow | None:
        """The version of a file of another domain that was current then, or that the same crawl brought."""
        if not self._is_archived(domain):
            return None
        rows = self._catalog.index.history(domain, arc)
        before = [row for row in rows if row.crawl_time <= self._state.when]
        if before and not removed_before(before[-1], self._state.when):
            return before[-1]
        return next((row for row in rows if self._state.when < row.crawl_time <= self._until), None)

    @cached_property
    def _domains(self) -> frozenset[str]:
        return frozenset(self._catalog.domains())

    def _is_archived(self, domain: str) -> bool:
        if domain in self._domains and domain not in self._ready:
            self._catalog.catch_up(domain)
            self._ready.add(domain)
        return domain in self._ready


def shown_type(row: VersionRow) -> str:
    """The type under which browsers show a version; for them it is XML only if the server says so."""
    if row.mime_type in (HTML, XHTML):
        return XHTML if row.declared_type == XHTML else HTML
    return row.mime_type


def _canonical(target: str) -> str | None:
    try:
        return canonical(target) if target else None
    except BadURL:
        return None
