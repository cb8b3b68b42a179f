"""The fetcher with servers that behave: what comes back, what lands on disk, what goes over the wire."""

from __future__ import annotations

import errno
import gzip
import hashlib
import shutil
import ssl
import subprocess
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.servers import Page, Raw, Route, Site, redirect
from webarc.archive.failures import storage_problem
from webarc.archive.times import now
from webarc.crawler.addresses import AddressPolicy
from webarc.crawler.fetcher import Answer, Fetcher, FetchLimits, FetchOptions, Request
from webarc.errors import BadURL, NoSpace, StorageProblem

LOOPBACK = AddressPolicy.build([], ["127.0.0.0/8", "localhost"])


def ask_all(
    requests: list[Request], limits: FetchLimits | None = None, options: FetchOptions | None = None
) -> list[Answer]:
    answers: list[Answer] = []
    with Fetcher(limits, options, LOOPBACK) as fetcher:
        for request in requests:
            fetcher.submit(request)
        while fetcher.active:
            answers += fetcher.collect(10)
    return answers


def ask(url: str, limits: FetchLimits | None = None, options: FetchOptions | None = None, **fields: Any) -> Answer:
    return ask_all([Request(url, **fields)], limits, options)[0]


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def test_a_page_and_everything_about_it() -> None:
    page = Page("<p>hé", headers=[("X-Twice", "1"), ("X-Twice", "2"), ("X-Latin", "\xe9")])
    with Site({"/p?q": page}) as site:
        answer = ask(site.url("/p?q#part"), tag="mine")
    assert (answer.status, answer.http_version, answer.error, answer.detail) == (200, "1.1", "", "")
    assert answer.body == "<p>hé".encode()
    assert (answer.length, answer.sha256) == (6, sha256("<p>hé".encode()))
    assert ("X-Twice", "1") in answer.headers and ("X-Twice", "2") in answer.headers
    assert (answer.header("x-twice"), answer.header("X-Latin"), answer.header("none")) == ("1, 2", "\xe9", "")
    assert (answer.url, answer.address, answer.request.tag) == (site.url("/p?q"), "127.0.0.1", "mine")
    assert abs(answer.received - now()) < timedelta(seconds=5)
    assert 0 < answer.seconds < 5
    assert not answer.stored and answer.retry_after is None


def test_a_body_in_every_coding() -> None:
    body = b"text " * 1000
    with Site({"/z": Page(gzip.compress(body), headers={"Content-Encoding": "gzip"})}) as site:
        answer = ask(site.url("/z"))
        assert (answer.body, answer.length, answer.sha256) == (body, 5000, sha256(body))
        assert site.requests[0].headers["accept-encoding"] == "gzip, deflate, br, zstd"


def test_small_bodies_are_written_in_one_go_and_kept(tmp_path: Path) -> None:
    target = tmp_path / "deep" / "er" / "data.part"
    with Site({"/": "small"}) as site:
        answer = ask(site.url(), target=target)
    assert answer.stored and answer.body == b"small" and target.read_bytes() == b"small"
    assert target.stat().st_mode & 0o777 == 0o644


def test_large_bodies_go_to_disk_alone(tmp_path: Path) -> None:
    body = bytes(range(256)) * 20_000
    coded = Page(gzip.compress(body, 1), headers={"Content-Encoding": "gzip"})
    with Site({"/plain": body, "/coded": coded}) as site:
        for path in ("/plain", "/coded"):
            target = tmp_path / path[1:]
            answer = ask(site.url(path), target=target, lazy=True)
            assert answer.body is None and answer.stored
            assert (answer.length, answer.sha256) == (len(body), sha256(body))
            assert target.read_bytes() == body
        assert ask(site.url("/plain"), target=tmp_path / "kept", keep=len(body)).body == body


def test_a_lazy_request_leaves_a_small_body_to_the_caller(tmp_path: Path) -> None:
    with Site({"/": "small"}) as site:
        answer = ask(site.url(), target=tmp_path / "data", lazy=True)
    assert answer.body == b"small" and not answer.stored and not (tmp_path / "data").exists()


def test_without_a_target_the_first_bytes_come_back() -> None:
    with Site({"/robots.txt": b"x" * 5000}) as site:
        answer = ask(site.url("/robots.txt"), keep=1000)
        assert (answer.error, answer.status, answer.body) == ("too-large", 200, b"x" * 1000)
        assert ask(site.url("/robots.txt"), keep=5000).error == ""


@pytest.mark.parametrize("status", [301, 404, 500])
def test_only_good_answers_are_written(tmp_path: Path, status: int) -> None:
    with Site({"/": Page("x" * 3000, status)}) as site:
        small = ask(site.url(), target=tmp_path / "data")
        large = ask(site.url(), target=tmp_path / "data", keep=1000)
    assert (small.status, small.body, small.stored) == (status, b"x" * 3000, False)
    assert (large.body, large.length, large.sha256) == (None, 3000, small.sha256)
    assert not list(tmp_path.iterdir())


def test_answers_without_a_body() -> None:
    pages: dict[str, Route] = {
        "/304": Page("body", etag='"1"'),
        "/204": Raw(b"HTTP/1.1 204 No\r\nContent-Length: 2\r\nContent-Encoding: gzip\r\n\r\nhi"),
        "/head": Page("body", headers={"Content-Encoding": "gzip"}),
        "/0": Page("", headers={"Content-Encoding": "gzip"}),
    }
    with Site(pages) as site:
        known = (("If-None-Match", '"1"'),)
        answers = [ask(site.url("/304"), headers=known), ask(site.url("/204")), ask(site.url("/0"))]
        answers.append(ask(site.url("/head"), method="HEAD"))
        assert [(answer.status, answer.body, answer.error) for answer in answers] == [
            (304, b"", ""),
            (204, b"", ""),
            (200, b"", ""),
            (200, b"", ""),
        ]
        assert [request.method for request in site.requests] == ["GET", "GET", "GET", "HEAD"]


def test_get_works_again_after_head() -> None:
    with Site({"/": "body"}) as site, Fetcher(policy=LOOPBACK) as fetcher:
        bodies = []
        for method in ("HEAD", "GET", "HEAD", "GET"):
            fetcher.submit(Request(site.url(), method=method))
            bodies += [answer.body for answer in fetcher.collect(5)]
        assert bodies == [b"", b"body", b"", b"body"]
        assert site.connections == 1


def test_redirects_are_answers() -> None:
    pages: dict[str, Route] = {
        "/a": redirect("/b?x#y"),
        "/u": Page("", 301, {"Location": "/\xc3\xa9"}),
        "/l": Page("", 302),
    }
    with Site(pages) as site:
        answer = ask(site.url("/a"))
        assert (answer.status, answer.redirect()) == (302, site.url("/b?x"))
        assert ask(site.url("/u")).redirect() == site.url("/%C3%A9")
        assert ask(site.url("/l")).redirect() is None
        assert ask(site.url("/missing")).redirect() is None
        assert site.targets() == ["/a", "/u", "/l", "/missing"]


def test_connections_are_reused_and_requests_run_side_by_side() -> None:
    with Site({}, otherwise="x", delay=0.05) as site:
        with Fetcher(policy=LOOPBACK) as fetcher:
            started = time.monotonic()
            for number in range(16):
                fetcher.submit(Request(site.url(f"/{number % 4}/{number}")))
            while fetcher.active:
                for answer in fetcher.collect(5):
                    assert answer.status == 200
            assert time.monotonic() - started < 0.5
            used = site.connections
            for _ in range(3):
                fetcher.submit(Request(site.url("/again")))
                fetcher.collect(5)
            assert site.connections == used
        assert site.busiest == 16


def test_no_more_than_the_parallel_limit_at_once() -> None:
    with Site({}, otherwise="x", delay=0.02) as site:
        answers = ask_all([Request(site.url(f"/{number}")) for number in range(12)], FetchLimits(parallel=3))
        assert len(answers) == 12
        assert site.busiest == 3 and site.connections == 3


def test_a_request_waits_for_its_time() -> None:
    with Site({}, otherwise="x") as site, Fetcher(policy=LOOPBACK) as fetcher:
        start = time.monotonic()
        fetcher.submit(Request(site.url("/late"), not_before=start + 0.3))
        fetcher.submit(Request(site.url("/soon")))
        assert [answer.request.url for answer in fetcher.collect(5)] == [site.url("/soon")]
        assert fetcher.active == 1
        assert fetcher.collect(0) == [] and fetcher.collect(0.05) == []
        assert fetcher.collect(5)[0].url == site.url("/late")
        assert 0.3 <= time.monotonic() - start < 1.0
        assert fetcher.active == 0 and fetcher.collect(5) == []


def test_many_pages_quickly() -> None:
    with Site({}, otherwise="<a href=/x>x</a>" * 50, record=False) as site:
        started = time.monotonic()
        answers = ask_all([Request(site.url(f"/{number}")) for number in range(2000)], FetchLimits(parallel=4))
        assert {answer.status for answer in answers} == {200} and len(answers) == 2000
        assert time.monotonic() - started < 5.0
        assert site.connections == 4


def test_a_server_that_comes_back_is_found_again() -> None:
    with Site({"/": "here"}) as site, Fetcher(policy=LOOPBACK) as fetcher:
        errors = []
        for action in (site.targets, site.stop, site.start):
            action()
            fetcher.submit(Request(site.url()))
            errors += [answer.error for answer in fetcher.collect(5)]
        assert errors == ["", "refused", ""]


def test_closing_drops_what_is_under_way(tmp_path: Path) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 9000000\r\n\r\n"
    with Site({"/": Raw([head, b"x" * 3_000_000], end="stall")}) as site, Fetcher(policy=LOOPBACK) as fetcher:
        fetcher.submit(Request(site.url(), tmp_path / "data"))
        deadline = time.monotonic() + 5
        while not (tmp_path / "data").exists() and time.monotonic() < deadline:
            fetcher.collect(0.05)
        assert (tmp_path / "data").exists()
    assert not (tmp_path / "data").exists()


def test_a_disk_that_cannot_be_written_is_our_problem_not_the_servers(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with Site({"/": "small", "/large": b"x" * 100_000}) as site:
        for path in ("/", "/large"):
            with pytest.raises(StorageProblem):
                ask(site.url(path), target=tmp_path / "file" / "data", keep=1000)
    assert isinstance(storage_problem("it", OSError(errno.ENOSPC, "No space left on device")), NoSpace)


def test_a_link_in_the_way_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("precious")
    (tmp_path / "data").symlink_to("precious")
    with Site({"/": "small"}) as site, pytest.raises(StorageProblem):
        ask(site.url("/"), target=tmp_path / "data")
    assert (tmp_path / "precious").read_text() == "precious"


# -- time and rate ----------------------------------------------------------------------------------------------


def test_the_rate_is_that_of_all_transfers_together() -> None:
    with Site({}, otherwise=b"x" * 40_000) as site:
        started = time.monotonic()
        answers = ask_all(
            [Request(site.url(f"/{number}")) for number in range(5)], FetchLimits(rate=200_000, timeout=0.5)
        )
        seconds = time.monotonic() - started
    assert [answer.length for answer in answers] == [40_000] * 5
    assert [answer.error for answer in answers] == [""] * 5
    assert 0.75 <= seconds <= 1.6


def test_silence_ends_a_transfer_but_slow_answers_do_not() -> None:
    slow = Raw([b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n", b"s", b"l", b"o", b"w"], pause=0.2)
    pages: dict[str, Route] = {
        "/slow": slow,
        "/mute": Raw(b"", end="stall"),
        "/stops": Raw(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf", end="stall"),
    }
    with Site(pages) as site:
        started = time.monotonic()
        answers = ask_all([Request(site.url(path)) for path in pages], FetchLimits(timeout=0.5))
        assert time.monotonic() - started < 2.5
    errors = {answer.url.rpartition("/")[2]: answer.error for answer in answers}
    assert errors == {"slow": "", "mute": "timeout", "stops": "timeout"}


# -- TLS --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not shutil.which("openssl"):
        pytest.skip("no openssl to make a certificate with")
    folder = tmp_path_factory.mktemp("tls")
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=loopback"]
    command += ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", "key.pem", "-out", "cert.pem"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return folder


def test_certificates_are_checked(certificate: Path) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate / "cert.pem", certificate / "key.pem")
    trusting = FetchOptions(ca_file=certificate / "cert.pem")
    with Site({"/": "safe"}, tls=context) as site:
        assert ask(site.url(), options=trusting).body == b"safe"
        assert (ask(site.url()).error, ask(site.url()).status) == ("tls", 0)
        assert ask(site.url().replace("127.0.0.1", "localhost"), options=trusting).error == "tls"


def test_tls_with_a_server_that_speaks_none() -> None:
    with Site({"/": "plain"}) as site:
        assert ask(site.url().replace("http:", "https:")).error == "tls"


def test_a_bad_redirect_is_named() -> None:
    with Site({"/": redirect("javascript:alert(1)")}) as site, pytest.raises(BadURL):
        ask(site.url()).redirect()
