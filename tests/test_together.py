"""Many processes at once in the same archive: no error, no lost version, and everything in order afterwards."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from itertools import count, cycle

import pytest

from tests.crawls import Ran, Webarc
from tests.servers import Request, Site

LEAVES = [f"/p{number}" for number in range(6)]


class Restless(Site):
    """A site whose pages are never the same twice; remembers every text that it served."""

    def __init__(self, host: str) -> None:
        super().__init__({}, host, otherwise=self.serve)
        self.served: set[str] = set()
        self._numbers = count(1)

    def serve(self, request: Request) -> str | tuple[int, dict[str, str], str]:
        """A new text each time."""
        if request.path == "/":
            return "".join(f"<a href={leaf}>x</a>" for leaf in LEAVES)
        if request.path not in LEAVES:
            return 404, {}, "no"
        text = f"<title>{request.path}</title><p>number {next(self._numbers)}</p>"
        self.served.add(text)
        return text


def loop(
    deadline: float, commands: Iterator[tuple[str, ...]], webarc: Webarc, failures: list[tuple[object, ...]]
) -> int:
    """Run one command after the other until the time is over; returns how many."""
    done = 0
    while time.monotonic() < deadline:
        arguments = next(commands)
        ran: Ran = webarc.run(*arguments)
        if ran.code or "Traceback" in ran.err:
            failures.append((arguments, ran.code, ran.out, ran.err))
        done += 1
    return done


def stored_texts(webarc: Webarc, site: Site) -> set[str]:
    """Every page text in the whole history of a domain."""
    listed = webarc.git(site.url(), "rev-list", "--objects", "main").decode().splitlines()
    blobs = [line.split(" ")[0] for line in listed if line.endswith("/data.html")]
    return {webarc.git(site.url(), "cat-file", "blob", blob).decode() for blob in blobs}


def check(webarc: Webarc, seconds: float) -> None:
    """Four processes crawl two domains, four read, all the time."""
    failures: list[tuple[object, ...]] = []
    with ExitStack() as stack:
        sites = [stack.enter_context(Restless(host)) for host in ("127.0.0.1", "127.0.0.2")]
        urls = [site.url() for site in sites]
        for url in urls:
            webarc.crawl(url)
        page, domain = f"{urls[0]}p1", sites[1].domain
        workers: list[Iterator[tuple[str, ...]]] = [
            cycle([("crawl", urls[0])]),
            cycle([("crawl", urls[1])]),
            cycle([("crawl", *urls), ("crawl", "--jobs", "2", *reversed(urls))]),
            cycle([("crawl", *reversed(urls))]),
            cycle([("log", page), ("get", page), ("get", page, "--version", "1")]),
            cycle([("list",), ("list", domain), ("status",)]),
            cycle([("changes", domain), ("diff", page), ("when", domain, "number 2")]),
            cycle([("verify",), ("compact",), ("db-recover",)]),
        ]
        deadline = time.monotonic() + seconds
        done = run_all([partial(loop, deadline, each, webarc, failures) for each in workers])
        assert failures == []
        assert all(done), done
        for site in sites:
            assert site.served <= stored_texts(webarc, site)
            newest = webarc.run("log", "--json", site.domain, "-n", "1")
            assert newest.code == 0
    verified = webarc.run("verify")
    assert verified.code == 0, verified.out + verified.err


def run_all(jobs: list[Callable[[], int]]) -> list[int]:
    """Each in a thread of its own, which waits for its processes."""
    results = [0] * len(jobs)

    def work(number: int) -> None:
        results[number] = jobs[number]()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(len(jobs))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def test_eight_processes_for_a_moment(webarc: Webarc) -> None:
    check(webarc, 6)


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_eight_processes_for_a_minute(webarc: Webarc) -> None:
    check(webarc, 60)
