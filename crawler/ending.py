"""The end of a crawl: unreached URLs are asked for once, those that seem gone a second time."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import chain

from webarc.archive.layout import arc_of
from webarc.archive.reports import CrawlRecord, UrlRow
from webarc.archive.urls import host_of
from webarc.crawler.frontier import Frontier, Row
from webarc.crawler.harvest import Harvest
from webarc.crawler.removal import Removals, decide
from webarc.crawler.resting import carried_mark, rest_of, unlinked_mark
from webarc.crawler.soft404 import SOFT_404
from webarc.crawler.trail import Trail
from webarc.crawler.traps import Trap
from webarc.sql.index import Index
from webarc.sql.rows import CurrentRow

ENDLESS = ("redirect-loop", "redirect-limit")
# The count in crawl.xml of the definition's crawls that followed every link, by which URLs rest.
COMPLETED = "completed"
_GONE_STATUS = (404, 410)
_TRANSIENT_STATUS = (408, 425, 429)


class Previous:
    """The last crawl of the same definition in one domain, as its report tells it."""

    def __init__(self, record: CrawlRecord | None, rows: list[UrlRow]) -> None:
        self.held = record.held if record else ()
        self.completed = record.counts.get(COMPLETED, 0) if record else 0
        self.rows = rows


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
        self._unlinked: dict[str, str] = {}
        self._resting: set[str] = set()
        self._exhausted = False
        self._removed: set[str] = set()

    @property
    def domains(self) -> Collection[str]:
        """The domains that the crawl owns."""
        return self._previous.keys()

    @property
    def limit(self) -> str:
        """Why the crawl did not follow all links that it could have followed; empty if nothing kept it from that."""
        return self._harvest.reason or ("trap" if self._trail.traps or self._frontier.trapped else "")

    def completed(self, domain: str) -> int:
        """How many crawls of this definition have followed every link, this one included."""
        return self._number(domain) - (not self._is_whole)

    def complete(self) -> bool:
        """Whether the crawl saw all it could see: not cut short, and nothing failed that might hide links."""
        if self.limit or self._harvest.errands.unavailable:
            return False
        return not any(
            self._hides_links(row) for row in self._frontier.troubles() if host_of(row.url) in self._previous
        )

    def ask_unreached(self, *, prune: str, recheck: bool = False) -> None:
        """Ask for what the archive has, the last crawl of this definition asked for, and this one did not reach."""
        self._trail.open = False
        self._exhausted = True
        for domain, previous in self._previous.items():
            for row in previous.rows:
                if host_of(row.url) == domain and not self._frontier.knows(row.url):
                    everything = recheck or self._prunes_unreached(prune)
                    self._find_unlinked(row, self._number(domain), all_of_them=everything)
        if not self._prunes_unreached(prune):
            for url in sorted(self._unlinked):
                self._harvest.ask(url, "unlinked")
            self._harvest.run()

    def _find_unlinked(self, row: UrlRow, number: int, *, all_of_them: bool) -> None:
        rest = rest_of(row.mark)
        if rest is not None and not all_of_them and not rest.is_due(number):
            self._resting.add(row.url)
        elif self._row(row.url) is not None:
            self._unlinked[row.url] = row.mark

    def ask_gone_again(self) -> None:
        """Ask a second time for what answered 404 or 410 and is in the archive."""
        self._trail.open = False
        items = self._frontier.gone()
        for item in items:
            item.current = self._row(item.url)
        self._harvest.ask_again(item for item in items if item.current is not None)

    def removals(self, domain: str, *, prune: str, complete: bool, allow: bool) -> Removals:
        """What to remove from one of the crawl's own domains."""
        if prune == "never" or self.limit:
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
        number, previous = self._number(domain), self._previous[domain].rows if domain in self._previous else []
        mine = (row for row in self._frontier.rows() if host_of(row.url) == domain and not _only_looked(row))
        asked = (self._line(row, number) for row in mine)
        left = self._left({row.url for row in previous})
        carried = [
            UrlRow(row.url, row.status, row.error, row.target, carried_mark(row.mark))
            for row in previous
            if (not self._frontier.knows(row.url) or row.url in left) and self._is_worth_carrying(row.url, complete)
        ]
        yield from sorted([*asked, *carried]) if carried else asked

    def flag_soft404s(self) -> None:
        """Flag them in the list of URLs; a page that has not changed since the last crawl keeps its flag."""
        before = (row.url for previous in self._previous.values() for row in previous.rows if row.error == SOFT_404)
        self._frontier.flag(SOFT_404, self._trail.soft404.flagged, before)

    def traps(self) -> list[Trap]:
        """The traps that the crawl met, and how many of their URLs it did and did not follow."""
        if not self._trail.traps:
            return []
        skipped = [url for url, reason in self._frontier.skips() if reason == "trap"]
        return self._trail.traps.found([*skipped, *self._trapped()])

    @property
    def unknown_names(self) -> list[str]:
        """URLs that nobody has, asked for to know what a host says to them."""
        return self._trail.soft404.asked

    @property
    def _is_whole(self) -> bool:
        return self._exhausted and not self.limit

    def _number(self, domain: str) -> int:
        """What number this crawl gets if it follows every link."""
        return (self._previous[domain].completed if domain in self._previous else 0) + 1

    def _left(self, urls: set[str]) -> set[str]:
        """Those that the crawl knows and did not ask for, because it was stopped or because they lead into a trap."""
        if not self.limit or not urls:
            return set()
        return {url for url in chain(self._trapped(), self._frontier.unfinished()) if url in urls}

    def _trapped(self) -> list[str]:
        """URLs that were queued before it was known that they lead into a trap."""
        return [row.url for row in self._frontier.troubles() if row.error == "trap"]

    def _is_worth_carrying(self, url: str, complete: bool) -> bool:
        """What an incomplete crawl did not ask for, what was held back and what rests must not be forgotten."""
        return url not in self._removed and (not complete or url in self._unlinked or url in self._resting)

    def _line(self, row: Row, number: int) -> UrlRow:
        mark = row.mark
        if row.url in self._unlinked and row.status not in _GONE_STATUS:
            mark = unlinked_mark(row.url, self._unlinked[row.url], number, whole=self._is_whole)
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
