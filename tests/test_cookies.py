"""Cookies go back to the site that set them, and to no other."""

from __future__ import annotations

from pathlib import Path

import pycurl
import pytest

from tests.servers import Page, Site
from webarc.crawler.cookies import MOST, CookieJar, read_netscape
from webarc.crawler.fetcher import Answer, Fetcher, FetchOptions, Request
from webarc.errors import StorageProblem, UsageProblem


def ask(fetcher: Fetcher, *urls: str) -> list[Answer]:
    answers = []
    for url in urls:
        fetcher.submit(Request(url))
        while fetcher.active:
            answers += fetcher.collect(5)
    return answers


def setter(cookie: str) -> Page:
    return Page("set", headers={"Set-Cookie": cookie})


def cookies_seen(proxy: Site) -> dict[str, str]:
    return {request.target: request.headers.get("cookie", "") for request in proxy.requests}


@pytest.mark.parametrize(
    ("host", "domain", "neighbour"),
    [
        ("a.example.com", "com", "b.example.com"),
        ("a.example.com", ".com", "other.com"),
        ("a.example.com", "com.", "other.com"),
        ("a.example.co.uk", "co.uk", "b.co.uk"),
        ("a.github.io", "github.io", "b.github.io"),
        ("a.example.com", "other.com", "other.com"),
        ("a.intranet", "intranet", "b.intranet"),
    ],
)
def test_a_cookie_for_a_public_suffix_or_a_stranger_is_ignored(host: str, domain: str, neighbour: str) -> None:
    with Site({}, otherwise="x") as proxy, Fetcher(options=FetchOptions(proxy=proxy.url(""))) as fetcher:
        proxy.pages[f"http://{host}/set"] = setter(f"stolen=1; Domain={domain}")
        ask(fetcher, f"http://{host}/set", f"http://{neighbour}/", f"http://{host}/")
        assert set(cookies_seen(proxy).values()) == {""}


def test_a_cookie_stays_with_its_site() -> None:
    with Site({}, otherwise="x") as proxy, Fetcher(options=FetchOptions(proxy=proxy.url(""))) as fetcher:
        proxy.pages["http://a.example.com/set"] = setter("wide=1; Domain=example.com")
        proxy.pages["http://b.example.com/set"] = setter("narrow=1; Path=/in")
        ask(fetcher, "http://a.example.com/set", "http://b.example.com/set")
        later = ("http://b.example.com/", "http://b.example.com/in/x", "http://notexample.com/", "http://example.org/")
        ask(fetcher, *later)
        assert [cookies_seen(proxy)[url] for url in later] == ["wide=1", "narrow=1; wide=1", "", ""]


def test_cookies_of_a_file_are_sent(tmp_path: Path) -> None:
    file = tmp_path / "cookies.txt"
    file.write_text(
        "# Netscape HTTP Cookie File\r\n\r\n"
        ".example.com\tTRUE\t/\tFALSE\t4102444800\tsession\tabc\r\n"
        "#HttpOnly_b.example.com\tFALSE\t/\tFALSE\t0\thidden\t1\r\n"
        "example.com\tFALSE\t/\tTRUE\t0\tsecure\tx\r\n"
        "example.com\tFALSE\t/\tFALSE\t1000\texpired\tx\r\n"
        "example.com\tFALSE\t/\tFALSE\t0\tempty\t\r\n"
    )
    with Site({}, otherwise="x") as proxy:
        with Fetcher(options=FetchOptions(proxy=proxy.url(""), cookie_file=file)) as fetcher:
            ask(fetcher, "http://b.example.com/", "http://example.com/", "http://other.com/")
        seen = list(cookies_seen(proxy).values())
    assert [set(text.split("; ")) for text in seen] == [{"session=abc", "hidden=1"}, {"session=abc", "empty="}, {""}]


@pytest.mark.parametrize(
    "line",
    [
        "not a cookie",
        "Set-Cookie: a=b; Domain=com",
        "h\tTRUE\t/\tFALSE\tsoon\tn\tv",
        "h\tTRUE\tpath\tFALSE\t0\tn\tv",
        "h\tTRUE\t/\tFALSE\t0\tn\tv\tmore",
        "h\tTRUE\t/\tFALSE\t0\tn\tv\x01",
    ],
)
def test_a_bad_line_of_the_file_is_named(tmp_path: Path, line: str) -> None:
    file = tmp_path / "cookies.txt"
    file.write_text(f"# fine\nh\tTRUE\t/\tFALSE\t0\tn\tv\n{line}\n")
    with pytest.raises(UsageProblem, match="line 3"):
        read_netscape(file)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(StorageProblem, match="nowhere"):
        read_netscape(tmp_path / "nowhere")


def test_a_flood_of_cookies_is_bounded() -> None:
    jar = CookieJar()
    curl = pycurl.Curl()
    jar.join(curl)
    most = 0
    for number in range(3 * MOST):
        curl.setopt(pycurl.COOKIELIST, f"example.com\tFALSE\t/\tFALSE\t0\tc{number}\t1")
        jar.count(curl, "http://example.com/", [f"c{number}=1"])
        if number % 500 == 0:
            most = max(most, len(curl.getinfo(pycurl.INFO_COOKIELIST)))
    assert 1000 < most <= 1.1 * MOST
    curl.close()
    jar.close()
