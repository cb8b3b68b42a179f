"""URLs with a query that nothing links to any more are asked for less and less, and never lost for that."""

from __future__ import annotations

import re

import pytest

from tests.crawls import Webarc
from tests.servers import Site
from tests.sessions import requests_of, session_site
from webarc.archive.reports import UrlRow, read_urls
from webarc.crawler.resting import Rest, carried_mark, rest_of, unlinked_mark


def rows(webarc: Webarc, site: Site) -> dict[str, UrlRow]:
    """What the last crawl's urls.xml says, by path and query."""
    path = next(path for path in webarc.files(site.url()) if path.endswith("urls.xml"))
    data = webarc.git(site.url(), "show", f"main:{path}")
    return {row.url.removeprefix(site.url("")): row for row in read_urls(data)}


def test_a_mark_says_when_a_url_is_asked_for_again() -> None:
    url, marks, asked = "http://h/?a=1", ["", ""], []
    for crawl in range(3, 300):
        rest = rest_of(marks[-1])
        if rest is None or rest.is_due(crawl):
            asked.append(crawl)
            marks.append(unlinked_mark(url, marks[-1], crawl, whole=True))
    assert marks == ["", "", "unlinked", "resting 4", "resting 4 10", "resting 4 100"]
    assert asked == [3, 4, 14, 104]


def test_a_crawl_that_is_not_whole_changes_no_mark() -> None:
    assert unlinked_mark("http://h/?a", "unlinked", 5, whole=False) == "unlinked"
    assert unlinked_mark("http://h/?a", "resting 4", 14, whole=False) == "resting 4"
    assert [carried_mark(mark) for mark in ("", "unlinked", "carried unlinked", "resting 4 10")] == [
        *("carried", "carried unlinked", "carried unlinked", "resting 4 10")
    ]
    assert unlinked_mark("http://h/?a", "carried unlinked", 6, whole=True) == "resting 6"


def test_only_urls_that_can_be_without_number_come_to_rest() -> None:
    assert unlinked_mark("http://h/a", "unlinked", 5, whole=True) == "unlinked"
    assert unlinked_mark("http://h/a;jsessionid=1", "unlinked", 5, whole=True) == "resting 5"


def test_a_lost_count_is_no_reason_to_rest_for_ever() -> None:
    assert Rest(50, 10).is_due(1) and str(Rest(50, 10).asked(1)) == "resting 1"
    assert [rest_of(mark) for mark in ("resting", "resting x", "restless 1", "resting 1 2 3", "unlinked")] == [None] * 5


def test_a_url_comes_to_rest_and_is_linked_again(webarc: Webarc) -> None:
    linked = "<title>x</title><a href='/a?n=1'>a</a><a href=/b>b</a>"
    with Site({"/": linked, "/a": "<title>a</title>", "/b": "<title>b</title>"}) as site:
        webarc.crawl(site.url())
        site.pages["/"] = "<title>nothing</title>"
        for mark in ("unlinked", "resting 3"):
            webarc.crawl(site.url())
            assert rows(webarc, site)["/a?n=1"].mark == mark and rows(webarc, site)["/b"].mark == "unlinked"
        before, _ = rows(webarc, site), site.requests.clear()
        webarc.crawl(site.url())
        assert rows(webarc, site) == before, "an unchanged site leaves an unchanged list"
        assert not site.asked("/a?n=1") and site.asked("/b")
        webarc.crawl("--recheck-resting", site.url())
        assert len(site.asked("/a?n=1")) == 1 and rows(webarc, site) == before
        assert webarc.document(site.url("/a?n=1")) == b"<title>a</title>"
        site.pages["/"] = linked
        webarc.crawl(site.url())
        assert rows(webarc, site)["/a?n=1"].mark == ""


def test_what_rests_is_not_forgotten_by_a_crawl_that_fails_and_is_noticed_gone(webarc: Webarc) -> None:
    with Site({"/": "<a href='/a?n=1'>a</a>", "/a": "<title>a</title>"}) as site:
        webarc.crawl(site.url())
        site.pages["/"] = "<a href=/b>b</a>"
        site.pages["/b"] = "<title>b</title>"
        webarc.crawl(site.url())
        webarc.crawl(site.url())
        site.pages["/b"] = (500, {}, "broken")
        webarc.crawl("--tries", "1", site.url(), code=8)
        assert rows(webarc, site)["/a?n=1"].mark == "resting 3"
        site.pages["/b"] = "<title>b</title>"
        site.pages["/a"] = (404, {}, "gone")
        assert webarc.crawl(site.url())["counts"]["gone"] == 0
        assert webarc.crawl("--recheck-resting", site.url())["counts"]["gone"] == 1
        assert webarc.document(site.url("/a?n=1")) is None
        webarc.crawl(site.url())
        assert "/a?n=1" not in rows(webarc, site)


def test_a_url_that_leads_elsewhere_or_fails_comes_to_rest_all_the_same(webarc: Webarc) -> None:
    with Site({"/": "<a href='/a?n=1'>a</a><a href='/b?n=1'>b</a>", "/a": "<p>a", "/b": "<p>b", "/c": "<p>c"}) as site:
        webarc.crawl(site.url())
        site.pages |= {"/": "<a href=/c>c</a>", "/a": (302, {"Location": "/c"}, ""), "/b": (403, {}, "expired")}
        webarc.crawl(site.url())
        webarc.crawl(site.url())
        found = rows(webarc, site)
        assert [(found[url].status, found[url].mark) for url in ("/a?n=1", "/b?n=1")] == [
            *((302, "resting 3"), (403, "resting 3"))
        ]
        site.requests.clear()
        assert webarc.crawl(site.url())["complete"]
        assert not site.asked("/a?n=1") and not site.asked("/b?n=1")
        assert webarc.document(site.url("/b?n=1")) == b"<p>b"


def test_a_crawl_that_is_cut_short_forgets_no_url_that_waited(webarc: Webarc) -> None:
    leaves = [f"/p{number}" for number in range(9)]
    links = [f"<a href={leaf}>x</a>" for leaf in leaves]
    with Site({"/": "".join(links[:4]), **dict.fromkeys(leaves, "<p>x")}) as site:
        assert webarc.crawl("--max-pages", "6", site.url())["complete"]
        site.pages["/"] = "".join(reversed(links))
        webarc.crawl("--max-pages", "6", site.url(), code=13)
        found = rows(webarc, site)
        assert {"/", *leaves[:4]} <= set(found) and found["/p0"].mark == "carried"


def test_prune_unreached_means_what_rests_too(webarc: Webarc) -> None:
    with Site({"/": "<a href='/a?n=1'>a</a>", "/a": "<title>a</title>"}) as site:
        webarc.crawl(site.url())
        site.pages["/"] = "<title>nothing</title>"
        for _ in range(3):
            webarc.crawl(site.url())
        webarc.crawl("--prune", "unreached", site.url())
        assert webarc.document(site.url("/a?n=1")) is None


def test_a_site_with_session_ids_does_not_grow_without_end(webarc: Webarc) -> None:
    with session_site(pages=4) as site:
        asked = requests_of(webarc, site, 6)
        assert asked[4] <= asked[3] + 1 and max(asked) < 5 * asked[0]
        marks = [row.mark for row in rows(webarc, site).values()]
        assert sum(mark.startswith("resting") for mark in marks) > sum(mark == "unlinked" for mark in marks) > 0


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_large_site_with_session_ids_over_thirty_crawls(webarc: Webarc) -> None:
    with session_site(pages=75) as site:
        asked = requests_of(webarc, site, 30)
        assert max(asked) < 5 * asked[0], asked
        marks = {re.sub("[0-9]+", "N", row.mark) for row in rows(webarc, site).values()}
        assert marks == {"", "unlinked", "resting N", "resting N N"}
