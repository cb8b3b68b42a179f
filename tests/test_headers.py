"""What goes over the wire: the request as it stands there, and who gets to see secrets."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from base64 import b64decode
from pathlib import Path
from typing import Any

import pytest

from tests.servers import Page, Site
from webarc.crawler.addresses import AddressPolicy
from webarc.crawler.fetcher import Answer, Fetcher, FetchLimits, FetchOptions, Request
from webarc.crawler.limits import origin_of
from webarc.errors import UsageProblem

LOOPBACK = AddressPolicy.build([], ["127.0.0.0/8", "localhost"])


def ask_all(requests: list[Request], options: FetchOptions | None = None) -> list[Answer]:
    answers: list[Answer] = []
    with Fetcher(None, options, LOOPBACK) as fetcher:
        for request in requests:
            fetcher.submit(request)
        while fetcher.active:
            answers += fetcher.collect(10)
    return answers


def ask(url: str, options: FetchOptions | None = None, **fields: Any) -> Answer:
    return ask_all([Request(url, **fields)], options)[0]


def test_the_request_on_the_wire() -> None:
    options = FetchOptions(
        user_agent="archiver/1.0 (+http://me/)", headers=(("X-Mine", "yes"), ("Accept", "text/html"))
    )
    with Site({}, otherwise="x") as site:
        ask(site.url("/a|b/%7e?q='{}'"), options=options, headers=(("If-None-Match", 'W/"\xe9"'),))
        raw = site.requests[0].raw
    assert raw == (
        b"GET /a|b/%7E?q=%27{}%27 HTTP/1.1\r\n"
        b"Host: " + site.domain.encode() + b"\r\n"
        b"User-Agent: archiver/1.0 (+http://me/)\r\n"
        b"Accept-Encoding: gzip, deflate, br, zstd\r\n"
        b"X-Mine: yes\r\n"
        b"Accept: text/html\r\n"
        b'If-None-Match: W/"\xe9"\r\n'
        b"\r\n"
    )


def test_secrets_go_to_their_origin_only() -> None:
    refusal = Page("who are you?", 401, {"WWW-Authenticate": 'Basic realm="a, digest b"'})
    with Site({}, otherwise=refusal) as own, Site({}, otherwise=refusal) as other:
        options = FetchOptions(
            headers=(("Cookie", "sid=1"), ("X-All", "1")),
            origins=frozenset([origin_of(own.url())]),
            credentials={origin_of(own.url()): ("anna", "päss:word")},
        )
        ask_all([Request(own.url("/a")), Request(other.url("/b"))], options=options)
        bare, proved = own.requests
        assert "authorization" not in bare.headers
        assert b64decode(proved.headers["authorization"].removeprefix("Basic ")).decode() == "anna:päss:word"
        assert bare.headers["cookie"] == proved.headers["cookie"] == "sid=1"
        assert other.requests[0].headers["x-all"] == "1"
        assert not {"authorization", "cookie"} & other.requests[0].headers.keys()


def test_the_cookies_of_the_user_and_of_the_server_share_a_header() -> None:
    with Site({"/set": Page("x", headers={"Set-Cookie": "theirs=1"})}, otherwise="x") as own, Site({}) as other:
        options = FetchOptions(headers=(("Cookie", "mine=1"),), origins=frozenset([origin_of(own.url())]))
        with Fetcher(FetchLimits(parallel=1), options, LOOPBACK) as fetcher:
            for url in (own.url("/set"), other.url(), own.url()):
                fetcher.submit(Request(url))
            while fetcher.active:
                fetcher.collect(5)
        assert own.requests[0].headers["cookie"] == "mine=1"
        assert own.requests[1].raw.count(b"Cookie:") == 1
        assert own.requests[1].headers["cookie"] == "theirs=1; mine=1"
        # Cookies know no ports: what 127.0.0.1 set is its own, whatever the port; what the user gave is not.
        assert other.requests[0].headers["cookie"] == "theirs=1"


def test_a_password_in_the_url_is_not_sent_and_not_shown() -> None:
    with Site({"/": "x"}) as site:
        answer = ask(site.url("/").replace("//", "//anna:secret@"))
        assert answer.url == site.url("/")
        assert "authorization" not in site.requests[0].headers
    bad = ask("ftp://anna:secret@h/")
    assert bad.error == "scheme" and "secret" not in bad.detail


def test_the_environment_is_ignored(tmp_path: Path) -> None:
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login anna password secret\n")
    (tmp_path / ".curlrc").write_text('header = "X-Curlrc: yes"\n')
    script = (
        "import sys\n"
        "from webarc.crawler.addresses import AddressPolicy\n"
        "from webarc.crawler.fetcher import Fetcher, Request\n"
        "with Fetcher(policy=AddressPolicy(allow_private=True)) as fetcher:\n"
        "    fetcher.submit(Request(sys.argv[1]))\n"
        "    print(fetcher.collect(5)[0].status)\n"
    )
    with Site({"/": "x"}) as site:
        dead = "http://127.0.0.1:1"
        proxies = dict.fromkeys(("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY", "https_proxy"), dead)
        environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONPATH": ":".join(sys.path), **proxies}
        done = subprocess.run(
            [sys.executable, "-c", script, site.url()], env=environment, capture_output=True, text=True
        )
        assert done.stdout.strip() == "200", done.stderr
        assert not {"authorization", "x-curlrc"} & site.requests[0].headers.keys()


def test_a_proxy_that_was_asked_for_is_used_for_every_host() -> None:
    with Site({}, otherwise="from the proxy") as proxy:
        options = FetchOptions(proxy=proxy.url("").replace("//", "//me:pw@"))
        assert ask("http://example.org/x", options=options).body == b"from the proxy"
        assert ask("http://localhost/", options=options).body == b"from the proxy"
        assert proxy.targets() == ["http://example.org/x", "http://localhost/"]
        assert proxy.requests[0].headers["proxy-authorization"].startswith("Basic ")


def test_a_proxy_that_refuses_is_not_the_servers_answer() -> None:
    with Site({}, otherwise=Page("no", 403)) as proxy:
        answer = ask("https://example.org/", options=FetchOptions(proxy=proxy.url("")))
        assert (answer.error, answer.status, answer.headers) == ("connection", 0, [])
        assert proxy.requests[0].method == "CONNECT"


def test_socks_is_spoken_when_asked_for() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        with Fetcher(FetchLimits(timeout=5), FetchOptions(proxy=f"socks5h://127.0.0.1:{port}")) as fetcher:
            fetcher.submit(Request("http://example.org/"))
            fetcher.collect(0.2)
            connection = listener.accept()[0]
            with connection:
                assert connection.recv(100)[:1] == b"\x05"
            assert fetcher.collect(5)[0].error == "connection"


@pytest.mark.parametrize("proxy", ["ftp://h:1", "localhost:3128", "file:///etc/passwd", "http://h:1\nx"])
def test_a_wrong_proxy_is_refused(proxy: str) -> None:
    with pytest.raises(UsageProblem, match="proxy"):
        Fetcher(options=FetchOptions(proxy=proxy))
