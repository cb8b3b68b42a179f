"""The pipe between the fetch side and the archive side of a crawl."""

from __future__ import annotations

import marshal
import pickle
import signal
from collections.abc import Callable, Iterator
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection
from types import TracebackType
from typing import Any

from webarc.archive.failures import storage_problem
from webarc.crawler.capture import Capture, Committed, Landed, Order, Own, Verdicts
from webarc.crawler.keeper import Keeper
from webarc.crawler.outbox import Outbox
from webarc.errors import WebarcError

_VERDICTS, _COMMIT = "verdicts", "commit"
# How every pickle begins, and no list that marshal writes.
_PICKLED = b"\x80"
_TOGETHER = 16
_HEAVY = 512 * 1024


class KeeperLine:
    """The fetch side's end: starts the keeper's process and talks to it; a keeper's error is raised here."""

    def __init__(self, make: Callable[[], Keeper]) -> None:
        context = get_context("fork")
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, self._connection, make))
        self._process.start()
        theirs.close()
        self._outbox = Outbox(self._connection)
        self._held: list[tuple[tuple[object, ...], bytes | None]] = []
        self._weight = 0

    def __enter__(self) -> KeeperLine:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            self._outbox.broken = True  # what is still on its way would only be thrown away
        self._outbox.close()
        self._connection.close()
        self._process.join()

    def flush(self) -> None:
        """Hand over what is held back to be sent together."""
        if self._held:
            held, self._held, self._weight = self._held, [], 0
            self._send(marshal.dumps(held))

    def own(self, domain: str, crawl_time: str) -> None:
        """The crawl owns this domain from now on."""
        self._send(Own(domain, crawl_time))

    def keep(self, capture: Capture, body: bytes | None) -> None:
        """Hand over one good answer; without a body, it lies in its place in the temp dir."""
        self._held.append((tuple(capture), body))
        self._weight += len(body or b"")
        if len(self._held) >= _TOGETHER or self._weight >= _HEAVY:
            self.flush()

    def verdicts(self) -> Verdicts:
        """Wait until everything handed over is judged."""
        self.flush()
        self._send(_VERDICTS)
        verdicts: Verdicts = self._receive()
        return verdicts

    def commit(self, orders: list[Order]) -> Iterator[Landed | Committed]:
        """Have everything committed; hears of each domain when its commit has landed and when it is brought."""
        self._send((_COMMIT, orders))
        while (event := self._receive()) is not None:
            yield event

    def _send(self, message: object) -> None:
        self._outbox.put(message)
        if self._outbox.broken:
            self._receive()

    def _receive(self) -> Any:
        try:
            answer = self._connection.recv()
        except (EOFError, OSError):
            raise WebarcError(
                "the process that writes to the archive died; nothing of this crawl was committed, run it again."
            ) from None
        if isinstance(answer, WebarcError):
            raise answer
        return answer


def _serve(connection: Connection, theirs: Connection, make: Callable[[], Keeper]) -> None:
    """The keeper's process: works through messages until the other end is closed."""
    theirs.close()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    keeper = make()
    try:
        _work(connection, keeper)
    except (EOFError, BrokenPipeError):
        keeper.abort()
    except Exception as error:  # noqa: BLE001 - whatever it is, the fetch side must hear of it
        keeper.abort()
        with suppress(OSError):  # the fetch side may have ended for a reason of its own
            connection.send(_ours(error))


def _work(connection: Connection, keeper: Keeper) -> None:
    while True:
        received = connection.recv_bytes()
        if not received.startswith(_PICKLED):
            for values, body in marshal.loads(received):  # noqa: S302 - written by our own other half
                keeper.keep(Capture._make(values), body)
            continue
        message = pickle.loads(received)  # noqa: S301 - the same
        if isinstance(message, Own):
            keeper.own(message)
        elif message == _VERDICTS:
            connection.send(keeper.verdicts())
        else:
            for event in keeper.commit(message[1]):
                connection.send(event)
            connection.send(None)


def _ours(error: Exception) -> WebarcError:
    """The error as one of ours, which travels through the pipe."""
    if isinstance(error, WebarcError):
        return error
    if isinstance(error, OSError):
        return storage_problem("writing to the archive", error)
    return WebarcError(
        f"writing to the archive failed unexpectedly: {error!r}; nothing was committed, please report this."
    )
