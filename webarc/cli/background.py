"""Prints from a thread of its own, so that a blocked terminal or a full pipe never holds up the work."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path
from queue import SimpleQueue
from time import monotonic
from typing import Any, Self

_LOOK = 0.1


class Background:
    """Calls one thing after the other, within a context that is entered and left there, too.

    At its end, whoever reads our output is waited for, but not for longer than `patience` tells if nothing is read.
    """

    def __init__(self, patience: Callable[[], float], within: AbstractContextManager[object] | None = None) -> None:
        self._patience = patience
        self._within = within or nullcontext()
        self._queue: SimpleQueue[tuple[Callable[[Any], object], Any] | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._problem: Exception | None = None
        self._given_up = False

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._queue.put(None)
        written, moved = _written(), monotonic()
        while self.is_busy and not self._given_up and monotonic() - moved < self._patience():
            self._thread.join(_LOOK)
            if _written() != written:
                written, moved = _written(), monotonic()
        if self._problem is not None:
            raise self._problem

    @property
    def is_busy(self) -> bool:
        """Whether it is at work; after the end: whether it is stuck, because nobody reads our output."""
        return self._thread.is_alive()

    @property
    def waiting(self) -> int:
        """How many calls are still to be made."""
        return self._queue.qsize()

    def call(self, function: Callable[[Any], object], value: object) -> None:
        """Have a function called with a value, soon."""
        self._queue.put((function, value))

    def give_up(self) -> None:
        """Do not wait for whoever reads our output; safe in a signal handler."""
        self._given_up = True

    def _work(self) -> None:
        try:
            with self._within:
                while (step := self._queue.get()) is not None:
                    function, value = step
                    function(value)
        except OSError:
            _mute()  # nobody reads our output any more; the work goes on
        except Exception as error:  # noqa: BLE001 - a mistake of ours ends the command, after the work
            self._problem = error


def leave_output() -> None:
    """Nobody reads our output: what is still to be printed goes nowhere, and does not wait for what is stuck."""
    nothing = Path(os.devnull)
    sys.stdout = nothing.open("w", encoding="utf-8")
    sys.stderr = nothing.open("w", encoding="utf-8")


def _written() -> str:
    """What this process has written so far."""
    with suppress(OSError):
        return next((line for line in Path("/proc/self/io").read_text().splitlines() if line.startswith("wchar")), "")
    return ""


def _mute() -> None:
    """What is still to be printed goes nowhere."""
    with suppress(OSError, ValueError):
        nothing = os.open(os.devnull, os.O_WRONLY)
        for stream in (sys.stdout, sys.stderr):
            os.dup2(nothing, stream.fileno())
        os.close(nothing)
