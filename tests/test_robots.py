"""What robots.txt and X-Robots-Tag allow."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webarc.crawler.robots import LARGEST, Robots, nofollow_header, product_token

DATA = Path(__file__).parent / "data"
AGENT = "webarc/1.0 (+https://example.org/bot)"


def rules(text: str, agent: str = AGENT) -> Robots:
    return Robots.from_answer(200, text.encode(), agent)


@pytest.mark.parametrize(
    ("status", "allowed"),
    [
        (404, True),
        (403, True),
        (401, True),
        (429, True),
        (301, True),
        (500, False),
        (503, False),
        (None, False),
        (0, False),
    ],
)
def test_what_a_missing_file_means(status: int | None, allowed: bool) -> None:
    robots = Robots.from_answer(status, b"User-agent: *\nDisallow: /\n", AGENT)
    assert robots.allows("http://h.test/x") is allowed
    assert robots.crawl_delay is None
    assert robots.sitemaps == []


@pytest.mark.parametrize(
    ("text", "url", "allowed"),
    [
        ("", "/x", True),
        ("User-agent: *\nDisallow:", "/x", True),
        ("User-agent: *\nDisallow: /", "/x", False),
        ("User-agent: *\nDisallow: /", "/robots.txt", True),
        ("User-agent: *\nDisallow: /a\nAllow: /a/b", "/a/b/c", True),
        ("User-agent: *\nDisallow: /a\nAllow: /a/b", "/a/c", False),
        ("User-agent: *\nDisallow: /*.php$", "/x.php", False),
        ("User-agent: *\nDisallow: /*.php$", "/x.php5", True),
        ("User-agent: *\nDisallow: /caf%c3%a9", "/caf%C3%A9", False),
        ("User-agent: *\nDisallow: /x?a=", "/x?a=1", False),
    ],
)
def test_rules_for_everyone(text: str, url: str, allowed: bool) -> None:
    assert rules(text).allows(f"http://h.test{url}") is allowed


@pytest.mark.parametrize(
    ("line", "ours"),
    [
        ("User-agent: webarc", True),
        ("USER-AGENT:WebArc/9.9", True),
        ("User-agent: webarc # us", True),
        ("User agent: webarc*", True),
        ("User-agent: web", False),
        ("User-agent: webarc-images", False),
        ("User-agent: bot", False),
        ("User-agent: example.org", False),
        ("User-agent:", False),
    ],
)
def test_which_group_is_ours(line: str, ours: bool) -> None:
    robots = rules(f"User-agent: *\nDisallow: /all\n\n{line}\nDisallow: /ours\n")
    assert robots.allows("http://h.test/ours") is not ours
    assert robots.allows("http://h.test/all") is ours


def test_groups_of_one_agent_are_joined() -> None:
    robots = rules(
        "User-agent: webarc\nDisallow: /a\n\nUser-agent: x\nDisallow: /b\n\nUser-agent: webarc\nDisallow: /c"
    )
    assert [robots.allows(f"http://h.test/{name}") for name in "abc"] == [False, True, False]


def test_a_messy_file() -> None:
    robots = Robots.from_answer(200, (DATA / "robots-messy.txt").read_bytes(), AGENT)
    assert not robots.allows("http://h.test/ours")
    assert robots.allows("http://h.test/all")
    assert robots.crawl_delay == 2.5
    assert robots.sitemaps == ["https://h.test/s.xml", "/relative.xml"]
    assert not Robots.from_answer(200, (DATA / "robots-messy.txt").read_bytes(), "else").allows("http://h.test/all")


@pytest.mark.parametrize(
    ("value", "delay"), [("1.5", 1.5), ("0", None), ("-3", None), ("inf", None), ("nan", None), ("x", None)]
)
def test_crawl_delay(value: str, delay: float | None) -> None:
    assert rules(f"User-agent: *\nCrawl-delay: {value}").crawl_delay == delay


def test_only_the_first_500_kib_count() -> None:
    early = b"User-agent: *\nDisallow: /early\n"
    filler = b"# " + b"x" * 97 + b"\n"
    body = early + filler * (50 * 1024 * 1024 // len(filler)) + b"Disallow: /late\n"
    began = perf_counter()
    robots = Robots.from_answer(200, body, AGENT)
    assert perf_counter() - began < 2
    assert not robots.allows("http://h.test/early")
    assert robots.allows("http://h.test/late")


def test_a_rule_cut_in_two_is_no_rule() -> None:
    head = b"User-agent: *\n"
    body = head + b"#" * (LARGEST - len(head) - 13) + b"\nDisallow: /abc\n"
    assert body[:LARGEST].endswith(b"Disallow: /a")
    assert Robots.from_answer(200, body, AGENT).allows("http://h.test/abc")


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=300), st.text(max_size=20))
def test_any_file_is_read(body: bytes, agent: str) -> None:
    assert Robots.from_answer(200, b"User-agent: *\nDisallow: /" + body, agent).allows("http://h.test/x") in (
        True,
        False,
    )


@pytest.mark.parametrize(
    ("user_agent", "token"),
    [
        ("webarc", "webarc"),
        ("WebArc/1.0 (+https://x)", "webarc"),
        ("Mozilla/5.0 (compatible; Foo-Bot/2.1; +http://x)", "foo-bot"),
        ("", ""),
    ],
)
def test_product_tokens(user_agent: str, token: str) -> None:
    assert product_token(user_agent) == token


@pytest.mark.parametrize(
    ("values", "nofollow"),
    [
        ([], False),
        (["nofollow"], True),
        (["noindex, NoFollow"], True),
        (["none"], True),
        (["noindex", "nofollow"], True),
        (["index"], False),
        (["otherbot: nofollow"], False),
        (["WebArc: nofollow"], True),
        (["otherbot: noindex, nofollow"], False),
        (["otherbot: noindex, webarc: nofollow"], True),
        (["unavailable_after: 25 Jun 2030 15:00:00 PST, nofollow"], True),
        (["max-snippet: -1, nofollow"], True),
    ],
)
def test_x_robots_tag(values: list[str], nofollow: bool) -> None:
    assert nofollow_header(values, AGENT) is nofollow
