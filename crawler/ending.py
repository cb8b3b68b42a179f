"""The end of a crawl: unreached URLs are asked for once, those that seem gone a second time."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from webarc.archive.layout import arc_of
from webarc.archive.reports import CrawlRecord, UrlRow
from webarc.archive.urls import host_of
from webarc.crawler.frontier import Frontier, Row
from webarc.crawler.harvest import Harvest
from webarc.crawler.removal import Removals, decide
from webarc.crawler.trail import Trail
from webarc.sql.index import Index
from webarc.sql.rows import CurrentRow

ENDLESS = ("redirect-loop", "redirect-limit")
_REACHED = ("stored", "unchanged", "filtered")
_TRANSIENT_STATUS = (408, 425, 429)


class Previous:
    """The last crawl of the same definition in one domain, as its report tells it."""

    def __init__(self, record: CrawlRecord | None, rows: list[UrlRow]) -> None:
        self.held = record.held if record else ()
        self.rows = rows

    def urls(self) -> Iterator[str]:
        """Every URL that was asked for then."""
        return (row.url for row in self.rows)


class Ending:
    """Decides, once the links are exhausted, what may be removed from the crawl's own domains."""

    def __init__(
        self, harvest: Harvest, trail: Trail, frontier: Frontier, index: Index, previous: dict[str, Previous]
    ) -> None:
        self._harvest = harvest
        self._trail = trail
        self._frontier = frontier
        self._index = index
        self._previous = previous
        self._unlinked: set[str] = set()
        self._removed: set[str] = set()

    @property
    def domains(self) -> Collection[str]:
        """The domains that the crawl owns."""
        return self._previous.keys()

    def complete(self) -> bool:
        """Whether the crawl saw all it could see: not cut short, and nothing failed that might hide links."""
        if self._harvest.reason or self._harvest.errands.unavailable:
            return False
        return not any(
            self._hides_links(row) for row in self._frontier.troubles() if host_of(row.url) in self._previous
        )

    def ask_unreached(self, *, prune: str) -> None:
        """Ask for what the archive has, the last crawl of this definition asked for, and this one did not reach."""
        self._trail.open = False
        for domain, previous in self._previous.items():
            unknown = [url for url in previous.urls() if not self._frontier.knows(url)]
            self._unlinked.update(url for url in unknown if self._row(url) is not None and host_of(url) == domain)
        if not self._prunes_unreached(prune):
            for url in sorted(self._unlinked):
                self._harvest.ask(url, "unlinked")
            self._harvest.run()

    def ask_gone_again(self) -> None:
        """Ask a second time for what answered 404 or 410 and is in the archive."""
        self._trail.open = False
        items = self._frontier.gone()
        for item in items:
            item.current = self._row(item.url)
        self._harvest.ask_again(item for item in items if item.current is not None)

    def removals(self, domain: str, *, prune: str, complete: bool, allow: bool) -> Removals:
        """What to remove from one of the crawl's own domains."""
        if prune == "never" or self._harvest.reason:
            return Removals((), ())
        candidates = {
            row.url for row in self._frontier.troubles() if row.outcome == "gone" and host_of(row.url) == domain
        }
        candidates |= set(self.moved(domain))
        if complete and self._prunes_unreached(prune):
            candidates |= {url for url in self._unlinked if host_of(url) == domain}
        arcs = self._index.current_count(domain)
        held = self._previous[domain].held if domain in self._previous else ()
        removals = decide(candidates, held, arcs, allow=allow)
        self._removed.update(removals.now)
        return removals

    def _prunes_unreached(self, prune: str) -> bool:
        """A sitemap that cannot be read may list what nothing else names."""
        return prune == "unreached" and not self._harvest.errands.unreadable

    def moved(self, domain: str) -> list[str]:
        """URLs of the archive that now lead for good to one that answered well."""
        urls = [url for url, _ in self._frontier.moved() if host_of(url) == domain]
        return [url for url in urls if self._row(url) is not None]

    def rows(self, domain: str, *, complete: bool) -> Iterator[UrlRow]:
        """The lines of urls.xml, sorted; an incomplete crawl keeps what an earlier one knew."""
        mine = (row for row in self._frontier.rows() if host_of(row.url) == domain and not _only_looked(row))
        asked = (self._line(row) for row in mine)
        carried = [
            UrlRow(row.url, row.status, row.error, row.target, "carried")
            for row in (self._previous[domain].rows if domain in self._previous else ())
            if not self._frontier.knows(row.url) and self._is_worth_carrying(row.url, complete)
        ]
        yield from sorted([*asked, *carried]) if carried else asked

    def _is_worth_carrying(self, url: str, complete: bool) -> bool:
        """What an incomplete crawl did not ask for, and what was held back, must not be forgotten."""
        return url not in self._removed and (not complete or url in self._unlinked)

    def _line(self, row: Row) -> UrlRow:
        mark = "unlinked" if row.url in self._unlinked and row.outcome in _REACHED else row.mark
        return UrlRow(row.url, row.status, row.error, row.target, mark)

    def _hides_links(self, row: Row) -> bool:
        if row.kind == "start" and row.outcome in ("skipped", "missing", "gone", "failed"):
            return True
        transient = row.status == 0 or row.status >= 500 or row.status in _TRANSIENT_STATUS or row.status < 400
        transient = transient and row.error not in ENDLESS
        return row.outcome == "failed" and (transient or self._row(row.url) is not None)

    def _row(self, url: str) -> CurrentRow | None:
        arc = arc_of(url)
        return self._index.current(host_of(url), [arc]).get(arc)


def _only_looked(row: Row) -> bool:
    """Whether a URL was found not to belong to the crawl only after it was queued."""
    return row.outcome == "skipped" and row.error != "too-large"
