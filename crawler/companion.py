"""A process that works beside the fetch side of a crawl, at the other end of a pipe."""

from __future__ import annotations

import signal
from collections.abc import Callable
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection
from types import TracebackType
from typing import Any, Self

from webarc.archive.failures import storage_problem
from webarc.errors import WebarcError

Work = Callable[[Connection], None]


class Companion:
    """Does what `work` does with its end of the pipe until this end is closed; an error there is raised here."""

    def __init__(self, name: str, work: Work, others: tuple[Companion, ...] = ()) -> None:
        context = get_context("fork")
        self._name = name
        self.connection, theirs = context.Pipe()
        # A pipe ends only when nobody holds its other end any more: the new process must let go of all of ours.
        ours = [self.connection, *(other.connection for other in others)]
        self._process = context.Process(target=_serve, args=(name, work, theirs, ours))
        self._process.start()
        theirs.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.connection.close()
        self._process.join()

    def tell(self, message: bytes) -> None:
        """Send bytes; waits if the other side has much to do still."""
        try:
            self.connection.send_bytes(message)
        except OSError:
            self.answer()

    def ask(self, message: object) -> None:
        """Send anything that can be pickled."""
        try:
            self.connection.send(message)
        except OSError:
            self.answer()

    def answer(self) -> Any:
        """Wait for the next thing that the other side says."""
        try:
            answer = self.connection.recv()
        except (EOFError, OSError):
            raise WebarcError(f"{self._name} died; nothing of this crawl was committed, run it again.") from None
        if isinstance(answer, WebarcError):
            raise answer
        return answer


def _serve(name: str, work: Work, connection: Connection, ours: list[Connection]) -> None:
    for other in ours:
        other.close()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        work(connection)
    except (EOFError, BrokenPipeError):
        pass  # the fetch side has ended, for a reason of its own
    except Exception as error:  # noqa: BLE001 - whatever it is, the fetch side must hear of it
        with suppress(OSError):
            connection.send(_ours(name, error))


def _ours(name: str, error: Exception) -> WebarcError:
    """The error as one of ours, which travels through the pipe."""
    if isinstance(error, WebarcError):
        return error
    if isinstance(error, OSError):
        return storage_problem(name, error)
    return WebarcError(f"{name} failed unexpectedly: {error!r}; nothing was committed, please report this.")
