"""What happened to a page or a domain, newest first: versions, removals, what was forgotten, crawls, guests."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from heapq import merge
from itertools import groupby
from operator import attrgetter

from webarc.archive.catalog import Catalog, Page, moment_of
from webarc.archive.layout import arc_of
from webarc.archive.tombstones import Tombstone, tombstones
from webarc.archive.urls import host_of
from webarc.sql.index import LAST
from webarc.sql.rows import CrawlRow, GuestRow, VersionRow

_GONE = (404, 410)


@dataclass(frozen=True, slots=True)
class Removal:
    """The crawl that found a page gone or moved; `kind` is `gone`, `moved`, or `removed` where no report says why."""

    url: str
    time: str
    tag: str
    kind: str
    status: int
    target: str


@dataclass(frozen=True, slots=True)
class Forgetting:
    """Versions that were taken out of the history; of a whole domain's pages, `url` names one if there is only one."""

    time: str
    tag: str
    reason: str
    by: str
    url: str
    pages: int
    numbers: tuple[int, ...]
    sha256s: tuple[str, ...]


Event = VersionRow | Removal | Forgetting
DomainEvent = CrawlRow | GuestRow | Forgetting


def page_events(catalog: Catalog, page: Page) -> list[Event]:
    """All that happened to a page, newest first."""
    events: list[tuple[str, int, Event]] = [(row.crawl_time, row.number, row) for row in page.versions]
    for row in page.versions:
        if row.removed_tag:
            removal = removal_of(catalog, row)
            events.append((removal.time, row.number, removal))
    events += [(each.time, 0, each) for each in forgettings(catalog, page.domain, page.arc)]
    # Of equal times, what came of a version stands above it.
    events.sort(key=lambda event: (event[0], event[1], not isinstance(event[2], VersionRow)), reverse=True)
    return [event for _, _, event in events]


def domain_events(catalog: Catalog, domain: str, since: str = "", before: str = LAST) -> Iterator[DomainEvent]:
    """The crawls of a domain with what guests brought and what was forgotten, newest first.

    Both ends are beginnings of commitTags, the second one excluded.
    """
    crawls: Iterator[DomainEvent] = catalog.index.crawls_between(domain, since, before)
    others: list[DomainEvent] = [*catalog.index.guest_visits(domain), *forgettings(catalog, domain)]
    others = [event for event in others if since <= tag_of(event) < before]
    return merge(crawls, sorted(others, key=tag_of, reverse=True), key=tag_of, reverse=True)


def tag_of(event: DomainEvent) -> str:
    """The commitTag of something that happened to a domain."""
    return event.tag if isinstance(event, Forgetting) else event.commit_tag


def time_of(event: Event) -> str:
    """The time of something that happened to a page."""
    return event.crawl_time if isinstance(event, VersionRow) else event.time


def forgettings(catalog: Catalog, domain: str, arc: str | None = None) -> list[Forgetting]:
    """What was taken out of a domain, or of one ARC, oldest first; the pages forgotten at once are one entry."""
    found = tombstones(catalog.archive.repository(domain))
    chosen = [stone for stone in found if arc is None or stone.arc == arc]
    return [_forgetting(list(stones)) for _, stones in groupby(chosen, key=attrgetter("commit_tag", "time", "reason"))]


def forgettings_of(catalog: Catalog, url: str) -> list[Forgetting]:
    """What was taken out of the page at a canonical URL, which need not have any version left."""
    return forgettings(catalog, host_of(url), arc_of(url))


def _forgetting(stones: list[Tombstone]) -> Forgetting:
    first = stones[0]
    alone = len(stones) == 1
    return Forgetting(
        time=first.time,
        tag=first.commit_tag,
        reason=first.reason,
        by=first.by,
        url=first.url if alone else "",
        pages=len(stones),
        numbers=first.numbers if alone else (),
        sha256s=first.sha256s if alone else (),
    )


def removal_of(catalog: Catalog, row: VersionRow) -> Removal:
    """Why a version was removed, as far as the report of the crawl that did it says."""
    tag = row.removed_tag or ""
    rows = [found for found in catalog.sightings(row.url) if found.first_tag <= tag <= found.last_tag]
    time = moment_of(tag) or row.crawl_time
    for found in rows:
        if found.status in _GONE:
            return Removal(row.url, time, tag, "gone", found.status, "")
        if found.target:
            return Removal(row.url, time, tag, "moved", found.status, found.target)
    return Removal(row.url, time, tag, "removed", 0, "")
