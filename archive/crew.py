"""Work shared out to processes: each takes one task after the other and tells what it finds while it works."""

from __future__ import annotations

import os
import signal
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from types import TracebackType
from typing import Any

from webarc.errors import StorageProblem, WebarcError

_TELL, _ASK, _END = "tell", "ask", "end"
Hear = Callable[[Any, Any], Any]
Ended = Callable[[Any, WebarcError | None], Iterable[Any]]


class Line:
    """A worker's end of the line to the process that shares out the work."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def tell(self, message: object) -> None:
        """Say something and go on; waits only if nobody listens for long."""
        self._say(_TELL, message)

    def ask(self, message: object) -> Any:
        """Say something and wait for the answer; everything told before has been heard by then."""
        self._say(_ASK, message)
        return self.receive()

    def receive(self) -> Any:
        """The next task, or the answer to what was asked."""
        try:
            return self._connection.recv()
        except (EOFError, OSError):
            raise _Gone from None

    def end(self, outcome: WebarcError | None) -> None:
        """Say that the task is done."""
        self._say(_END, outcome)

    def _say(self, kind: str, message: object) -> None:
        try:
            self._connection.send((kind, message))
        except OSError:
            raise _Gone from None


class _Gone(BaseException):
    """The process that shares out the work has ended."""


class Crew:
    """Processes that do `work`; they are forked at once, so it is made before the caller starts threads."""

    def __init__(self, work: Callable[[Any, Line], None], size: int | None = None) -> None:
        self._work = work
        self._context = get_context("fork")
        self._idle: list[tuple[Connection, BaseProcess]] = []
        self._busy: dict[Connection, tuple[Any, BaseProcess]] = {}
        for _ in range(size or cores()):
            self._hire()

    def __enter__(self) -> Crew:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        working = [(connection, process) for connection, (_, process) in self._busy.items()]
        for connection, process in (*self._idle, *working):
            connection.close()
            process.kill()
            process.join()

    def run(self, tasks: Iterable[Any], hear: Hear, ended: Ended) -> None:
        """Have all tasks done.

        `hear` gets the task and what is told, and what it returns is the answer to what was asked. `ended` gets the
        task and what went wrong, if something did, and returns the tasks that follow from it.
        """
        queue = deque(tasks)
        while queue or self._busy:
            while queue and (self._idle or not self._busy):
                self._assign(queue.popleft())
            for connection in wait(list(self._busy)):
                assert isinstance(connection, Connection)
                queue.extendleft(self._listen(connection, hear, ended))

    def _hire(self) -> None:
        ours, theirs = self._context.Pipe()
        process = self._context.Process(target=_serve, args=(theirs, ours, self._work), daemon=True)
        process.start()
        theirs.close()
        self._idle.append((ours, process))

    def _assign(self, task: Any) -> None:
        if not self._idle:
            self._hire()
        connection, process = self._idle.pop()
        self._busy[connection] = (task, process)
        # A worker that was killed while it was idle is found out when its answer is waited for.
        with suppress(BrokenPipeError):
            connection.send(task)

    def _listen(self, connection: Connection, hear: Hear, ended: Ended) -> Iterable[Any]:
        task, process = self._busy[connection]
        try:
            kind, message = connection.recv()
        except (EOFError, ConnectionResetError):
            del self._busy[connection]
            process.join()
            return ended(task, WebarcError("the process at work on it was killed; run the command again."))
        if kind == _END:
            self._idle.append((connection, self._busy.pop(connection)[1]))
            return ended(task, message)
        answer = hear(task, message)
        if kind == _ASK:
            connection.send(answer)
        return ()


def cores() -> int:
    """How many processes can work at once."""
    return len(os.sched_getaffinity(0))


def _serve(connection: Connection, other_end: Connection, work: Callable[[Any, Line], None]) -> None:
    """A worker's life; it ends when the other side does."""
    other_end.close()
    # Ctrl-C reaches the whole group; the one who shares out the work decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    line = Line(connection)
    with suppress(_Gone):
        while True:
            line.end(_outcome(work, line.receive(), line))


def _outcome(work: Callable[[Any, Line], None], task: Any, line: Line) -> WebarcError | None:
    try:
        work(task, line)
    except WebarcError as error:
        return error
    except OSError as error:
        return StorageProblem(f"{error}; mend the cause and run the command again.")
    except Exception as error:  # noqa: BLE001  one task must not end the work on all others
        return WebarcError(f"internal error ({type(error).__name__}: {error}); please report it.")
    return None
