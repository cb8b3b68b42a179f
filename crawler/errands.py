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
from webarc.crawler.sitemap import read_sitemap
from webarc.crawler.trail import Trail
from webarc.errors import BadURL

REDIRECTS = (301, 302, 303, 307, 308)
_OK = 200
_HOPS = 5
_MOST_SITEMAPS = 1_000
_ROBOTS_SIZE = 1024 * 1024
_NAME_SIZE = 1024 * 1024
_SITEMAP_SIZE = 64 * 1024 * 1024


@dataclass(slots=True)
class Errand:
    """A request that is not for a page; a few redirects are followed."""

    host: Host
    finish: Callable[[Host, Answer], None]
    size: int
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
        self._sitemaps: set[str] = set()
        self._rules: dict[str, Robots] = {}
        trail.soft404.ask = self.ask_name

    def ask_robots(self, host: Host, origin: str) -> None:
        """Ask for a host's robots.txt; until it is known, nothing else is asked of that host."""
        host.asking = True
        self._send(f"{origin}/robots.txt", Errand(host, self._robots, _ROBOTS_SIZE))

    def answered(self, errand: Errand, answer: Answer) -> None:
        """Try again, follow a redirect, or make use of the answer."""
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
        errand.finish(errand.host, answer)

    def ask_sitemaps(self, host: Host) -> None:
        """Ask for the sitemaps that robots.txt names, and for the usual one."""
        named = list(host.robots.sitemaps) if host.robots else []
        for url in [*named, f"{self._owned[host.name]}://{host.name}/sitemap.xml"]:
            self._ask_sitemap(host, url)

    def ask_name(self, url: str) -> bool:
        """Ask for a page that nobody has, to know what the host says to that; says whether that may be."""
        rules = self._rules.get(host_of(url))
        if host_of(url) not in self._owned or (rules is not None and not rules.allows(url)):
            return False
        finish = partial(self._name_answered, url)
        # Asked once, and what a redirect leads to is a page of its own and no soft 404.
        tries = self._options.limits.tries
        self._send(url, Errand(Host(host_of(url)), finish, _NAME_SIZE, _HOPS, tries), self._options.wait)
        return True

    def _name_answered(self, url: str, _host: Host, answer: Answer) -> None:
        reading = Reading(None, "")
        if not answer.error and answer.status == _OK:
            body, content_type = answer.body or b"", answer.header("content-type")
            reading = with_words(read(body, url, content_type, follow=False, agent=None), body, url, content_type)
        self._trail.soft404.answered(url, reading.words)

    def _send(self, url: str, errand: Errand, wait: float = 0.0) -> None:
        self._fetcher.submit(Request(canonical(url), None, (), errand, monotonic() + wait, keep=errand.size))

    def _robots(self, host: Host, answer: Answer) -> None:
        status: int | None = None if answer.error and answer.error != "too-large" else answer.status
        if answer.error == "address-refused":
            status = 404  # we, not the server, refuse: let every page of this host say so in the report
        elif status is None or status >= 500:
            host.unusable = answer.error or f"robots-http-{status}"
        host.asking = False
        host.robots = Robots.from_answer(status, answer.body or b"", self._options.user_agent)
        self._rules[host.name] = host.robots
        if status == _OK and host.name in self._owned:
            self._trail.keep_robots(answer.url)
        if host.robots.crawl_delay:
            self._manners.crawl_delay(host.name, host.robots.crawl_delay)
        if self._options.sitemaps and host.name in self._owned:
            self.ask_sitemaps(host)

    def _ask_sitemap(self, host: Host, reference: str) -> None:
        try:
            url = canonical(reference)
        except BadURL:
            return
        forbidden = host.robots is not None and not host.robots.allows(url)
        if url in self._sitemaps or len(self._sitemaps) >= _MOST_SITEMAPS or forbidden:
            return
        self._sitemaps.add(url)
        self._send(url, Errand(host, self._sitemap, _SITEMAP_SIZE))

    def _sitemap(self, host: Host, answer: Answer) -> None:
        if answer.error or answer.status != 200:
            return
        found = read_sitemap(answer.body or b"", answer.url)
        for url in found.sitemaps:
            self._ask_sitemap(host, url)
        self._trail.follow_sitemap(found.pages)
