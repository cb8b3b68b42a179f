"""Which sitemaps the hosts of a crawl have, and what was wrong with them: one that cannot be read is never passed over.

Sitemaps are asked for as gently as pages, with the same pauses and no more at one time.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from webarc.archive.urls import canonical, host_of, shown
from webarc.crawler.exchange import Answer
from webarc.crawler.hosts import Host
from webarc.crawler.manners import Manners
from webarc.crawler.retry import may_pass
from webarc.crawler.sitemap import IS_PAGE, NAMES_NOTHING, Sitemap, read_sitemap
from webarc.crawler.trail import Trail
from webarc.errors import BadURL

_MOST_SITEMAPS = 1_000
_MOST_SAID = 20
_PAUSE = 0.5
_ABSENT = range(400, 500)


@dataclass(slots=True)
class Place:
    """Where a sitemap should be, and who says so: robots.txt, an index of sitemaps, or only custom (empty)."""

    host: Host
    url: str
    named_by: str


@dataclass(slots=True)
class _Outcome:
    """What the search on one host has come to."""

    named: bool = False
    found: bool = False
    usual: str = ""


class SitemapSearch:
    """Asks for the sitemaps of the crawl's own hosts and follows what they list."""

    def __init__(self, manners: Manners, trail: Trail, ask: Callable[[Place], None]) -> None:
        self._manners = manners
        self._trail = trail
        self._ask = ask
        self._known: set[str] = set()
        self._line: deque[Place] = deque()
        self._outcomes: dict[str, _Outcome] = {}
        self._said: list[str] = []
        self._left_out = 0
        self.unavailable = False
        """Whether one could not be had this time, though it may be there the next time."""
        self.unreadable = False
        """Whether there is one that could not be read, or not wholly."""

    @property
    def waiting(self) -> bool:
        """Whether there are sitemaps still to be asked for."""
        return bool(self._line)

    @property
    def problems(self) -> list[str]:
        """What the user should know, each in a sentence."""
        said = self._said[:_MOST_SAID]
        if len(self._said) > _MOST_SAID:
            said.append(f"{len(self._said) - _MOST_SAID} more sitemaps have problems; --report FILE.json names them.")
        if self._left_out:
            said.append(f"only {_MOST_SITEMAPS:,} sitemaps were read; {self._left_out:,} more were left out.")
        nowhere = [
            f"no sitemap was found on {name}: robots.txt names none, and the usual place {outcome.usual}."
            for name, outcome in self._outcomes.items()
            if outcome.usual and not outcome.named and not outcome.found
        ]
        return said + nowhere

    def begin(self, host: Host, origin: str, robots_url: str) -> None:
        """Look for the sitemaps that a host's robots.txt names, and for the usual one."""
        self._outcomes[host.name] = _Outcome()
        for reference in host.robots.sitemaps if host.robots else ():
            self._name(host, reference, robots_url, "robots.txt")
        usual = f"{origin}/sitemap.xml"
        if not host.unusable and canonical(usual) not in self._known:
            self._queue(Place(host, canonical(usual), ""))

    def start(self, now: float) -> float:
        """Ask for what may be asked for now; returns how long to wait before looking again."""
        while self._line:
            wait = self._manners.may_start(host_of(self._line[0].url), now)
            if wait > 0:
                return min(wait, _PAUSE)
            self._ask(self._line.popleft())
        return _PAUSE

    def answered(self, place: Place, answer: Answer) -> None:
        """Make use of what came; redirects have been followed and repeats made."""
        problem = answer.error or ("" if answer.status == 200 else f"http-{answer.status}")
        found = Sitemap()
        if answer.status == 200 and problem in ("", "too-large"):
            found = read_sitemap(answer.body or b"", answer.url, answer.header("content-type"))
            self._trail.follow_sitemap(found.pages)
            for url in found.sitemaps:
                self._name(place.host, url, answer.url, answer.url)
            problem = "it is too large" if problem else found.problem
        else:
            self.unavailable |= may_pass(answer)
        self._judge(place, answer, problem, usable=bool(found.pages or found.sitemaps or not problem))

    def _judge(self, place: Place, answer: Answer, problem: str, *, usable: bool) -> None:
        read = answer.status == 200 and not answer.error
        reason = "sitemap" if not problem else "sitemap-unreadable" if read else f"sitemap-{problem}"
        self._trail.remark(place.url, reason)
        outcome = self._outcomes[place.host.name]
        outcome.found |= usable
        if not problem:
            return
        if not place.named_by and not usable and (answer.status in _ABSENT or problem in (IS_PAGE, NAMES_NOTHING)):
            outcome.usual = f"{place.url} has none ({problem})"
            return
        outcome.named = True
        who = f", which {place.named_by} names," if place.named_by else ""
        self.unreadable |= read
        if read:
            self._say(f"the sitemap {place.url}{who} could not be read, or not wholly: {problem}.")
        else:
            self._say(f"the sitemap {place.url}{who} could not be had: {problem}.")

    def _name(self, host: Host, reference: str, base: str, named_by: str) -> None:
        self._outcomes[host.name].named = True
        try:
            url = canonical(reference, base)
        except BadURL:
            self._say(f"{named_by} names a sitemap that is no URL: {shown(reference)}.")
            return
        if url not in self._known:
            self._queue(Place(host, url, named_by))

    def _queue(self, place: Place) -> None:
        if len(self._known) >= _MOST_SITEMAPS:
            self._left_out += 1
            return
        self._known.add(place.url)
        host = place.host
        if host.robots is not None and host_of(place.url) == host.name and not host.robots.allows(place.url):
            self._trail.remark(place.url, "robots")
            if place.named_by:
                self._say(f"the sitemap {place.url}, which {place.named_by} names, is forbidden by robots.txt.")
            else:
                self._outcomes[host.name].usual = f"{place.url} is forbidden by robots.txt"
            return
        self._line.append(place)

    def _say(self, problem: str) -> None:
        self._said.append(problem)
