"""The line between an instance and the scheduler that started it.

The protocol on top of the channel: the scheduler may say `Stop`, and nothing else. The instance says `Progress` and
`Note` as often as it likes, then `Done` once. Progress is for people who watch: while the scheduler does not listen, as
when Ctrl-Z has stopped it, progress is dropped, and of remarks only as many are kept as fit a buffer.
Only `Done` waits until it is heard, after the instance has let go of everything.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import NoReturn

from webarc.crawler.channel import Channel, Gone
from webarc.crawler.job import Progress, Result
from webarc.crawler.processes import end_descendants
from webarc.crawler.watchdog import Watchdog
from webarc.heartbeat import STOPPED as STOP_MARK
from webarc.heartbeat import Heartbeats

_EVERY = 0.5
_LISTEN = 0.05
_SIGN = 1.0
_MOST_HELD = 64 * 1024
_LONGEST_NOTE = 2_000
STOPPED, STALLED = "stopped", "stalled"


@dataclass(frozen=True, slots=True)
class Stop:
    """Fetch nothing more, commit what is whole."""

    reason: str = STOPPED


@dataclass(frozen=True, slots=True)
class Note:
    """A remark for people."""

    text: str


@dataclass(frozen=True, slots=True)
class Done:
    """How the instance ended; the last thing that it says."""

    result: Result


CONTROL_TYPES = (Stop, Progress, Note, Done)


class Control:
    """An instance's end of the line; without a scheduler there is nobody to crawl for, and it ends at once."""

    def __init__(self, channel: Channel, beats: Heartbeats) -> None:
        self._channel = channel
        self._beats = beats
        self._movement = Watchdog(os.getpid(), beats)
        self._said = self._listen_at = self._sign_at = 0.0
        self._sign: Path | None = None
        self.reason = ""

    @property
    def stopped(self) -> bool:
        """Whether this instance is to stop."""
        return bool(self.reason)

    def fileno(self) -> int:
        """The descriptor of the line."""
        return self._channel.fileno()

    def show_movement(self, file: Path) -> None:
        """Touch this file from now on as long as the crawl moves, so that others can tell."""
        self._sign = file

    def check(self) -> bool:
        """Whether this instance is to stop; looks for the scheduler's word, and for signals, some times a second.

        Called at every heartbeat and in every wait, it also notices that the scheduler is gone, and shows movement.
        """
        now = monotonic()
        if now >= self._listen_at:
            self._listen_at = now + _LISTEN
            self._look(now)
        return self.stopped

    def progress(self, make: Callable[[], Progress]) -> None:
        """Report progress, at most twice a second, unless nobody listens."""
        now = monotonic()
        if now - self._said >= _EVERY:
            self._said = now
            self._channel.push()
            if not self._channel.held:
                self._channel.send(make())
                self._channel.push()

    def say(self, text: str) -> None:
        """A remark for people."""
        if self._channel.held < _MOST_HELD:
            self._channel.send(Note(text[:_LONGEST_NOTE]))
            self._channel.push()

    def done(self, result: Result) -> None:
        """Hand over the result; waits until it is taken, or nobody is there any more to take it."""
        self._channel.send(Done(result))
        self._channel.flush()

    def _look(self, now: float) -> None:
        # Signals are blocked here, so that git and rsync, which inherit that, are not ended by them either.
        if signal.SIGTERM in signal.sigpending():
            self.reason = self.reason or STOPPED
        try:
            for message in self._channel.receive():
                self.reason = self.reason or message.reason
        except Gone:
            _abandoned()
        if self.reason:
            self._beats.mark(STOP_MARK)
        if self._sign is not None and now >= self._sign_at:
            self._sign_at = now + _SIGN
            self._show(self._sign)

    def _show(self, sign: Path) -> None:
        if not self._movement.look():
            with suppress(OSError):
                os.utime(sign)


def _abandoned() -> NoReturn:
    """The command was killed. What it held is free at once; what was fetched stays for --resume."""
    end_descendants()
    os._exit(1)
