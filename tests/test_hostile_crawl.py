"""One site with everything that a server can do wrong: the crawl ends, the rest is stored, the report names each."""

from __future__ import annotations

import gzip
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.crawls import Webarc
from tests.disks import small_file_system
from tests.servers import Page, Raw, Request, Site, redirect

HTML = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
BOMB = gzip.compress(b"\0" * 30_000_000)
DEEP = "<div>" * 100_000 + "<a href=/from-the-deep>x</a>"


def endless(_: Request) -> Raw:
    """A body that never ends."""
    return Raw((HTML + b"\r\n" if number == 0 else b"x" * 65_536 for number in range(100_000)), pause=0.0)


TRAPS = {
    "/long": (Raw(HTML + b"Content-Length: 900\r\n\r\nshort"), "truncated"),
    "/two-lengths": (Raw(HTML + b"Content-Length: 30,42\r\n\r\n" + b"y" * 42), "bad-response"),
    "/unfinished": (Raw(HTML + b"Transfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n"), "truncated"),
    "/huge-chunk": (Raw(HTML + b"Transfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFF4\r\nab"), ""),
    "/slow": (Raw([HTML + b"Content-Length: 9\r\n\r\n", *[b"s"] * 9], pause=2.0), "timeout"),
    "/endless": (endless, "too-large"),
    "/bomb": (Page(BOMB, headers={"Content-Encoding": "gzip"}), "too-large"),
    "/torn": (Page(BOMB[:50], headers={"Content-Encoding": "gzip"}), "bad-encoding"),
    "/stacked": (Page("z", headers={"Content-Encoding": ", ".join(["gzip"] * 20)}), "bad-encoding"),
    "/nowhere": (Page("moved", 301), "http-301"),
    "/to-file": (redirect("file:///etc/passwd"), "bad-redirect"),
    "/to-script": (redirect("javascript:alert(1)"), "bad-redirect"),
    "/headers": (Page("h", headers=[(f"X-{number}", "v") for number in range(10_000)]), "header-too-large"),
    "/forbidden": (Page("no", 403), "http-403"),
}
GOOD = {
    "/short": Raw(HTML + b"Content-Length: 4\r\n\r\ngood and more than was announced"),
    "/packed": Page(gzip.compress(b"<title>packed</title>"), headers={"Content-Encoding": "gzip"}),
    "/many": "<a " * 8_000,
    "/deep": DEEP,
    "/from-the-deep": "<title>deep</title>",
    "/based": '<base href="http://"><a href=/based-link>x</a>',
    "/based-link": "<title>based</title>",
    "/charset": b"\xef\xbb\xbf<meta charset=latin1><title>\xc3\xa9</title>",
}
QUICK = ("--tries", "1", "--timeout", "3s", "--deadline", "6s", "--max-size", "5M", "--depth", "inf")


@pytest.fixture
def site() -> Site:
    """A page that links to all of them."""
    links = "".join(f"<a href={path}>x</a>" for path in (*TRAPS, *GOOD))
    injected = '<a href="/x&#13;&#10;Injected: yes">y</a><a href="..%2f..%2fetc%2fpasswd">z</a>'
    pages = {path: route for path, (route, _) in TRAPS.items()}
    return Site({"/": links + injected, **pages, **GOOD})


def test_each_trap_is_named_and_the_rest_is_stored(webarc: Webarc, site: Site) -> None:
    with site:
        began = time.monotonic()
        rows = webarc.report(*QUICK, site.url(), code=4)
        assert time.monotonic() - began < 60
        for path, (_, reason) in TRAPS.items():
            row = rows[site.url(path)]
            assert row["outcome"] == ("skipped" if reason == "too-large" else "failed"), row
            assert row["reason"] == reason or not reason, row
        stored = webarc.stored(site.url())
        assert stored == {"%_", *(path[1:] for path in GOOD)}
        assert webarc.document(site.url("/short")) == b"good"
        assert webarc.document(site.url("/packed")) == b"<title>packed</title>"
        assert all("injected" not in request.headers for request in site.requests)
        assert "/..%2F..%2Fetc%2Fpasswd" in site.targets()


def test_a_redirect_to_the_metadata_service_is_not_followed(webarc: Webarc) -> None:
    pages = {"/": "<a href=/m>m</a><a href=/n>n</a>", "/m": redirect("http://169.254.169.254/latest/meta-data/")}
    with Site({**pages, "/n": redirect("http://2130706433:1/")}) as site:
        rows = webarc.report("--scope", "any", site.url())
        assert rows["http://169.254.169.254/latest/meta-data/"]["reason"] == "address-refused"
        # 2130706433 is 127.0.0.1, which the start URL names, so it may be asked; nobody listens on that port.
        assert rows["http://127.0.0.1:1/"]["reason"] == "refused"


def test_a_robots_file_that_cannot_be_had_forbids_everything(webarc: Webarc) -> None:
    with Site({"/": "<title>x</title>", "/robots.txt": Page("busy", 503)}) as site:
        rows = webarc.report("--tries", "1", site.url(), code=8)
        assert rows[site.url()]["reason"] == "robots-http-503"
        assert "/" not in site.targets()


def test_a_page_that_asks_for_patience_gets_it(webarc: Webarc) -> None:
    answers = iter([Page("wait", 503, {"Retry-After": "1"}), Page("<title>ready</title>")])
    with Site({"/": lambda _: next(answers)}) as site:
        began = time.monotonic()
        assert webarc.crawl("--no-robots", site.url())["counts"]["new"] == 1
        assert time.monotonic() - began >= 1


def test_the_user_stands_on_an_old_tag_with_edits(webarc: Webarc) -> None:
    with Site({"/": "<title>1</title>", "/a": "<title>a</title>"}) as site:
        webarc.crawl(site.url(), site.url("/a"))
        old = webarc.git(site.url(), "tag").decode().split()[0]
        site.pages["/"] = "<title>2</title>"
        webarc.crawl(site.url(), site.url("/a"))
        webarc.git(site.url(), "checkout", "-q", old)
        (webarc.folder(site.url()) / "a" / "data.html").write_text("my notes")
        site.pages["/"], site.pages["/a"] = "<title>3</title>", "<title>a3</title>"
        result = webarc.crawl(site.url(), site.url("/a"))
        assert any("main" in warning for warning in result["warnings"]), result
        assert webarc.document(site.url()) == b"<title>3</title>"
        assert (webarc.folder(site.url()) / "a" / "data.html").read_text() == "my notes"


def test_edits_on_main_are_rescued_before_they_would_be_overwritten(webarc: Webarc) -> None:
    with Site({"/": "<title>1</title>"}) as site:
        webarc.crawl(site.url())
        folder = webarc.folder(site.url())
        (folder / "%_" / "data.html").write_text("my notes")
        site.pages["/"] = "<title>2</title>"
        result = webarc.crawl(site.url())
        assert any("rescued" in warning for warning in result["warnings"]), result
        assert (folder / "%_" / "data.html").read_text() == "<title>2</title>"
        kept = [file.read_text() for file in (folder / ".webarc" / "rescued").rglob("*") if file.is_file()]
        assert kept == ["my notes"]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 4 MB."""
    with small_file_system(tmp_path / "disk", 4) as place:
        yield place


def test_a_full_disk_is_said_clearly_and_a_later_crawl_succeeds(small_disk: Path) -> None:
    webarc = Webarc(small_disk / "archive")
    pages = {
        f"/{number}": Page(bytes(range(256)) * 400 + str(number).encode(), type="application/x") for number in range(60)
    }
    with Site({"/": "".join(f"<a href={path}>x</a>" for path in pages), **pages}) as site:
        ran = webarc.run("crawl", "--json", site.url())
        assert ran.code == 3, (ran.out, ran.err)
        assert "disk is full" in ran.result()["error"] or "space" in ran.result()["error"]
        assert "Traceback" not in ran.err
        subprocess.run(["mount", "-o", "remount,size=60m", str(small_disk)], check=True)
        assert webarc.crawl(site.url())["counts"]["new"] == 61
        assert len(webarc.stored(site.url())) == 61
