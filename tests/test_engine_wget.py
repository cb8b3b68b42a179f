"""`--engine wget`: the same pipeline fed by the external tool."""

from __future__ import annotations

import shutil

import pytest

from tests.crawls import Webarc
from tests.servers import Page, Site, redirect

PAGES = {
    "/": "<title>Home</title><a href=/a>a</a><img src=/i.png>",
    "/a": "<title>A</title><a href=/old>o</a><a href=/missing>m</a>",
    "/old": redirect("/new", 301),
    "/new": "<title>New</title>",
    "/i.png": Page(b"\x89PNG\r\n\x1a\n" + b"\0" * 40, type="image/png"),
}


@pytest.fixture(autouse=True)
def _wget() -> None:
    if shutil.which("wget") is None:
        pytest.skip("the program wget is not installed, so --engine wget cannot be tried")


def test_wget_fetches_and_webarc_keeps(webarc: Webarc) -> None:
    with Site(PAGES) as site:
        rows = webarc.report("--engine", "wget", "--depth", "inf", site.url())
        assert {"%_", "a", "new", "i.png"} <= webarc.stored(site.url())
        assert webarc.document(site.url("/a")) == b"<title>A</title><a href=/old>o</a><a href=/missing>m</a>"
        assert rows[site.url("/missing")]["reason"] == "http-404"
        assert "wget" not in site.asked("/a")[0].headers["user-agent"].lower()


def test_a_second_crawl_with_wget_stores_nothing_new(webarc: Webarc) -> None:
    with Site(PAGES) as site:
        webarc.crawl("--engine", "wget", site.url())
        counts = webarc.crawl("--engine", "wget", site.url())["counts"]
        assert counts["new"] == counts["changed"] == 0


def test_a_dead_server(webarc: Webarc) -> None:
    with Site(PAGES) as site:
        webarc.crawl("--engine", "wget", site.url())
        before = webarc.stored(site.url())
        site.stop()
        webarc.crawl("--engine", "wget", "--tries", "1", site.url(), code=4)
        assert webarc.stored(site.url()) == before
