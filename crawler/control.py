"""The line between an instance and the scheduler that started it."""

from __future__ import annotations

from collections.abc import Callable
from multiprocessing.connection import Connection
from time import monotonic
from typing import Any

from webarc.crawler.job import Progress

STOP, JOIN, PROGRESS, NOTE, DONE = "stop", "join", "progress", "note", "done"
_EVERY = 0.5
_LISTEN = 0.05


class Control:
    """An instance's end of the line; a scheduler that has died counts as one that says stop."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._said = 0.0
        self._listen_at = 0.0
        self.stopped = False

    def check(self) -> bool:
        """Whether the scheduler wants this instance to stop; looks for its word a few times a second."""
        now = monotonic()
        if now < self._listen_at:
            return self.stopped
        self._listen_at = now + _LISTEN
        while not self.stopped and self._connection.poll():
            self._receive()
        return self.stopped

    def progress(self, make: Callable[[], Progress]) -> None:
        """Report progress, at most twice a second."""
        now = monotonic()
        if now - self._said >= _EVERY:
            self._said = now
            self._send(PROGRESS, make())

    def join(self, domain: str) -> bool:
        """Ask whether this instance may own another domain too."""
        self._send(JOIN, domain)
        while not self.stopped:
            kind, value = self._receive()
            if kind == JOIN:
                return bool(value)
        return False

    def say(self, text: str) -> None:
        """A remark for people."""
        self._send(NOTE, text)

    def done(self, result: object) -> None:
        """Hand over the result."""
        self._send(DONE, result)

    def _send(self, kind: str, value: object) -> None:
        try:
            self._connection.send((kind, value))
        except OSError:
            self.stopped = True

    def _receive(self) -> tuple[str, Any]:
        try:
            kind, value = self._connection.recv()
        except (EOFError, OSError):
            kind, value = STOP, None
        if kind == STOP:
            self.stopped = True
        return kind, value
