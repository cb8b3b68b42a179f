"""The loopback server that the other tests lean on."""

from __future__ import annotations

import http.client

from tests.servers import Page, Raw, Request, Route, Site, redirect


def get(site: Site, target: str, method: str = "GET", **headers: str) -> tuple[int, bytes, http.client.HTTPMessage]:
    connection = http.client.HTTPConnection(site.host, site.port, timeout=5)
    connection.request(method, target, headers={name.replace("_", "-"): value for name, value in headers.items()})
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer.status, body, answer.msg


def test_every_kind_of_route() -> None:
    def mirror(request: Request) -> str:
        return f"{request.method} {request.target}"

    pages: dict[str, Route] = {
        "/": "text",
        "/b": b"bytes",
        "/t": (404, {"X-A": "1"}, "gone"),
        "/f": mirror,
        "/r": redirect("/b"),
    }
    with Site(pages) as site:
        assert get(site, "/")[:2] == (200, b"text")
        assert get(site, "/b")[1] == b"bytes"
        status, body, headers = get(site, "/t")
        assert (status, body, headers["X-A"]) == (404, b"gone", "1")
        assert get(site, "/f?x=1")[1] == b"GET /f?x=1"
        assert get(site, "/r")[2]["Location"] == "/b"
        assert get(site, "/nowhere")[0] == 404
        assert get(site, "/", "HEAD")[1] == b""
        site.pages["/"] = "changed"
        assert get(site, "/")[1] == b"changed"
        assert site.targets()[:3] == ["/", "/b", "/t"]
        assert len(site.asked("/")) == 3


def test_validators_are_honoured() -> None:
    stamp = "Tue, 17 Nov 2026 10:00:00 GMT"
    with Site({"/e": Page("x", etag='"1"'), "/m": Page("y", last_modified=stamp), "/auto": "z"}, etags=True) as site:
        assert get(site, "/e", If_None_Match='"1"')[0] == 304
        assert get(site, "/e", If_None_Match='"2"')[0] == 200
        assert get(site, "/m", If_Modified_Since=stamp)[:2] == (304, b"")
        tag = get(site, "/auto")[2]["ETag"]
        assert get(site, "/auto", If_None_Match=tag)[0] == 304


def test_it_goes_down_and_comes_back_on_its_port() -> None:
    with Site({"/": "here"}) as site:
        port = site.port
        assert get(site, "/")[0] == 200
        site.stop()
        try:
            get(site, "/")
        except ConnectionRefusedError:
            pass
        else:
            raise AssertionError("a stopped site still answered")
        site.start()
        assert site.port == port
        assert get(site, "/")[0] == 200


def test_raw_bytes_reach_the_socket() -> None:
    with Site({"/": Raw([b"HTTP/1.1 200 OK\r\n", b"\r\n", b"cut"])}, host="127.0.0.2") as site:
        assert get(site, "/")[1] == b"cut"
        assert site.url("/") == f"http://127.0.0.2:{site.port}/"
