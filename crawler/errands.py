"""What a crawl asks for on its own account: robots.txt of every host, and sitemaps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from time import monotonic

from webarc.archive.urls import canonical, host_of
from webarc.crawler.exchange import Answer, Request
from webarc.crawler.fetcher import Fetcher
from webarc.crawler.hosts import Host
from webarc.crawler.manners import Manners
from webarc.crawler.options import CrawlOptions
from webarc.crawler.reading import Reading, read, with_words
from webarc.crawler.retry import delay
from webarc.crawler.robots import Robots
from webarc.crawler.sitemap_search import Place, SitemapSearch
from webarc.crawler.trail import Trail
from webarc.errors import BadURL

REDIRECTS = (301, 302, 303, 307, 308)
_OK = 200
_HOPS = 5
_ROBOTS_SIZE = 1024 * 1024
_NAME_SIZE = 1024 * 1024
_SITEMAP_SIZE = 64 * 1024 * 1024


@dataclass(slots=True)
class Errand:
    """A request that is not for a page; a few redirects are followed."""

    finish: Callable[[Answer], None]
    size: int
    polite: bool = False
    """Whether the host's manners count it; for robots.txt everything else waits anyway."""
    hops: int = 0
    attempt: int = 1


class Errands:
    """Fetches robots.txt and sitemaps and tells the crawl what they say."""

    def __init__(
        self, options: CrawlOptions, fetcher: Fetcher, manners: Manners, trail: Trail, owned: dict[str, str]
    ) -> None:
        self._options = options
        self._fetcher = fetcher
        self._manners = manners
        self._trail = trail
        self._owned = owned
        self._sitemaps = SitemapSearch(manners, trail, self._ask_sitemap)
        self._rules: dict[str, Robots] = {}
        self._names: list[str] = []
        trail.soft404.ask = self.ask_name

    @property
    def waiting(self) -> bool:
        """Whether there is something still to be asked for."""
        return self._sitemaps.waiting or bool(self._names)

    @property
    def unavailable(self) -> bool:
        """Whether a sitemap could not be had this time, so that pages may be missing."""
        return self._sitemaps.unavailable

    @property
    def unreadable(self) -> bool:
        """Whether a sitemap could not be read, so that pages that it lists may seem to be listed nowhere."""
        return self._sitemaps.unreadable

    @property
    def problems(self) -> list[str]:
        """What the user should know, each in a sentence."""
        if self._options.sitemaps and self._options.engine == "wget":
            return ["wget reads no sitemaps; crawl without --engine to have them read."]
        return self._sitemaps.problems

    def start(self, now: float) -> float:
        """Ask for what may be asked for now; returns how long to wait before looking again."""
        if not self._names:
            return self._sitemaps.start(now)
        waits = {url: self._manners.may_start(host_of(url), now) for url in self._names}
        for url in [url for url, wait in waits.items() if wait <= 0]:
            self._names.remove(url)
            # Asked once, and what a redirect leads to is a page of its own and no soft 404.
            tries, finish = self._options.limits.tries, partial(self._name_answered, url)
            self._send(url, Errand(finish, _NAME_SIZE, polite=True, hops=_HOPS, attempt=tries))
        return min([self._sitemaps.start(now), *(wait for wait in waits.values() if wait > 0)])

    def wants_robots(self, host: Host) -> bool:
        """Whether a host's robots.txt is to be asked for: to obey it, or for the sitemaps that it names."""
        return self._options.robots or (self._options.sitemaps and host.name in self._owned)

    def ask_robots(self, host: Host, origin: str) -> None:
        """Ask for a host's robots.txt; until it is known, nothing else is asked of that host."""
        host.asking = True
        self._send(f"{origin}/robots.txt", Errand(partial(self._robots, host), _ROBOTS_SIZE))

    def answered(self, errand: Errand, answer: Answer) -> None:
        """Try again, follow a redirect, or make use of the answer."""
        if errand.polite:
            self._manners.finished(host_of(answer.url))
        wait = delay(answer, errand.attempt, self._options.limits)
        if wait is not None:
            errand.attempt += 1
            self._send(answer.url, errand, wait)
            return
        try:
            target = answer.redirect() if not answer.error and errand.hops < _HOPS else None
        except BadURL:
            target = None
        if target:
            errand.hops += 1
            self._send(target, errand)
            return
        errand.finish(answer)

    def ask_name(self, url: str) -> bool:
        """Ask soon for a page that nobody has, to know what the host says to that; says whether that may be."""
        rules = self._rules.get(host_of(url))
        if host_of(url) not in self._owned or (rules is not None and not rules.allows(url)):
            return False
        self._names.append(url)
        return True

    def _name_answered(self, url: str, answer: Answer) -> None:
        reading = Reading(None, "")
        if not answer.error and answer.status == _OK:
            body, content_type = answer.body or b"", answer.header("content-type")
            reading = with_words(read(body, url, content_type, follow=False, agent=None), body, url, content_type)
        self._trail.soft404.answered(url, reading.words)

    def _send(self, url: str, errand: Errand, wait: float = 0.0) -> None:
        url = canonical(url)
        if errand.polite:
            self._manners.started(host_of(url))
        self._fetcher.submit(Request(url, None, (), errand, monotonic() + wait, keep=errand.size, canonical=True))

    def _robots(self, host: Host, answer: Answer) -> None:
        status: int | None = None if answer.error and answer.error != "too-large" else answer.status
        obeyed = self._options.robots
        if answer.error == "address-refused":
            status = 404  # we, not the server, refuse: let every page of this host say so in the report
        elif obeyed and (status is None or status >= 500):
            host.unusable = answer.error or f"robots-http-{status}"
        host.asking = False
        rules = Robots.from_answer(status, answer.body or b"", self._options.user_agent)
        host.robots = self._rules[host.name] = rules if obeyed else rules.ignored()
        if status == _OK and host.name in self._owned:
            self._trail.keep_robots(answer.url)
        if host.robots.crawl_delay:
            self._manners.crawl_delay(host.name, host.robots.crawl_delay)
        if self._options.sitemaps and host.name in self._owned:
            self._sitemaps.begin(host, f"{self._owned[host.name]}://{host.name}", answer.url)

    def _ask_sitemap(self, place: Place) -> None:
        self._send(place.url, Errand(partial(self._sitemaps.answered, place), _SITEMAP_SIZE, polite=True))
