"""The patterns of URLs that sites make up without end."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webarc.archive.urls import canonical
from webarc.crawler.fingerprints import fingerprints
from webarc.crawler.url_patterns import patterns_of, year_of


@pytest.mark.parametrize(
    ("url", "patterns"),
    [
        ("http://h/viewtopic.php?f=3&t=17", ["/viewtopic.php?f=*&t=17", "/viewtopic.php?f=3&t=*"]),
        ("http://h/q?17", ["/q?*"]),
        ("http://h/q?a=", []),
        ("http://h/cal?month=5", ["/cal?{date}"]),
        ("http://h/cal?x=1&year=2031&month=5", ["/cal?x=*&year=2031&month=5", "/cal?x=1&{date}"]),
        (
            "http://h/cal?x=1&startDate=2031-05-01&view=week",
            ["/cal?x=*&startDate=2031-05-01&view=week", "/cal?x=1&{date}"],
        ),
        ("http://h/2031/04/", ["/{date}/"]),
        ("http://h/2031/04/17/", ["/{date}/"]),
        ("http://h/news/2031/", ["/news/{date}/"]),
        ("http://h/17/04/2031/x.html", ["/{date}/x.html"]),
        ("http://h/april/2031/", ["/{date}/"]),
        ("http://h/events/2031-04-17.html", ["/events/{date}.html"]),
        ("http://h/events/20310417/", ["/events/{date}/"]),
        ("http://h/a/x/x/x/x/x/y.html", ["/a/x/.../"]),
        ("http://h/a/1/2/3/4/5/6/", ["/a/#/.../"]),
        ("http://h/a/b/c/d/e/f/g/h/i/j/k/l/m", ["/a/.../"]),
        (f"http://h/a?{'x=1&' * 20}", ["/a?/.../"]),
        ("http://h/a/x/y/x/y/x/y/x/y/x/y/", ["/a/x/y/.../"]),
        *(
            (f"http://127.0.0.1:8080{path}", [])
            for path in ("/", "/p17", "/item/12345/", "/12/", "/a/b/c/d/e/f/g/h.html")
        ),
    ],
)
def test_patterns(url: str, patterns: list[str]) -> None:
    assert patterns_of(url) == [f"http://h{pattern}" for pattern in patterns]


@pytest.mark.parametrize(
    ("url", "year"),
    [
        ("http://h/2031/04/", 2031),
        ("http://h/04/2031", 2031),
        ("http://h/e/2031-04", 2031),
        ("http://h/c?month=300", None),
        ("http://h/c?month=3&year=2031", 2031),
        ("http://h/c?d=2031-04-05", 2031),
        ("http://h/p", None),
    ],
)
def test_the_year_of_a_url(url: str, year: int | None) -> None:
    assert year_of(url) == year


@given(st.text("a1/?&=;x.-2030%", max_size=60))
def test_any_url_has_few_patterns(path: str) -> None:
    url = canonical(f"http://example.org/{path}")
    assert len(patterns_of(url)) <= 15 and (year_of(url) or 0) >= 0


def said(text: str, url: str = "http://h/x", *, html: bool = True) -> str:
    return fingerprints(text.encode(), "utf-8", url, html=html)[0]


def test_pages_that_differ_in_numbers_and_dates_say_the_same() -> None:
    pages = [
        "<title>April 2031</title><script>x=1</script><p>Mon, 3rd<p>nothing to do",
        "<title>Mai 2032</title><script>x=22</script><p>Di., 13.<p>nothing to do<p>nothing to do",
        "<title>août 33</title><p>lundi</p><p>nothing  to   do",
        "<title>2031/4/5土曜日</title><p>星期二</p>nothing to do",
    ]
    assert len({said(page) for page in pages}) == 1
    assert said(pages[0]) != said("<p>something to do") != ""
    assert said("<p>17</p>") == said("") == said("x" * 2_000_000) == ""


def test_an_error_page_that_repeats_the_url_says_the_same() -> None:
    first = fingerprints(b"<p>/gone/page.html was not found", "utf-8", "http://h/gone/page.html", html=True)
    second = fingerprints(b"<p>/3f9a was not found", "utf-8", "http://h/3f9a", html=True)
    assert first[1] == second[1] != "" and first[0] != second[0]
