"""Several domains in one run: never more instances than allowed, and each domain has one owner."""

from __future__ import annotations

import json
import sqlite3
from contextlib import ExitStack
from pathlib import Path

from tests.crawls import Webarc
from tests.servers import Site


def four_sites(stack: ExitStack, delay: float = 0.02) -> list[Site]:
    """Four hosts that all link to each other."""
    sites = [stack.enter_context(Site(host=f"127.0.0.{number}", delay=delay)) for number in range(1, 5)]
    for site in sites:
        others = "".join(
            f"<a href={other.url('/p1')}>o</a><img src={other.url('/i')}>" for other in sites if other is not site
        )
        site.pages.update({f"/p{number}": f"<title>{number}</title>" for number in range(1, 11)})
        site.pages["/"] = others + "".join(f"<a href=/p{number}>p</a>" for number in range(1, 11))
    return sites


def test_four_start_urls_on_four_hosts_with_two_jobs(webarc: Webarc, tmp_path: Path) -> None:
    with ExitStack() as stack:
        sites = four_sites(stack)
        urls = tmp_path / "urls.txt"
        urls.write_text("\n".join(site.url() for site in sites))
        report = tmp_path / "report.json"
        ran = webarc.run("crawl", "--depth", "3", "--jobs", "2", "--scope", "any", "--json", "--report", report, urls)
        assert ran.code == 0, (ran.out, ran.err)
        assert sorted(result["domain"] for result in ran.objects()) == sorted(site.domain for site in sites)
        rows = {row["url"]: row for crawl in json.loads(report.read_text())["crawls"] for row in crawl["urls"]}
        assert {row["reason"] for url, row in rows.items() if url.endswith("/i")} == {"owned-elsewhere"}
        for site in sites:
            assert len(webarc.commits(site.url())) == 1
            assert len(webarc.stored(site.url())) == 11
            agents = {request.connection for request in site.requests}
            assert len(agents) <= 4, "one instance, four connections at most"
        check_at_most_two_at_once(sites)
        index = sqlite3.connect(webarc.archive / ".webarc" / "index.db")
        assert index.execute("SELECT count(*) FROM version").fetchone() == (44,)


def check_at_most_two_at_once(sites: list[Site]) -> None:
    spans = [(min(r.time for r in site.requests), max(r.time for r in site.requests)) for site in sites]
    for start, _ in spans:
        assert sum(begin <= start <= end for begin, end in spans) <= 2


def test_start_urls_of_one_domain_are_one_crawl(webarc: Webarc) -> None:
    with Site({"/a": "<title>a</title>", "/b": "<title>b</title>"}) as site:
        result = webarc.crawl("--depth", "0", site.url("/a"), site.url("/b"))
        assert result["counts"]["new"] == 2 and len(webarc.commits(site.url())) == 1


def test_two_crawls_of_one_domain_both_land(webarc: Webarc) -> None:
    with Site({"/": "<a href=/a>a</a>", "/a": "<title>a</title>"}, delay=0.2) as site:
        one, two = (
            webarc.start("crawl", "--json", site.url()),
            webarc.start("crawl", "--json", "--depth", "0", site.url()),
        )
        results = [process.communicate(timeout=60) for process in (one, two)]
        assert (one.returncode, two.returncode) == (0, 0), results
        tags = webarc.commits(site.url())
        assert len(tags) == len(set(tags)) == 2


def test_a_run_repeats_until_it_is_stopped(webarc: Webarc) -> None:
    with Site({"/": lambda request: f"<title>{request.time}</title>"}) as site:
        process = webarc.start("crawl", "--json", "--interval", "1s", site.url())
        lines = [process.stdout.readline() for _ in range(2)] if process.stdout else []
        process.terminate()
        process.wait(30)
        assert all(json.loads(line)["counts"]["fetched"] == 1 for line in lines)
        assert len(webarc.commits(site.url())) >= 2


def test_a_dead_host_does_not_disturb_the_others(webarc: Webarc, tmp_path: Path) -> None:
    with Site({"/": "<title>alive</title>"}) as alive, Site(host="127.0.0.2") as dead:
        dead.stop()
        ran = webarc.run("crawl", "--json", "--tries", "1", alive.url(), dead.url())
        assert ran.code == 4
        assert webarc.stored(alive.url()) == {"%_"}
        assert not webarc.folder(dead.url()).exists()
