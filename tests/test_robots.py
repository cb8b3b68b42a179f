"""What robots.txt and X-Robots-Tag allow."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.crawls import Webarc
from tests.servers import Page, Site
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


# The vectors of Google's public tests (robotstxt, robots_test.cc) in short, and those of RFC 9309, 2.2: which of the
# targets may be asked for by webarc.
GOOGLE = "user-agent: webarc\ndisallow: /\nallow: "
VECTORS = [
    ("foo: webarc\nbar: /\n", "/x", ""),
    ("user-agent webarc\ndisallow /x\n", "/y", "/x"),
    ("user agent webarc\ndissallow: /x\ndisalow: /a\ndiasllow: /b\ndisallaw: /c", "/y", "/x /a /b /c"),
    ("USER-AGENT: webarc\nALLOW: /x/\nDISALLOW: /\n", "/x/y", "/a/b"),
    ("uSeR-aGeNt\t:\twebarc\naLLoW :/x/\ndIsAlLoW\t:/", "/x/y", "/a/b"),
    ("allow: /foo/\nuser-agent: other\ndisallow: /\n\nuser-agent: webarc\ndisallow: /foo\n", "/z", "/foo/b"),
    # Groups of one agent are one group, whatever lies between; rules of others do not count.
    (
        "user-agent: webarc\ndisallow: /\nallow: /x/\nuser-agent: b\nallow: /y/\nuser-agent: webarc\nallow: /z/",
        "/x/a /z/a",
        "/y/a",
    ),
    ("user-agent: a\nuser-agent: WEBARC/2.1\ndisallow: /x", "/y", "/x"),
    ("user-agent: webarc images\ndisallow: /x", "/y", "/x"),
    ("user-agent: *\ndisallow: /\nuser-agent: webarc\ndisallow:", "/x", ""),
    ("user-agent: * and all others\ndisallow: /x", "/y", "/x"),
    ("user-agent: *\tdisallow: /x", "/x", ""),
    ("user-agent: *\ndisallow: /\n\nuser-agent: webarc\ncrawl-delay: 1", "/x", ""),
    # Other records end no group; those without an agent, or without a separator, mean nothing.
    ("user-agent: other\nsitemap: /s\nuser-agent: *\ndisallow: /", "", "/x"),
    ("user-agent: webarc\ninvalid-unknown-line: x\nuser-agent: *\ndisallow: /", "", "/x"),
    ("user-agent: webarc\ncontent-signal: ai-train=no\nuser-agent: other\ndisallow: /", "", "/x"),
    ("user-agent: webarc\ncrawl-delay: 3\nuser-agent: other\ndisallow: /", "", "/x"),
    (
        "user-agent: webarc\nnoindex: /\nrequest-rate: 1/5\nvisit-time: 0600-0845\nhost: h\nuser-agent: b\ndisallow: /",
        "",
        "/x",
    ),
    ("user-agent: webarc\ndisallow\nallow robots to read this\n<html>\nuser-agent: b\ndisallow: /", "", "/x"),
    ("user-agent: webarc\nclean-param: a /x\n# c\n\n\ndisallow: /x", "/y", "/x"),
    ("user-agent: webarc\ndisallow:\nuser-agent: other\ndisallow: /", "/x", ""),
    # Line ends, marks at the beginning, and what is neither.
    ("user-agent: webarc\rdisallow: /x\r\ndisallow: /y\n\rdisallow: /z", "/a", "/x /y /z"),
    ("\ufeff\ufeffuser-agent: webarc\ndisallow: /x", "/y", "/x"),
    (
        "user-agent: webarc\ndisallow: /a\x0cdisallow: /x\ndisallow: /b\u2028allow: /b",
        "/x /a",
        "/b%E2%80%A8allow:%20/b",
    ),
    ("\xa0user-agent: webarc\u3000\n\xa0disallow: /x\xa0", "/y", "/x"),
    # The longest rule wins, allow wins among equals, case counts.
    ("user-agent: webarc\ndisallow: /x/page.html\nallow: /x/", "/x/a", "/x/page.html"),
    ("user-agent: webarc\ndisallow: /x\nallow: /x/", "/x/", "/x"),
    ("user-agent: webarc\ndisallow: /x\nallow: /x\ndisallow: /Y", "/x /y", "/Y"),
    ("user-agent: webarc\nallow: /page\ndisallow: /*.html", "/page", "/page.html"),
    ("user-agent: webarc\nallow: /x/page.\ndisallow: /*.html", "/x/page.html", "/x/y.html"),
    ("user-agent: webarc\ndisallow: x\nallow: y", "/x", ""),
    # Special characters.
    (GOOGLE + "/fish*", "/fish /fish.html /fishheads/a?id=1", "/Fish.asp /catfish /?id=fish"),
    (GOOGLE + "/fish/", "/fish/ /fish/?id=1", "/fish /fish.html"),
    (GOOGLE + "/*.php", "/a.php /f/a.php?p /index?f=a.php/", "/php/ /windows.PHP"),
    (GOOGLE + "/*.php$", "/a.php", "/a.php?p /a.php/ /a.php5 /aaaphpaaa"),
    (GOOGLE + "/fish*.php", "/fishheads/catfish.php?p", "/Fish.PHP"),
    (GOOGLE + "/$", "/", "/page.html"),
    (GOOGLE + "/dir/index.html", "/dir/ /dir/index.html", "/dir/index.htm"),
    ("user-agent: webarc\ndisallow: /foo/quz#qux\nallow: /", "/foo/bar", "/foo/quz"),
    ("user-agent: webarc\ndisallow: /foo/bar$\nallow: /foo/bar/qux", "/foo/bar/ /foo/bar/qux", "/foo/bar"),
    # Percent-encoding, as the table of RFC 9309 has it.
    (GOOGLE + "/foo/bar?baz=https://foo.bar", "/foo/bar?baz=https://foo.bar", "/foo/bar?baz"),
    (GOOGLE + "/foo/\u30c4", "/foo/%E3%83%84", "/foo/x"),
    (GOOGLE + "/foo/%E3%83%84", "/foo/%E3%83%84", "/foo/%E3%83"),
    (GOOGLE + "/foo/%62%61%7A", "/foo/baz", "/foo/ba"),
    (GOOGLE + "/file-with-a-%2A.html", "/file-with-a-*.html", "/file-with-a-x.html"),
    (GOOGLE + "/foo-%24", "/foo-$", "/foo-"),
    (GOOGLE + "/a%2fb", "/a%2Fb", "/a/b"),
]


@pytest.mark.parametrize(("text", "allowed", "forbidden"), VECTORS)
def test_conformance(text: str, allowed: str, forbidden: str) -> None:
    robots = rules(text)
    assert {target: robots.allows(f"http://h.test{target}") for target in (allowed + " " + forbidden).split()} == {
        **dict.fromkeys(allowed.split(), True),
        **dict.fromkeys(forbidden.split(), False),
    }


@pytest.mark.parametrize(
    ("text", "delay"),
    [
        ("user-agent: webarc\nuser-agent: b\ndisallow: /\ncrawl-delay: 4", 4),
        ("user-agent: webarc\ncrawl-delay: 10\nuser-agent: b\ncrawl-delay: 5\ndisallow: /x", 10),
        ("user-agent: b\ncrawl-delay: 5\nuser-agent: webarc\ndisallow: /x", None),
        ("user-agent: b\nnoindex: /\nuser-agent: webarc\ncrawl delay 5", 5),
        ("user-agent: *\ncrawl-delay: 5\nuser-agent: webarc\ndisallow: /x", None),
        ("user-agent: *\ncrawl-delay: 5\nuser-agent: b\ndisallow: /x", 5),
    ],
)
def test_whom_a_crawl_delay_is_for(text: str, delay: float | None) -> None:
    assert rules(text).crawl_delay == delay


def test_part_of_a_byte_order_mark_is_not_part_of_the_first_line() -> None:
    for mark in (b"\xef", b"\xef\xbb", b"\xef\xbb\xbf"):
        assert not Robots.from_answer(200, mark + b"user-agent: *\ndisallow: /", AGENT).allows("http://h.test/x")


def test_a_file_that_is_not_obeyed_still_names_sitemaps() -> None:
    robots = rules("user-agent: *\ndisallow: /\ncrawl-delay: 9\nsite-map: /a # b\nSitemaps /c").ignored()
    assert robots.allows("http://h.test/x")
    assert (robots.crawl_delay, robots.sitemaps) == (None, ["/a", "/c"])


def test_unknown_lines_do_not_open_a_closed_site(webarc: Webarc) -> None:
    others = "Crawl-delay: 0.1\nContent-Signal: search=yes\nNoindex: /x\n"
    robots = f"User-agent: webarc\n{others}User-agent: other\nDisallow: /closed\n"
    pages = {"/": "<a href=/closed>c</a><a href=/open>o</a>", "/closed": "c", "/open": "o"}
    with Site({**pages, "/robots.txt": Page(robots, type="text/plain")}) as site:
        rows = webarc.report(site.url())
        assert rows[site.url("/closed")]["reason"] == "robots"
        assert rows[site.url("/open")]["outcome"] == "stored"
        assert "/closed" not in site.targets()


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
