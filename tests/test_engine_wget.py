"""`--engine wget`: the same pipeline fed by the external tool."""

from __future__ import annotations

import shutil

import pytest

from tests.crawls import Webarc
from tests.servers import Page, Raw, Request, Site, redirect

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


def test_a_body_cut_short_does_not_replace_the_good_copy(webarc: Webarc) -> None:
    with Site(PAGES) as site:
        webarc.crawl("--engine", "wget", site.url())
        site.pages["/new"] = Raw(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 5000\r\n\r\ncut")
        rows = webarc.report("--engine", "wget", "--tries", "1", site.url(), code=4)
        assert rows[site.url("/new")]["reason"] == "truncated"
        assert webarc.document(site.url("/new")) == b"<title>New</title>"


def test_limits_and_credentials_count_for_wget_too(webarc: Webarc) -> None:
    def guarded(request: Request) -> Page:
        if "authorization" in request.headers:
            return Page("<title>in</title><a href=/big>b</a>")
        return Page("", 401, {"WWW-Authenticate": "Basic realm=x"})

    with Site({"/": guarded, "/big": Page(b"x" * 50_000, type="text/plain")}) as site:
        options = ("--engine", "wget", "--http-user", "anna", "--http-password", "hunter2", "--max-size", "10K")
        rows = webarc.report(*options, site.url())
        assert rows[site.url("/big")]["reason"] == "too-large"
        assert webarc.stored(site.url()) == {"%_"}
