"""Parameters that are taken out of URLs, alone and in crawls."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.crawls import Webarc
from tests.servers import Page, Request, Site, redirect
from tests.sessions import requests_of, session_site
from webarc.archive.query_parameters import DroppedParameters
from webarc.archive.urls import canonical
from webarc.crawler.options import CrawlOptions


@pytest.mark.parametrize(
    ("names", "url", "cleaned"),
    [
        (["sid"], "http://h/a?sid=1", "http://h/a"),
        (["sid"], "http://h/a?sid", "http://h/a"),
        (["sid"], "http://h/a?x=1&sid=2&y=3", "http://h/a?x=1&y=3"),
        (["sid"], "http://h/a?sid=2&x=%7e+&&y", "http://h/a?x=%7e+&&y"),
        (["sid"], "http://h/a?x=1;sid=2;y=3", "http://h/a?x=1;y=3"),
        (["sid"], "http://h/a?sid=1;2&x", "http://h/a?x"),
        (["sid"], "http://h/a?%73id=2", "http://h/a"),
        (["sid"], "http://h/a?SID=2&side=3&x=sid", "http://h/a?SID=2&side=3&x=sid"),
        (["sid"], "http://h/a?", "http://h/a?"),
        (["sid"], "http://h/sid=1/a", "http://h/sid=1/a"),
        (["utm_*"], "http://h/a?utm_source=x&utm=1&utm_medium=y", "http://h/a?utm=1"),
        (["utm_*", "sid"], "http://h/?sid=1&utm_x=2", "http://h/"),
        (["tracking"], "http://h/a?UTM_Source=x&fbclid=y&tracking=1", "http://h/a?tracking=1"),
        (["session"], "http://h/a;jsessionid=0A.b!c?x=1", "http://h/a?x=1"),
        (["session"], "http://h/a;JSESSIONID=1/b;v=2/c?PHPSESSID=3", "http://h/a/b;v=2/c"),
        (["session"], "http://h/a/..;sid=1/b", "http://h/b"),
        (["session"], "http://a;sid=1.example:80/x", "http://a;sid=1.example:80/x"),
        (["*"], "http://h/a?x=1&y=2", "http://h/a"),
        ([], "http://h/a;sid=1?sid=1", "http://h/a;sid=1?sid=1"),
    ],
)
def test_what_is_left(names: list[str], url: str, cleaned: str) -> None:
    assert DroppedParameters(names).cleaned(url) == cleaned


TEXT = st.text("asid=&;?%7+/.x", max_size=30)
PIECES = st.lists(st.tuples(st.sampled_from(["sid", "a1", "b", "", "si"]), st.text("=%2.+x/", max_size=5)))


@given(TEXT, TEXT)
def test_what_is_left_is_canonical_and_nothing_is_left_to_take_out(path: str, query: str) -> None:
    dropped = DroppedParameters(["sid", "a*"])
    cleaned = dropped.cleaned(canonical(f"http://example.org/{path.replace('?', '')}?{query}"))
    assert canonical(cleaned) == cleaned == dropped.cleaned(cleaned)


@given(PIECES)
def test_every_other_byte_of_the_query_stays(pieces: list[tuple[str, str]]) -> None:
    kept = [f"{name}={value}" for name, value in pieces if name not in ("sid", "a1")]
    cleaned = DroppedParameters(["sid", "a*"]).cleaned(f"http://h/?{'&'.join(f'{n}={v}' for n, v in pieces)}")
    assert cleaned == f"http://h/{'?' if kept else ''}{'&'.join(kept)}" or not pieces


def test_the_definition_of_a_crawl_without_the_new_options_stays_what_it_was() -> None:
    starts = ["https://example.org/b", "https://example.org/a"]
    assert CrawlOptions().definition(["https://example.org/"]) == "df00e675c20850c2"
    assert CrawlOptions(max_pages=None).definition(["https://example.org/"]) == "4e2e5adb65e1c066"
    assert CrawlOptions(depth=3, max_pages=1_000_000).definition(starts) == "182667b01f5feb95"
    assert CrawlOptions(recheck_resting=True, max_pages=None).definition(["https://example.org/"]) == "4e2e5adb65e1c066"
    assert CrawlOptions(drop_query=("sid",)).definition(starts) != CrawlOptions().definition(starts)
    one, two = CrawlOptions(drop_query=("a", "b")), CrawlOptions(drop_query=("b", "a"))
    assert one.definition(starts) == two.definition(starts)


def test_a_site_with_session_ids_is_asked_for_no_more_in_later_crawls_than_in_the_first(webarc: Webarc) -> None:
    with session_site(pages=10) as site:
        asked = requests_of(webarc, site, 3, "--drop-query", "sid")
        assert max(asked) == asked[0] <= 14
        assert site.asked("/news?b=1") and not any("sid" in target for target in site.targets())
        assert len(webarc.stored(site.url())) == 11


def test_a_redirect_that_only_adds_what_is_dropped_is_asked_as_written_and_stored_clean(webarc: Webarc) -> None:
    def page(request: Request) -> Page:
        if "sid=" in request.target:
            return Page(f"<title>{request.path}</title><a href='/b?x=1'>b</a><img src='/i.png?sid=9'>")
        return redirect(f"{request.target}{'&' if '?' in request.target else '?'}sid=42", 301)

    pages = {"/": page, "/b": page, "/i.png": Page(b"\x89PNG", type="image/png"), "/away": redirect("/b?sid=7&x=1")}
    with Site({**pages, "/start": "<a href=/>a</a><a href=/away>c</a>"}) as site:
        rows = webarc.report("--drop-query", "sid", site.url("/start"))
        for path in ("/", "/b?x=1"):
            assert rows[site.url(path)]["outcome"] == "stored" and webarc.document(site.url(path))
        assert site.asked("/?sid=42") and site.asked("/b?x=1&sid=42") and site.asked("/i.png")
        assert rows[site.url("/away")]["target"] == site.url("/b?x=1")
        assert not any("sid" in url for url in rows) and not any("sid" in arc for arc in webarc.stored(site.url()))
        assert webarc.crawl("--drop-query", "sid", site.url("/start"))["counts"]["moved"] == 0


def test_a_redirect_that_never_ends_ends(webarc: Webarc) -> None:
    number = itertools.count()
    with Site({"/": "<a href=/a>a</a>", "/a": lambda _: redirect(f"/a?sid={next(number)}")}) as site:
        webarc.report("--drop-query", "sid", "--max-redirect", "5", site.url(), code=8)
        assert len([target for target in site.targets() if target.startswith("/a")]) <= 7


def test_robots_rules_count_for_what_is_asked_for(webarc: Webarc) -> None:
    robots = Page("User-agent: *\nDisallow: /*sid=", type="text/plain")
    with Site({"/": "<a href=/a?sid=1>a</a><a href=/b>b</a>", "/a": "a", "/b": redirect("/b?sid=2")}) as site:
        site.pages["/robots.txt"] = robots
        rows = webarc.report("--drop-query", "sid", site.url())
        assert rows[site.url("/a")]["outcome"] == "stored"
        assert rows[site.url("/b")]["reason"] == "robots" and not site.asked("/b?sid=2")


def test_what_is_in_the_archive_is_found_as_it_was_written(webarc: Webarc) -> None:
    with Site({"/": "<a href='/a?sid=1'>a</a>", "/a": "<title>a</title>"}) as site:
        webarc.crawl(site.url())
        webarc.crawl("--drop-query", "session", site.url())
        assert webarc.stored(site.url()) == {"%_", "a%_3Fsid=1", "a"}
        for url in (site.url("/a?sid=1"), site.url("/a")):
            assert webarc.run("get", url).out == "<title>a</title>"


def test_links_with_what_was_dropped_lead_to_what_was_archived(webarc: Webarc, tmp_path: Path) -> None:
    """Exact spellings first; pages, parts, redirects and parts of other hosts."""
    with Site({}) as site, Site({}, host="127.0.0.2") as other:
        site.pages |= {
            "/old": "<title>old</title><a href='/a?sid=0'>a</a>",
            "/": f"<a href='/a?sid=0'>0</a><a href='/a?sid=1&x=2#f'>1</a><a href='/go?sid=2'>2</a>"
            f"<img src='/i.png?sid=3'><img src='{other.url('/o.png')}?sid=4'><img src='{other.url('/o.png')}?sid=5'>",
            "/a": lambda request: f"<title>{request.target}</title>",
            "/go": redirect("/a?sid=9&x=2"),
            "/i.png": Page(b"\x89PNG", type="image/png"),
        }
        other.pages["/o.png"] = Page(b"\x89PNG", type="image/png")
        webarc.crawl("--depth", "1", site.url("/old"))
        options = ("--drop-query", "session", "--allow-private", "--requisites-from-anywhere")
        webarc.crawl(*options, site.url("/"))
        titles = {"/a?sid=0": "/a?sid=0", "/a?sid=1&x=2": "/a?x=2", "/go?sid=2": "/a?x=2"}
        for url, title in titles.items():
            assert webarc.run("get", site.url(url)).out == f"<title>{title}</title>", url
        assert webarc.run("log", "--json", site.url("/a?y=1&sid=1")).code == 2
        assert [row["number"] for row in webarc.run("log", "--json", site.url("/a?x=2&sid=8")).objects()] == [1]
        ran = webarc.run("forget", site.url("/a?x=2&sid=8"), "--reason", "why", "--yes")
        assert ran.code == 2 and f"the nearest is {site.url('/a?x=2')}" in ran.err
        ran = webarc.run("checkout", "--links", "relative", site.domain, tmp_path / "site")
        assert ran.code == 0, ran.err
        index = (tmp_path / "site" / "index.html").read_text()
        assert "http://" not in index and index.count("_other/") == 2
        for name in re.findall(r"(?:href|src)=['\"]?([^'\" >#]+)", index):
            assert (tmp_path / "site" / unquote(name)).is_file(), name


def test_a_dry_run_shows_urls_as_they_would_be_asked_for(webarc: Webarc) -> None:
    with Site({"/": "<a href='/a?sid=1&x=2'>a</a><a href='/a?x=2'>a</a><img src=/i?sid=3>"}) as site:
        ran = webarc.run("crawl", "--dry-run", "--json", "--drop-query", "sid", site.url("/?sid=1"))
        assert [row["url"] for row in ran.objects()] == [site.url("/"), site.url("/a?x=2"), site.url("/i")]


def test_wget_cannot_do_it(webarc: Webarc) -> None:
    with Site({"/": "a"}) as site:
        ran = webarc.run("crawl", "--engine", "wget", "--drop-query", "sid", site.url())
        assert ran.code == 2 and "--drop-query" in ran.err + ran.out


@pytest.mark.slow
def test_a_large_site_with_session_ids_over_ten_crawls(webarc: Webarc) -> None:
    with session_site(pages=75) as site:
        asked = requests_of(webarc, site, 10, "--drop-query", "sid")
        assert max(asked) == asked[0]
        assert len(webarc.stored(site.url())) == 76
