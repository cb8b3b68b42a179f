"""A dry run: what a crawl would fetch, as far as the start pages and their robots.txt tell; nothing is stored."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import chain, repeat

from webarc.archive.query_parameters import DroppedParameters
from webarc.archive.urls import canonical, host_of
from webarc.crawler.addresses import hostname, refused_host
from webarc.crawler.errands import REDIRECTS
from webarc.crawler.exchange import Answer, Request
from webarc.crawler.fetcher import Fetcher
from webarc.crawler.fetching import address_policy, make_fetcher
from webarc.crawler.job import Job
from webarc.crawler.limits import origin_of
from webarc.crawler.reading import LARGEST_READ, read
from webarc.crawler.robots import Robots, product_token
from webarc.crawler.scope import Scope
from webarc.errors import BadURL, NetworkProblem, ServerAnswer, worst


def rehearse(jobs: list[Job], say: Callable[[str], None], *, as_json: bool) -> int:
    """Say for every start page what would be fetched and what not; returns the exit code."""
    codes = []
    for job in jobs:
        for url, role, verdict in _Rehearsal(job).lines():
            codes.append(_code(role, verdict))
            line = {"url": url, "role": role, "verdict": verdict}
            say(json.dumps(line) if as_json else f"{verdict:<16} {role:<9} {url}")
    return worst(codes)


def _code(role: str, verdict: str) -> int:
    if role != "start" or verdict == "fetch":
        return 0
    answered = verdict.startswith(("http-", "robots"))
    return ServerAnswer.exit_code if answered else NetworkProblem.exit_code


class _Rehearsal:
    """One job, as far as its start pages."""

    def __init__(self, job: Job) -> None:
        self._job = job
        options = job.options
        self._scope = Scope(
            options.scope,
            list(job.starts),
            no_parent=options.no_parent,
            include=options.include,
            exclude=options.exclude,
            requisites_from_anywhere=options.requisites_from_anywhere,
        )
        self._dropped = DroppedParameters(options.drop_query)
        self._robots: dict[str, Robots] = {}
        self._unreachable: dict[str, str] = {}
        self._policy = address_policy(job)

    def lines(self) -> Iterator[tuple[str, str, str]]:
        """(URL, role, verdict) of the start pages and of what they name."""
        seen: set[str] = set()
        with make_fetcher(self._job) as fetcher:
            for url in self._job.starts:
                yield from self._start(fetcher, url, seen)

    def _start(self, fetcher: Fetcher, url: str, seen: set[str]) -> Iterator[tuple[str, str, str]]:
        seen.add(url)
        if not self._allowed(fetcher, url):
            yield url, "start", self._unreachable.get(host_of(url), "robots")
            return
        answer = _fetch(fetcher, url)
        if answer.error or answer.status >= 400:
            yield url, "start", answer.error or f"http-{answer.status}"
            return
        yield url, "start", "fetch"
        if answer.status in REDIRECTS:
            target = _target(answer, self._dropped)
            yield target, "redirect", "address-refused" if self._is_private(target) else "fetch"
            return
        options = self._job.options
        agent = product_token(options.user_agent) if options.robots else None
        kind, link = answer.header("content-type"), answer.header("link")
        reading = read(answer.body or b"", url, kind, follow=True, agent=agent, link=link)
        for link in self._dropped.cleaned_all(reading.unfollowed):
            if link not in seen:
                seen.add(link)
                yield link, "link", "nofollow"
        kinds = ((reading.links, False), (reading.requisites, True))
        named = chain.from_iterable(zip(self._dropped.cleaned_all(urls), repeat(part)) for urls, part in kinds)
        for link, requisite in named:
            if link not in seen:
                seen.add(link)
                yield link, "requisite" if requisite else "link", self._verdict(fetcher, link, requisite)

    def _verdict(self, fetcher: Fetcher, url: str, requisite: bool) -> str:
        options = self._job.options
        if requisite and not options.page_requisites:
            return "requisite"
        if not requisite and options.depth == 0:
            return "depth"
        if host_of(url) in self._job.owned_elsewhere:
            return "owned-elsewhere"
        reason = self._scope.verdict(url, "requisite" if requisite else "link")
        if reason:
            return reason
        return "fetch" if self._allowed(fetcher, url) else "robots"

    def _is_private(self, target: str) -> bool:
        try:
            return refused_host(hostname(canonical(target)), self._policy)
        except BadURL:
            return False

    def _allowed(self, fetcher: Fetcher, url: str) -> bool:
        if not self._job.options.robots:
            return True
        host = host_of(url)
        if host not in self._robots:
            answer = _fetch(fetcher, f"{origin_of(url)}/robots.txt")
            status = None if answer.error else answer.status
            if status is None or status >= 500:
                self._unreachable[host] = answer.error or f"robots-http-{status}"
            self._robots[host] = Robots.from_answer(status, answer.body or b"", self._job.options.user_agent)
        return self._robots[host].allows(url)


def _fetch(fetcher: Fetcher, url: str) -> Answer:
    fetcher.submit(Request(url, keep=LARGEST_READ))
    while True:
        for answer in fetcher.collect(1.0):
            return answer


def _target(answer: Answer, dropped: DroppedParameters) -> str:
    try:
        return dropped.cleaned(answer.redirect() or "")
    except BadURL:
        return answer.header("location")
