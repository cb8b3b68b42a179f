"""The fetch side of a crawl: asks for what waits, within manners, robots and limits, until nothing waits."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable
from itertools import count
from pathlib import Path
from time import monotonic

from webarc.archive.layout import arc_of, domain_folder
from webarc.archive.urls import host_of
from webarc.crawler.capture import PART
from webarc.crawler.control import Control
from webarc.crawler.errands import Errand, Errands
from webarc.crawler.exchange import Answer, Request
from webarc.crawler.fetcher import Fetcher
from webarc.crawler.frontier import HOP, Frontier, Item
from webarc.crawler.hoard import Hoard
from webarc.crawler.hosts import Host, Hosts
from webarc.crawler.job import Progress
from webarc.crawler.judgement import Judgement
from webarc.crawler.manners import Manners
from webarc.crawler.options import CrawlOptions
from webarc.crawler.reading import LARGEST_READ
from webarc.crawler.retry import delay
from webarc.crawler.trail import Trail
from webarc.heartbeat import beat
from webarc.sql.rows import CurrentRow

_LOOK_AHEAD = 256
_PAUSE = 0.5
_HOP_SIZE = 16 * 1024
_PATIENCE = 2.0
_LAST_READINGS = 0.5
_CROWDED = 0.005


class Harvest:
    """Keeps the fetcher busy with one crawl's URLs."""

    def __init__(
        self,
        domain: str,
        options: CrawlOptions,
        frontier: Frontier,
        fetcher: Fetcher,
        manners: Manners,
        trail: Trail,
        errands: Errands,
        control: Control,
        staging: Path,
        current: Callable[[str, list[str]], dict[str, CurrentRow]],
    ) -> None:
        self._domain = domain
        self._options = options
        self._frontier = frontier
        self._fetcher = fetcher
        self._manners = manners
        self._trail = trail
        self._errands = errands
        self._control = control
        self._staging = staging
        self._current = current
        self._hosts = Hosts()
        self._later: list[tuple[float, int, Item]] = []
        self._order = count()
        self._level: int | None = 0
        self._began = monotonic()
        self.judgement: Judgement | None = None
        self.hoard: Hoard | None = None
        self.reason = ""

    def run(self) -> None:
        """Ask for everything that waits, until nothing does or a limit says stop."""
        while not self._must_stop():
            pause = self._fill()
            undecided = self._trail.settle()
            idle = not undecided and not self._busy()
            if idle and not self._deeper():
                break
            if undecided:
                beat()
            self._take_in(0.0 if undecided or idle else pause)
            self._control.progress(self.progress)
        if self.reason:
            self._drain()

    def _take_in(self, pause: float) -> None:
        """Wait for answers and for what has been read, and make use of both."""
        judgement, room = self._judge(), self._judge().has_room
        answers: list[Answer] = []
        if self._fetcher.active:
            answers = self._fetcher.collect(pause)
        else:
            judgement.wait(pause)
        for answer in answers:
            self._handle(answer)
        active = self._fetcher.active
        heard = judgement.listen(at_once=not room or not (active or self._hosts.ready))
        # Transfers end by their own limits, and a host's pause is planned; waiting for the other processes is no step.
        planned = room and (self._later or self._hosts.ready or self._errands.waiting)
        if active or answers or heard or planned:
            beat()

    def ask(self, url: str, kind: str) -> None:
        """Queue a URL at the start of the crawl or at its end."""
        self._frontier.add(url, 0, kind)

    def ask_again(self, items: Iterable[Item]) -> None:
        """Ask for URLs a second time, unconditionally."""
        for item in items:
            item.kind, item.attempt = "again", 1
            self.push(item)
        self.run()

    def push(self, item: Item) -> None:
        """Let a URL wait for its host."""
        self._hosts.push(host_of(item.url), item)

    def progress(self) -> Progress:
        """Where the crawl stands."""
        counts = self._judge().counts
        queue = self._frontier.waiting + self._hosts.ready + len(self._later)
        state = "fetching" if self._trail.open else "asking again"
        known = self._frontier.known
        return Progress(self._domain, counts["fetched"], counts["bytes"], queue, counts["failed"], known, state)

    @property
    def errands(self) -> Errands:
        """What the crawl asked for on its own account."""
        return self._errands

    def _judge(self) -> Judgement:
        assert self.judgement is not None, "a harvest needs someone to judge its answers"
        return self.judgement

    def _busy(self) -> bool:
        busy = self._fetcher.active or self._hosts.ready or self._later or self._errands.waiting
        return bool(busy or self._judge().pending)

    def _must_stop(self) -> bool:
        if not self.reason:
            self.reason = self._limit()
        return bool(self.reason)

    def _limit(self) -> str:
        options, counts = self._options, self._judge().counts
        if self._control.check():
            return self._control.reason
        if options.max_time is not None and monotonic() - self._began >= options.max_time:
            return "max-time"
        if options.quota is not None and counts["bytes"] >= options.quota:
            return "quota"
        more = self._frontier.waiting or self._hosts.ready or self._later
        if options.max_pages is not None and counts["fetched"] >= options.max_pages and more:
            return "max-pages"
        return ""

    def _drain(self) -> None:
        """After a stop: what is under way may still end well within a moment, the rest is dropped."""
        until = monotonic() + _PATIENCE
        while self._fetcher.active and monotonic() < until:
            beat()
            for answer in self._fetcher.collect(0.1):
                if not answer.error:
                    self._handle(answer)
            self._judge().listen()
        self._judge().settle(until + _LAST_READINGS)

    def _deeper(self) -> bool:
        """Move on to the next level of links once this one is wholly done, so that depths are shortest paths.

        Without a limit on the depth, only start URLs come before the rest: they may bring hosts along.
        """
        self._trail.end_level()
        if self._options.depth is None:
            self._level = None
            return self._frontier.waiting > 0
        assert self._level is not None
        lowest = self._frontier.lowest()
        if lowest is None:
            return False
        self._level = max(lowest, self._level)
        return True

    def _fill(self) -> float:
        """Start what may be started; returns how long to wait for answers before looking again."""
        now = monotonic()
        pause = self._errands.start(now)
        while self._later and self._later[0][0] <= now:
            self.push(heapq.heappop(self._later)[2])
        if self._later:
            pause = min(pause, self._later[0][0] - now)
        if self._frontier.waiting and self._hosts.ready < _LOOK_AHEAD // 2:
            self._top_up()
        if not self._judge().has_room:
            return _CROWDED
        for host in self._hosts.busy():
            pause = min(pause, self._start_on(host, now))
        return max(pause, 0.0)

    def _top_up(self) -> None:
        items = self._frontier.take(_LOOK_AHEAD, self._level)
        by_domain: dict[str, dict[str, Item]] = {}
        for item in items:
            by_domain.setdefault(host_of(item.url), {})[arc_of(item.url)] = item
            self.push(item)
        for domain, arcs in by_domain.items():
            for arc, row in self._current(domain, list(arcs)).items():
                arcs[arc].current = row

    def _start_on(self, host: Host, now: float) -> float:
        if host.robots is None and self._errands.wants_robots(host):
            if not host.asking:
                self._errands.ask_robots(host, _origin(host.ready[0].url))
            return _PAUSE
        while host.ready and not self._at_page_limit():
            # What is started fits, as there was room a moment ago; what was fetched before comes all at once.
            if self.hoard and not self._judge().has_room:
                return _CROWDED
            wait = self._manners.may_start(host.name, now)
            if wait > 0:
                return wait
            self._request(host, self._hosts.pop(host))
        return _PAUSE

    def _at_page_limit(self) -> bool:
        most = self._options.max_pages
        return most is not None and self._judge().counts["fetched"] + self._fetcher.active >= most

    def _request(self, host: Host, item: Item) -> None:
        if host.unusable:
            self._judge().fail(item, host.unusable)
            return
        url = item.asked or item.url
        if host.robots is not None and not host.robots.allows(url):
            self._frontier.finish(item, "skipped", error="robots")
            return
        if item.kind == "link" and self._trail.traps.refuses(item.url):
            self._frontier.finish(item, "skipped", error="trap")
            return
        item.cookies = self._fetcher.cookies(item.url)
        if item.kind.startswith(HOP):
            request = Request(url, None, (), item, keep=_HOP_SIZE, canonical=True)
        else:
            target = f"{self._staging}/{domain_folder(host.name)}/{arc_of(item.url)}/{PART}"
            conditions = self._conditions(item)
            request = Request(url, target, conditions, item, keep=LARGEST_READ, canonical=True, lazy=True)
        known = self.hoard.answer(request) if self.hoard and request.target and item.kind != "again" else None
        if known is not None:
            self._judge().judge(item, known)
            return
        self._manners.started(host.name)
        self._fetcher.submit(request)

    def _conditions(self, item: Item) -> tuple[tuple[str, str], ...]:
        row = item.current
        if row is None or item.kind == "again":
            return ()
        validators = (("If-None-Match", row.etag), ("If-Modified-Since", row.last_modified))
        return tuple((name, value) for name, value in validators if value)

    def _handle(self, answer: Answer) -> None:
        tag = answer.request.tag
        if isinstance(tag, Errand):
            self._errands.answered(tag, answer)
            return
        host = host_of(tag.url)
        self._manners.finished(host)
        if not self._retried(tag, answer, host):
            self._judge().judge(tag, answer)

    def _retried(self, item: Item, answer: Answer, host: str) -> bool:
        wait = delay(answer, item.attempt, self._options.limits)
        if wait is None or self.reason:
            return False
        if answer.retry_after:
            self._manners.pause(host, monotonic() + wait)
        item.attempt += 1
        heapq.heappush(self._later, (monotonic() + wait, next(self._order), item))
        return True


def _origin(url: str) -> str:
    return url[: url.index("/", url.index("//") + 2)]
