"""Shows a running crawl from a thread of its own, so that a blocked terminal or a full pipe never holds it up."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from webarc.cli.crawl_view import View
    from webarc.crawler.job import Job, Progress, Result

_LOOK = 0.2
_MUCH = 200


class Display:
    """Passes on to a view what it is to show. Progress that comes too fast to be shown is left out, nothing else is."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._queue: SimpleQueue[tuple[Callable[[Any], None], Any] | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._problem: Exception | None = None
        self._given_up = False
        self.results: list[Result] = []

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Wait until all is shown: the crawl is over, so only the reader of our output can be waited for."""
        self._queue.put(None)
        while self._thread.is_alive() and not self._given_up:
            self._thread.join(_LOOK)
        if self._problem is not None:
            raise self._problem

    def give_up(self) -> None:
        """Do not wait for whoever reads our output; safe in a signal handler."""
        self._given_up = True

    def started(self, job: Job) -> None:
        """An instance has begun."""
        self._queue.put((self._view.started, job))

    def moved(self, progress: Progress) -> None:
        """An instance reports where it stands."""
        if self._queue.qsize() < _MUCH:
            self._queue.put((self._view.moved, progress))

    def ended(self, result: Result) -> None:
        """An instance has ended."""
        self.results.append(result)
        self._queue.put((self._view.ended, result))

    def say(self, text: str) -> None:
        """A remark for people."""
        self._queue.put((self._view.say, text))

    def _work(self) -> None:
        try:
            with self._view:
                while (step := self._queue.get()) is not None:
                    show, value = step
                    show(value)
        except OSError:
            _mute()  # nobody reads our output any more; the crawl goes on
        except Exception as error:  # noqa: BLE001 - a mistake of ours ends the command, after the crawl
            self._problem = error


def _mute() -> None:
    """What is still to be printed goes nowhere."""
    with suppress(OSError, ValueError):
        nothing = os.open(os.devnull, os.O_WRONLY)
        for stream in (sys.stdout, sys.stderr):
            os.dup2(nothing, stream.fileno())
        os.close(nothing)
