"""A small web server on loopback that does what it is told, misbehaviour included.

with Site({"/": "<a href=/b>b</a>", "/b": Page("text", etag='"1"')}) as site:
    fetch(site.url("/"))
    site.pages["/b"] = (404, {}, "gone")
    site.stop(); site.start()        # the same port

A route is text (an HTML page), bytes, a Page, a (status, headers, body) tuple, Raw bytes for the socket, or a function
that takes the Request and returns any of these. It is looked up by path with query, then by path, then as `otherwise`.
"""

from __future__ import annotations

import asyncio
import hashlib
import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from types import TracebackType
from typing import Any, Self

Headers = Mapping[str, str] | Iterable[tuple[str, str]]


@dataclass(slots=True)
class Request:
    """One request as it came over the wire."""

    method: str
    target: str
    headers: dict[str, str]
    raw: bytes
    connection: int
    time: float

    @property
    def path(self) -> str:
        """The target without its query."""
        return self.target.partition("?")[0]


class Page:
    """An honest answer, conditional when it has validators."""

    def __init__(
        self,
        body: str | bytes = b"",
        status: int = 200,
        headers: Headers = (),
        *,
        type: str = "text/html; charset=utf-8",
        etag: str = "",
        last_modified: str = "",
        delay: float = 0.0,
    ) -> None:
        self.body = body.encode() if isinstance(body, str) else body
        self.status = status
        self.headers = list(headers.items() if isinstance(headers, Mapping) else headers)
        self.etag = etag
        self.last_modified = last_modified
        self.delay = delay
        named = {name.lower() for name, _ in self.headers}
        if "content-type" not in named and type:
            self.headers.append(("Content-Type", type))
        if etag:
            self.headers.append(("ETag", etag))
        if last_modified:
            self.headers.append(("Last-Modified", last_modified))
        self._framed = bool(named & {"content-length", "transfer-encoding"}) or status in (204, 304)
        self._whole = self._head(self.status, sized=True) + self.body

    def answer(self, request: Request) -> bytes:
        """The bytes for the socket: the page, or 304 when the validators match."""
        if self.status == 200 and self._unchanged(request.headers):
            return self._head(304, sized=False)
        return self._head(self.status, sized=True) if request.method == "HEAD" else self._whole

    def _unchanged(self, headers: Mapping[str, str]) -> bool:
        if self.etag and "if-none-match" in headers:
            return self.etag in headers["if-none-match"]
        return bool(self.last_modified) and headers.get("if-modified-since") == self.last_modified

    def _head(self, status: int, *, sized: bool) -> bytes:
        reason = HTTPStatus(status).phrase if status in HTTPStatus._value2member_map_ else "Unknown"
        lines = [f"HTTP/1.1 {status} {reason}", *(f"{name}: {value}" for name, value in self.headers)]
        if sized and not self._framed:
            lines.append(f"Content-Length: {len(self.body)}")
        return "\r\n".join([*lines, "", ""]).encode("latin-1")


def redirect(target: str, status: int = 302) -> Page:
    """An answer that sends the client elsewhere."""
    return Page(b"", status, {"Location": target})


@dataclass(slots=True)
class Raw:
    """Pieces of bytes for the socket exactly as they are, `pause` seconds apart, then an end of the given kind."""

    pieces: Iterable[bytes] | bytes
    pause: float = 0.0
    end: str = "close"  # "close"; "reset": TCP reset; "keep": next request; "stall": silence until the client leaves

    def stream(self) -> Iterable[bytes]:
        """The pieces, one after the other."""
        return (self.pieces,) if isinstance(self.pieces, bytes) else self.pieces


Reply = str | bytes | Page | Raw | tuple[int, Headers, str | bytes]
Route = Reply | Callable[[Request], Reply]


@dataclass(slots=True)
class _Tally:
    now: int = 0
    most: int = 0
    connections: int = 0
    open: set[_Connection] = field(default_factory=set)


class Site:
    """A web site on one loopback address and port; `pages` may change while it runs."""

    def __init__(
        self,
        pages: Mapping[str, Route] | None = None,
        host: str = "127.0.0.1",
        *,
        otherwise: Route | None = None,
        delay: float = 0.0,
        etags: bool = False,
        record: bool = True,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.pages: dict[str, Route] = dict(pages or {})
        self.otherwise: Route = otherwise if otherwise is not None else Page("not here", 404)
        self.host = host
        self.port = 0
        self.delay = delay
        self.etags = etags
        self.record = record
        self.tls = tls
        self.requests: list[Request] = []
        self.tally = _Tally()
        self._ready: dict[str, Page] = {}
        self._server: asyncio.Server | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()

    @property
    def domain(self) -> str:
        """Host and port, as a URL has them."""
        return f"{self.host}:{self.port}"

    @property
    def busiest(self) -> int:
        """The most requests that were in progress at one time."""
        return self.tally.most

    @property
    def connections(self) -> int:
        """How many connections were ever accepted."""
        return self.tally.connections

    def url(self, target: str = "/") -> str:
        """The URL of one page."""
        return f"{'https' if self.tls else 'http'}://{self.domain}{target}"

    def targets(self) -> list[str]:
        """What was asked for, in order."""
        return [request.target for request in list(self.requests)]

    def asked(self, target: str) -> list[Request]:
        """The requests for one page."""
        return [request for request in list(self.requests) if request.target == target]

    def start(self) -> None:
        """Listen; after stop() on the same port again."""
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((self.host, self.port))
        self.port = listener.getsockname()[1]
        loop = self._loop = asyncio.new_event_loop()
        make = loop.create_server(lambda: _Connection(self), sock=listener, backlog=512, ssl=self.tls)
        self._server = loop.run_until_complete(make)
        self._thread = threading.Thread(target=loop.run_forever, name=f"site {self.domain}", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Go down: refuse new connections, cut those that are open."""
        if not self._loop or not self._thread:
            return
        asyncio.run_coroutine_threadsafe(self._leave(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        self._loop = self._thread = None

    async def _leave(self) -> None:
        if self._server:
            self._server.close()
        for connection in list(self.tally.open):
            connection.cut()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        await asyncio.sleep(0)

    def reply(self, request: Request) -> Page | Raw:
        """What the routes have for a request."""
        route: Any = self.pages.get(request.target)
        if route is None:
            route = self.pages.get(request.path, self.otherwise)
        if type(route) is str:
            return self._rendered(route)
        if callable(route):
            route = route(request)
        return self._page(route)

    def _page(self, reply: Reply) -> Page | Raw:
        if isinstance(reply, Page | Raw):
            return reply
        if isinstance(reply, tuple):
            status, headers, body = reply
            return Page(body, status, headers)
        return self._rendered(reply) if isinstance(reply, str) else Page(reply, type="application/octet-stream")

    def _rendered(self, text: str) -> Page:
        page = self._ready.get(text)
        if page is None:
            etag = f'"{hashlib.sha256(text.encode()).hexdigest()[:16]}"' if self.etags else ""
            page = self._ready[text] = Page(text, etag=etag)
            if len(self._ready) > 50_000:
                self._ready.clear()
        return page


class _Connection(asyncio.Protocol):
    """One client connection: requests in, replies out, one at a time."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.number = 0
        self.pending = b""
        self.busy = False
        self.flowing = asyncio.Event()
        self.transport: Any = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport
        tally = self.site.tally
        tally.connections += 1
        self.number = tally.connections
        tally.open.add(self)
        self.flowing.set()

    def connection_lost(self, exc: Exception | None) -> None:
        self.site.tally.open.discard(self)
        self.flowing.set()

    def pause_writing(self) -> None:
        self.flowing.clear()

    def resume_writing(self) -> None:
        self.flowing.set()

    def data_received(self, data: bytes) -> None:
        self.pending += data
        if not self.pending[:1].isalpha():
            self.transport.write(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\nthis is not HTTP")
            self.transport.close()
        elif not self.busy:
            self._next()

    def cut(self) -> None:
        """End the connection at once, without a goodbye."""
        self.transport.abort()

    def _next(self) -> None:
        end = self.pending.find(b"\r\n\r\n")
        if end < 0:
            return
        head, self.pending = self.pending[: end + 4], self.pending[end + 4 :]
        request = _parse(head, self.number)
        self.busy = True
        site, tally = self.site, self.site.tally
        tally.now += 1
        tally.most = max(tally.most, tally.now)
        if site.record:
            site.requests.append(request)
        reply = site.reply(request)
        wait = site.delay + (reply.delay if isinstance(reply, Page) else 0.0)
        if wait:
            asyncio.get_running_loop().call_later(wait, self._send, request, reply)
        else:
            self._send(request, reply)

    def _send(self, request: Request, reply: Page | Raw) -> None:
        if isinstance(reply, Raw):
            task = asyncio.ensure_future(self._misbehave(reply))
            task.add_done_callback(lambda done: done.cancelled() or done.exception())
            return
        self.transport.write(reply.answer(request))
        self._finish(keep=request.headers.get("connection", "").lower() != "close")

    def _finish(self, *, keep: bool) -> None:
        self.site.tally.now -= 1
        self.busy = False
        if not keep:
            self.transport.close()
        elif self.pending:
            self._next()

    async def _misbehave(self, raw: Raw) -> None:
        for piece in raw.stream():
            if self.transport.is_closing():
                break
            self.transport.write(piece)
            await self.flowing.wait()
            await asyncio.sleep(raw.pause)
        if raw.end == "stall":
            while not self.transport.is_closing():
                await asyncio.sleep(0.05)
        if raw.end == "reset":
            linger = struct.pack("ii", 1, 0)
            self.transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        self._finish(keep=raw.end == "keep")


def _parse(head: bytes, connection: int) -> Request:
    first, *lines = head.decode("latin-1").split("\r\n")
    method, _, rest = first.partition(" ")
    headers = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if colon:
            headers[name.lower()] = value.strip()
    return Request(method, rest.rpartition(" ")[0], headers, head, connection, time.time())
