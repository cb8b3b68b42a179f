"""`--dry-run` says what would be fetched and stores nothing."""

from __future__ import annotations

from tests.crawls import Webarc
from tests.servers import Page, Site


def test_it_tells_each_link_of_the_start_page(webarc: Webarc) -> None:
    pages = {"/": "<a href=/a>a</a><a href=/no>n</a><a href=http://other.test/>o</a><img src=/i.png>"}
    with Site({**pages, "/robots.txt": Page("User-agent: *\nDisallow: /no", type="text/plain")}) as site:
        ran = webarc.run("crawl", "--dry-run", "--json", site.url())
        verdicts = {row["url"]: row["verdict"] for row in ran.objects()}
        assert verdicts == {
            site.url("/"): "fetch",
            site.url("/a"): "fetch",
            site.url("/no"): "robots",
            site.url("/i.png"): "fetch",
            "http://other.test/": "scope",
        }
        assert set(site.targets()) == {"/", "/robots.txt"}
        assert not webarc.archive.exists()


def test_a_dead_server_is_told(webarc: Webarc) -> None:
    with Site() as site:
        site.stop()
        ran = webarc.run("crawl", "--dry-run", "--no-robots", site.url())
        assert ran.code == 4 and "refused" in ran.out
