"""A fast server of generated pages in a process of its own: asyncio, from memory, on any loopback addresses."""

from __future__ import annotations

import asyncio
import multiprocessing
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection

# Takes the path of a request; gives the page, or None for 404.
Pages = Callable[[str], bytes | None]


class _Answering(asyncio.Protocol):
    """One connection: requests may come one after the other, each answered after the delay."""

    def __init__(self, pages: Pages, delay: float) -> None:
        self._pages, self._delay = pages, delay
        self._buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        while (end := self._buffer.find(b"\r\n\r\n")) >= 0:
            head, self._buffer = self._buffer[:end], self._buffer[end + 4 :]
            target = head.split(b" ", 2)[1].decode("latin-1")
            if self._delay:
                asyncio.get_running_loop().call_later(self._delay, self._answer, target)
            else:
                self._answer(target)

    def _answer(self, target: str) -> None:
        if self._transport.is_closing():
            return
        page = self._pages(target)
        status = b"200 OK" if page is not None else b"404 Not Found"
        body = page or b""
        head = b"HTTP/1.1 %b\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: %d\r\n\r\n"
        self._transport.write(head % (status, len(body)) + body)


async def _serve(hosts: list[str], pages: Pages, delay: float, ready: Connection) -> None:
    loop = asyncio.get_running_loop()
    first = await loop.create_server(lambda: _Answering(pages, delay), hosts[0], 0)
    port = first.sockets[0].getsockname()[1]
    servers = [first]
    servers += [await loop.create_server(lambda: _Answering(pages, delay), host, port) for host in hosts[1:]]
    ready.send(port)
    await asyncio.gather(*(server.serve_forever() for server in servers))


def _run(hosts: list[str], pages: Pages, delay: float, ready: Connection) -> None:
    asyncio.run(_serve(hosts, pages, delay, ready))


@contextmanager
def serve(pages: Pages, hosts: list[str], delay: float = 0.0) -> Iterator[list[str]]:
    """Serves generated pages on the same port of several loopback addresses; gives the URLs of their first pages."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()
    process = context.Process(target=_run, args=(hosts, pages, delay, theirs), daemon=True)
    process.start()
    try:
        port = ours.recv()
        yield [f"http://{host}:{port}/" for host in hosts]
    finally:
        process.kill()
        process.join()
