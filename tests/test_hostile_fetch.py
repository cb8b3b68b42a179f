"""Lines 1 to 15, 20 and 24 of the hostile web, at the fetcher; line 21 is in test_cookies, rule 9 in test_addresses."""

from __future__ import annotations

import gzip
import itertools
import subprocess
import sys
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.servers import Page, Raw, Route, Site, redirect
from webarc.archive.urls import canonical
from webarc.crawler.addresses import AddressPolicy
from webarc.crawler.failures import error_class
from webarc.crawler.fetcher import ERRORS, Answer, Fetcher, FetchLimits, FetchOptions, Request
from webarc.errors import BadURL, UsageProblem

OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
LOOPBACK = AddressPolicy.build([], ["127.0.0.0/8"])


def ask(site: Site, path: str = "/", limits: FetchLimits | None = None, **fields: Any) -> Answer:
    with Fetcher(limits or FetchLimits(timeout=5, deadline=10), None, LOOPBACK) as fetcher:
        fetcher.submit(Request(site.url(path), **fields))
        return fetcher.collect(20)[0]


def check_failed(reply: Route, error: str, tmp_path: Path, limits: FetchLimits | None = None) -> Answer:
    """The fetch fails with an error class, leaves no file, and the fetcher goes on working."""
    with Site({"/bad": reply, "/good": "fine"}) as site, Fetcher(limits or FetchLimits(), None, LOOPBACK) as fetcher:
        fetcher.submit(Request(site.url("/bad"), tmp_path / "arc" / "data.part", keep=1000))
        answer = fetcher.collect(20)[0]
        fetcher.submit(Request(site.url("/good")))
        assert fetcher.collect(20)[0].body == b"fine"
    assert (answer.error, answer.stored, answer.body, answer.sha256) == (error, False, None, "")
    assert answer.detail
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]
    return answer


# 1, 3, 4, 5 and their kin: an answer that is not whole, or not HTTP.
@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (OK + b"Content-Length: 100\r\n\r\nshort", "truncated"),
        (OK + b"Content-Length: 100000\r\n\r\n" + b"x" * 50_000, "truncated"),
        (OK + b"Content-Length: 30,42\r\n\r\n" + b"x" * 42, "bad-response"),
        (OK + b"Content-Length: 30\r\nContent-Length: 42\r\n\r\n" + b"x" * 42, "bad-response"),
        (OK + b"Content-Length: -1\r\n\r\nx", "bad-response"),
        (OK + b"Content-Length: 0x10\r\n\r\nx", "bad-response"),
        (CHUNKED + b"5\r\nhello\r\n", "truncated"),
        (CHUNKED + b"5\r\nhel", "truncated"),
        (CHUNKED + b"FFFFFFFFFFFFFFF4\r\nhello\r\n0\r\n\r\n", "bad-response"),
        (CHUNKED + b"hello\r\n0\r\n\r\n", "bad-response"),
        (OK + b"Content-Le", "truncated"),
        (OK + b"Content-Length: 0\r\n", "truncated"),
        (b"hello, this is no HTTP", "bad-response"),
        (b"HTTP/1.1 abc\r\n\r\n", "bad-response"),
        (b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\nhello", "bad-response"),
        (OK + b"X: a\0b\r\nContent-Length: 2\r\n\r\nhi", "bad-response"),
        (b"", "connection"),
    ],
)
def test_a_broken_answer_has_an_error_class(reply: bytes, error: str, tmp_path: Path) -> None:
    check_failed(Raw(reply), error, tmp_path)


def test_a_reset_connection_is_no_end(tmp_path: Path) -> None:
    check_failed(Raw([OK + b"\r\n", b"half"], pause=0.05, end="reset"), "truncated", tmp_path)
    check_failed(Raw(b"", end="reset"), "connection", tmp_path)


def test_a_closed_connection_ends_a_body_without_a_length() -> None:
    with Site({"/": Raw(OK + b"\r\nall of it"), "/0": Raw(b"HTTP/1.0 200 OK\r\n\r\nold")}) as site:
        assert ask(site).body == b"all of it"
        answer = ask(site, "/0")
        assert (answer.body, answer.http_version) == (b"old", "1.0")


# 2
def test_bytes_beyond_the_length_are_dropped_with_the_connection() -> None:
    smuggled = OK + b"Content-Length: 4\r\n\r\nevil"
    pages: dict[str, Route] = {
        "/": Raw(OK + b"Content-Length: 4\r\n\r\ngood" + smuggled, end="keep"),
        "/next": "honest",
    }
    with Site(pages) as site, Fetcher(policy=LOOPBACK) as fetcher:
        bodies = []
        for path in ("/", "/next"):
            fetcher.submit(Request(site.url(path)))
            bodies += [answer.body for answer in fetcher.collect(5)]
        assert bodies == [b"good", b"honest"]
        assert site.connections == 2


# 6
def test_a_trickle_meets_the_deadline(tmp_path: Path) -> None:
    started = time.monotonic()
    trickle = Raw(itertools.chain([OK + b"Content-Length: 1000\r\n\r\n"], itertools.repeat(b"x")), pause=0.1)
    check_failed(trickle, "timeout", tmp_path, FetchLimits(timeout=5, deadline=0.6))
    assert time.monotonic() - started < 2


def test_a_trickle_of_headers_meets_the_deadline(tmp_path: Path) -> None:
    lines = (b"X-%d: y\r\n" % number for number in itertools.count())
    trickle = Raw(itertools.chain([OK], lines), pause=0.1)
    check_failed(trickle, "timeout", tmp_path, FetchLimits(timeout=5, deadline=0.6))


# 7
@pytest.mark.parametrize("head", [OK + b"\r\n", CHUNKED, OK + b"Content-Length: 99999999999\r\n\r\n"])
def test_an_endless_body_is_cut_at_the_cap(head: bytes, tmp_path: Path) -> None:
    piece = b"x" * 65536
    endless = Raw(
        itertools.chain([head], itertools.repeat(b"10000\r\n" + piece + b"\r\n" if head == CHUNKED else piece))
    )
    answer = check_failed(endless, "too-large", tmp_path, FetchLimits(max_size=3_000_000))
    assert answer.status == 200 and answer.headers is not None
    assert answer.length <= 3_000_000 + 256 * 1024


# 8
def bomb() -> Iterator[bytes]:
    """A gzip stream of 1 GB of zeros, about 1 MB long, without ever holding either."""
    packer = zlib.compressobj(9, wbits=31)
    yield packer.compress(bytes(1 << 20)) + packer.flush(zlib.Z_FULL_FLUSH)
    again = zlib.compressobj(9, wbits=-15)
    block = again.compress(bytes(1 << 20)) + again.flush(zlib.Z_FULL_FLUSH)
    yield block * 1023


def test_a_gzip_bomb_is_cut_at_the_cap_on_decoded_bytes(tmp_path: Path) -> None:
    packed = b"".join(bomb())
    assert len(packed) < (1 << 30) / 900
    answer = check_failed(
        Page(packed, headers={"Content-Encoding": "gzip"}), "too-large", tmp_path, FetchLimits(max_size=20 << 20)
    )
    assert 20 << 20 < answer.length <= 21 << 20


def test_a_gzip_bomb_does_not_fill_the_memory(tmp_path: Path) -> None:
    script = (
        "import sys\n"
        "from pathlib import Path\n"
        "from webarc.crawler.addresses import AddressPolicy\n"
        "from webarc.crawler.fetcher import Fetcher, FetchLimits, Request\n"
        "def peak():\n"
        "    lines = Path('/proc/self/status').read_text().splitlines()\n"
        "    return max(int(line.split()[1]) for line in lines if line.startswith(('VmHWM', 'VmRSS')))\n"
        "with Fetcher(FetchLimits(max_size=2 << 30), None, AddressPolicy(allow_private=True)) as fetcher:\n"
        "    fetcher.submit(Request(sys.argv[1] + 'small', Path(sys.argv[2])))\n"
        "    fetcher.collect(5)\n"
        "    before = peak()\n"
        "    for path in ('bomb', 'endless'):\n"
        "        fetcher.submit(Request(sys.argv[1] + path, Path(sys.argv[2])))\n"
        "    while fetcher.active:\n"
        "        for answer in fetcher.collect(0.01):\n"
        "            before = min(before, peak())\n"
        "            print(answer.error, answer.length, peak() - before)\n"
    )
    pages: dict[str, Route] = {
        "/small": "small",
        "/bomb": Page(b"".join(bomb()), 404, headers={"Content-Encoding": "gzip"}),
        "/endless": Raw(CHUNKED + b"FFFFFFFFFFFFFFF4\r\n" + b"x" * 1000),
    }
    with Site(pages) as site:
        command = [sys.executable, "-c", script, site.url("/"), str(tmp_path / "data")]
        done = subprocess.run(command, capture_output=True, text=True, env={"PYTHONPATH": ":".join(sys.path)})
    rows = [line.split(" ") for line in done.stdout.splitlines()]
    assert len(rows) == 2, done.stderr
    assert all(int(kilobytes) < 30_000 for _, _, kilobytes in rows), rows
    # The stream has no honest end, so it is refused, but only after all of it went through.
    assert ("bad-encoding", str(1 << 30)) in {(error, length) for error, length, _ in rows}


# 9
@pytest.mark.parametrize(
    "body",
    [b"plain text", gzip.compress(b"x" * 5000)[:-9], gzip.compress(b"x")[:-4] + b"abcd"],
    ids=["none", "cut", "wrong"],
)
def test_broken_gzip_is_an_error(body: bytes, tmp_path: Path) -> None:
    answer = check_failed(Page(body, headers={"Content-Encoding": "gzip"}), "bad-encoding", tmp_path)
    assert answer.status == 200


# 10
def test_twenty_stacked_codings_are_refused(tmp_path: Path) -> None:
    body = b"x"
    for _ in range(20):
        body = gzip.compress(body)
    check_failed(Page(body, headers={"Content-Encoding": ", ".join(["gzip"] * 20)}), "bad-encoding", tmp_path)
    check_failed(Page(body, headers=[("Content-Encoding", "gzip")] * 20), "bad-encoding", tmp_path)


# 11 to 15: no redirect is followed here, so every hop has to come back in as a request of its own.
def test_a_redirect_loop_is_one_answer_per_request() -> None:
    with Site({"/a": redirect("/b"), "/b": redirect("/a", 301)}) as site:
        assert ask(site, "/a").redirect() == site.url("/b")
        assert ask(site, "/b").redirect() == site.url("/a")
        assert site.targets() == ["/a", "/b"]


def test_a_redirect_without_a_target_is_what_it_is() -> None:
    with Site({"/": Page("moved", 301)}) as site:
        answer = ask(site)
        assert (answer.status, answer.error, answer.redirect(), answer.body) == (301, "", None, b"moved")


@pytest.mark.parametrize(
    "target",
    ["file:///etc/passwd", "javascript:alert(1)", "data:text/html,x", "ftp://h/", "gopher://h/", "ws://h/", "http://"],
)
def test_other_schemes_are_not_asked(target: str) -> None:
    with Site({"/": redirect(target)}) as site, pytest.raises(BadURL):
        ask(site).redirect()
    with Fetcher(policy=LOOPBACK) as fetcher:
        fetcher.submit(Request(target))
        answer = fetcher.collect(1)[0]
    assert (answer.error, answer.status) == ("scheme", 0)


@pytest.mark.parametrize(
    "target", ["http://169.254.169.254/latest/", "http://2852039166/", "http://[::ffff:a9fe:a9fe]/"]
)
def test_a_redirect_to_a_private_address_is_refused(target: str) -> None:
    with Site({"/": redirect(target)}) as site, Fetcher(policy=AddressPolicy.build([site.url()])) as fetcher:
        fetcher.submit(Request(site.url()))
        hop = fetcher.collect(5)[0].redirect()
        assert hop is not None
        fetcher.submit(Request(hop))
        assert fetcher.collect(5)[0].error == "address-refused"


# 20
@pytest.mark.parametrize(
    "head",
    [
        OK + b"X: " + b"a" * 1_000_000 + b"\r\n\r\n",
        OK + b"X: a\r\n" * 10_000 + b"\r\n",
        OK + b"X: " + b"a" * 3000 + b"\r\n" + (b"Y: " + b"b" * 3000 + b"\r\n") * 100 + b"\r\n",
        OK + b"".join(b"X-%d: a\r\n" % number for number in range(501)) + b"\r\n",
        b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" * 20_000,
        CHUNKED + b"1\r\nx\r\n0\r\n" + b"X: a\r\n" * 50_000 + b"\r\n",
    ],
    ids=["one of a megabyte", "ten thousand", "together too large", "one too many", "endless hints", "trailers"],
)
def test_headers_are_bounded(head: bytes, tmp_path: Path) -> None:
    check_failed(Raw(head), "header-too-large", tmp_path)


def test_as_many_headers_as_allowed_are_fine() -> None:
    with Site({"/": Page("x", headers=[(f"X-{number}", "a") for number in range(498)])}) as site:
        assert len(ask(site).headers) == 500


def test_hints_and_trailers_are_not_headers() -> None:
    hints = b"HTTP/1.1 103 Early Hints\r\nX-Early: 1\r\n\r\n" * 3
    whole = hints + CHUNKED[:-2] + b"X-Real: 1\r\n\r\n2\r\nhi\r\n0\r\nX-Late: 1\r\nHTTP/1.1 500: x\r\n\r\n"
    with Site({"/": Raw(whole)}) as site:
        answer = ask(site)
    assert (answer.status, answer.body, answer.error) == (200, b"hi", "")
    assert [name for name, _ in answer.headers] == ["Transfer-Encoding", "X-Real"]


def test_a_folded_header_is_one_header() -> None:
    with Site({"/": Raw(OK + b"X: a\r\n\tb\r\nContent-Length: 0\r\n\r\n")}) as site:
        assert ask(site).header("x") == "a b"


# 24
@pytest.mark.parametrize(
    "href", ["/a\r\nX-Injected: 1", "/a\nX-Injected: 1", "/a%0d%0aX-Injected:%201", "/a\tX\r", "/a b\r\n\r\nGET /evil"]
)
def test_no_line_end_in_a_url_reaches_the_wire(href: str) -> None:
    with Site({}, otherwise="x") as site:
        ask(site, href)
        ask(site, canonical(href, site.url())[len(site.url()) - 1 :])
        for request in site.requests:
            assert "x-injected" not in request.headers
            first = request.raw.split(b"\r\n")[0]
            assert first.count(b" ") == 2 and b"\r" not in first and b"\n" not in first
        assert len(site.requests) == 2


@pytest.mark.parametrize(
    "value", ["x\r\nX-Injected: 1", "x\nX-Injected: 1", "x\rX-Injected: 1", "x\0", "\u2028x", "\x85\u0100"]
)
def test_no_line_end_in_a_validator_reaches_the_wire(value: str) -> None:
    with Site({"/": "x"}) as site:
        assert ask(site, headers=(("If-None-Match", value), ("X-Bad\r\nX-Injected", "1"))).status == 200
        assert not {"x-injected", "if-none-match", "x-bad"} & site.requests[0].headers.keys()


@pytest.mark.parametrize(
    "options",
    [
        FetchOptions(headers=(("X-Mine", "1\r\nX-Injected: 1"),)),
        FetchOptions(headers=(("X Mine", "1"),)),
        FetchOptions(headers=(("X-Mine:", "1"),)),
        FetchOptions(user_agent="me\r\nX-Injected: 1"),
        FetchOptions(origins=frozenset(["http://h"]), headers=(("Cookie", "secret\n"), ("Cookie", "secret\0"))),
    ],
)
def test_no_line_end_in_an_option_is_accepted(options: FetchOptions) -> None:
    with pytest.raises(UsageProblem) as caught:
        Fetcher(options=options)
    assert "secret" not in str(caught.value)


def test_an_empty_header_is_sent_empty() -> None:
    with Site({"/": "x"}) as site, Fetcher(None, FetchOptions(headers=(("X-Mine", ""),)), LOOPBACK) as fetcher:
        fetcher.submit(Request(site.url()))
        fetcher.collect(5)
        assert site.requests[0].headers["x-mine"] == ""


# Rule: everything that libcurl can say maps to one of our words.
def test_every_error_of_the_library_has_a_class() -> None:
    for code in range(1, 110):
        for head_done in (True, False):
            assert error_class(code, "", head_done=head_done) in ERRORS


def test_a_name_that_nobody_knows() -> None:
    with Fetcher(FetchLimits(timeout=5)) as fetcher:
        for url in ("http://no-such-name.invalid/", "http://-oproxy=x/", "http://h+8080./"):
            fetcher.submit(Request(url))
        answers = []
        while fetcher.active:
            answers += fetcher.collect(10)
    assert {answer.error for answer in answers} <= {"dns", "timeout"}
