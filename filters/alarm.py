"""A limit on the time that a filter may take, even one that catches everything."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

_AGAIN = 0.1


class _TimeUp(BaseException):
    """The time limit; not an Exception, so that a filter's own `except Exception` does not swallow it."""


class Alarm:
    """Asks a filter and rings when it takes too long; `late` says whether it did, whatever it answered then."""

    def __init__(self, limit: float) -> None:
        self._limit = limit
        self._asking = False
        self.late = False

    def ask(self, keep: Callable[[Path], Any], path: Path) -> Any:
        """The filter's answer; the limit needs the main thread, since only it gets signals."""
        self.late = False
        if threading.current_thread() is not threading.main_thread():
            return keep(path)
        handler, tracer = signal.signal(signal.SIGALRM, self._ring), sys.gettrace()
        # Whose alarm was set before gets it back.
        before = signal.setitimer(signal.ITIMER_REAL, self._limit, _AGAIN)
        try:
            self._asking = True
            try:
                return keep(path)
            finally:
                self._asking = False
        finally:
            # Again, in case it rang when the filter had just answered.
            self._asking = False
            if self.late:
                sys.settrace(tracer)
            signal.setitimer(signal.ITIMER_REAL, *before)
            signal.signal(signal.SIGALRM, handler)

    def _ring(self, number: int, frame: FrameType | None) -> None:
        if not self._asking:
            return
        # The first time, the filter may still clean up after itself.
        if self.late:
            _corner(frame)
        self.late = True
        raise _TimeUp


def _corner(frame: FrameType | None) -> None:
    """Let the alarm ring also in the line after the one that it interrupts: that is where a filter has caught it."""
    while frame is not None and frame.f_code is not Alarm.ask.__code__:
        frame.f_trace = _no_further
        frame = frame.f_back
    sys.settrace(_no_further)


def _no_further(frame: FrameType, event: str, argument: Any) -> Any:
    if event == "line":
        raise _TimeUp
    return _no_further
