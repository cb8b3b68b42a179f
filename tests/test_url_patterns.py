"""The patterns of URLs that sites make up without end."""

from __future__ import annotations

import random
import re
from base64 import b64encode, urlsafe_b64encode
from urllib.parse import quote
from uuid import UUID

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
        ("http://h/events/month/2026-11/", ["/events/{date}/"]),
        ("http://h/calendar/week/2026-W47", ["/calendar/{date}"]),
        ("http://h/calendar/2026/11/month/", ["/calendar/{date}/"]),
        ("http://h/calendar/2026-11", ["/calendar/{date}"]),
        ("http://h/calendar/month/2026-11?mini=2026-12", ["/calendar/{date}?{date}"]),
        ("http://h/cal/month?d=2026-11", ["/cal/{view}?{date}"]),
        ("http://h/cal/day.php?d=2026-11-17&v=list", ["/cal/day.php?d=2026-11-17&v=*", "/cal/{view}.php?{date}"]),
        ("http://h/events/list/?tribe-bar-date=2026-11-01", ["/events/{view}/?{date}"]),
        ("http://h/event/choir?on=2026-11-03", ["/event/choir?{date}"]),
        ("http://h/event/choir?on=20261103T1900", ["/event/choir?{date}"]),
        ("http://h/list?on=26-1", ["/list?on=*"]),
        ("http://h/list?on=20269903", ["/list?on=*"]),
        ("http://h/list/month", []),
        ("http://h/a/x/x/x/x/x/y.html", ["/.../"]),
        ("http://h/a/b/a/y.html", ["/.../"]),
        ("http://h/a/b/a", []),
        ("http://h/1/2/1/y.html", []),
        ("http://h/a/x1/x2/x3/x4/x5/", ["/a/x#/.../"]),
        ("http://h/a/1/2/3/4/5/6/", ["/a/#/.../"]),
        ("http://h/a/b/c/d/e/f/g/h/i/j/k/l/m", ["/a/.../"]),
        (f"http://h/a?{'x=1&' * 20}", ["/a?/.../"]),
        ("http://h/a/x/y/x/y/x/y/x/y/x/y/", ["/.../"]),
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
        ("http://h/calendar/week/2026-W47", 2026),
        ("http://h/c?w=2026-W47", 2026),
        ("http://h/events/20310417/", 2031),
        ("http://h/issue?date=20310417", 2031),
        ("http://h/issue?date=17.4.2031", 2031),
        ("http://h/issue?date=4%2F17%2F2031", 2031),
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


PAGE = "http://h/page?id=17"


@pytest.mark.parametrize(
    "other",
    [
        "<img src=/x.png alt='a red house'>",
        "<p title='a red house'></p>",
        "<meta name=description content='a red house'>",
        "<meta property=og:title content='a red house'>",
        "<script>window.data = {'text': 'a red house'}</script>",
        '<script type=application/json>{"name": "Anna"}</script>',
        "<div data-page='{&quot;name&quot;: &quot;Anna&quot;}'></div>",
        "<svg viewBox='0 0 9 9'><path d='M17 0L3 9'/></svg>",
        "<img src='data:image/png;base64,AAAA'>",
        "<input value=Anna>",
    ],
)
def test_what_is_not_in_the_text_makes_pages_differ(other: str) -> None:
    assert said(f"<p>text{other}", PAGE) != said("<p>text", PAGE)
    numbers = re.sub(r"(?<=[ =])[0-9]", "8", other)
    assert "svg" in other or said(f"<p>text{numbers}{other}", PAGE) == said(f"<p>text{other}", PAGE)


def test_what_differs_whenever_a_page_is_sent_does_not_count() -> None:
    rng = random.Random(5)

    def page() -> str:
        code, raw = rng.randbytes(24), rng.randbytes(24)
        return (
            f"<meta name=csrf-token content={b64encode(raw).decode()}><p>text <input type=hidden value={code.hex()}>"
            f"<script nonce={code.hex()}>a.b = {{'id': '{UUID(bytes=raw[:16])}', 't': {rng.random()}, "
            f"'k': '{b64encode(code).decode()}', 'at': 'Mon, {rng.randrange(28)} Nov 2026', 'u': '/x/{code.hex()}'}}"
            f"</script><i data-key={urlsafe_b64encode(raw).decode()} data-day='{rng.choice(('Mon', 'Tue'))}'></i>"
            f"<a title='{rng.randrange(28)}. November' href=/>x</a><svg id={code.hex()}><path d='M1 2'/></svg>"
        )

    assert len({said(page(), PAGE) for _ in range(200)}) == 1


def leads(url: str, *links: str) -> str:
    return fingerprints(b"<p>text", "utf-8", url, links, html=True)[2]


def test_links_out_of_the_pattern_count_wherever_they_lead() -> None:
    plain = leads(PAGE, "http://h/")
    assert leads(PAGE, "http://h/", "http://h/page?id=18", f"{PAGE}&print=1") == plain
    assert len({leads(PAGE, "http://h/", f"http://site{number}.example/") for number in range(5)} | {plain}) == 6
    assert leads(PAGE, "http://h/", "http://images.example/17.jpg") != leads(
        PAGE, "http://h/", "http://images.example/18.jpg"
    )


def test_to_share_a_page_or_to_note_its_date_leads_to_the_same_from_all_pages() -> None:
    def shared(day: int) -> str:
        url = f"http://h/cal?date=2026-11-{day}"
        address = quote(url, "")
        return leads(
            url,
            f"https://share.example/?u={address}",
            f"https://dates.example/add?dates=202611{day}T100000Z&name=x",
            f"https://dates.example/feed?url=webcal%3A%2F%2Fh%2Fall&name=November%202026,%20{day}",
            f"http://h/cal/day?d=2026-11-{day}",
            f"http://h/choir?on=2026-11-{day}",
        )

    assert shared(11) == shared(12)
    first, second = (leads(PAGE, f"https://dates.example/add?dates=202611{day}T100000Z") for day in (11, 12))
    assert first != second
