"""A process that works beside the fetch side of a crawl, at the other end of a channel."""

from __future__ import annotations

import os
import select
import signal
import socket
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import inf
from types import TracebackType
from typing import Any, Self

from webarc.archive.failures import storage_problem
from webarc.crawler.channel import Channel, Gone
from webarc.crawler.processes import descendants, is_same_program, kill, work_of
from webarc.errors import WebarcError
from webarc.heartbeat import Heartbeats

Work = Callable[["Inbox"], None]
_LISTEN = 0.5
_TOGETHER = 16
_LAST_WORDS = 5.0
_STANDSTILL = 10.0
_NAP = 0.005
_LONGEST_NAP = 0.1


@dataclass(frozen=True, slots=True)
class Failed:
    """The process cannot go on; the last thing that it says."""

    error: WebarcError


class Inbox:
    """The companion's end: it may wait for the fetch side, which never waits for it while it sends."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._parent = os.getppid()
        self._passed_on = False
        self._held_back = 0

    def messages(self) -> list[Any]:
        """What has been said since the last time, waiting for it; raises Gone when the fetch side has ended."""
        came = False
        while not came:
            came = self._channel.wait(_LISTEN)
            self._pass_stop_on()
        return self._channel.receive()

    def answer(self, message: object) -> None:
        """Say something to the fetch side, soon."""
        self._channel.send(message)
        self._held_back += 1
        # The other side goes on as soon as it hears something; to wake it for every answer would cost more.
        if self._held_back >= _TOGETHER:
            self._held_back = 0
            self._channel.push()

    def flush(self) -> None:
        """Wait until everything is said."""
        self._channel.flush()

    def _pass_stop_on(self) -> None:
        """A request to end is for the whole crawl: the fetch side stops fetching and has what is whole committed."""
        if not self._passed_on and signal.SIGTERM in signal.sigpending():
            self._passed_on = True
            with suppress(ProcessLookupError):
                os.kill(self._parent, signal.SIGTERM)


class Companion:
    """Does what `work` does with its end of the channel until this end is closed; an error there is raised here."""

    def __init__(
        self,
        name: str,
        work: Work,
        types: Sequence[type],
        *,
        beats: Heartbeats | None = None,
        side: int = 0,
        closing: Sequence[int] = (),
        longest_end: float = inf,
    ) -> None:
        """`closing` are descriptors that the new process must not hold: a line ends when nobody has its other end.

        `longest_end` is how long it may take to end, for one that has nothing to lose.
        """
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        self._name = name
        self._beats, self._side, self._longest_end = beats, side, longest_end
        types = (*types, Failed)
        self._process = os.fork()
        if not self._process:
            if beats is not None:
                beats.use(side)
            _serve(name, work, Channel(theirs, types), (ours.fileno(), *closing))
        theirs.close()
        self.channel = Channel(ours, types)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.channel.close()
        self._end()

    def fileno(self) -> int:
        """What becomes readable when the process says something."""
        return self.channel.fileno()

    def heard(self) -> list[Any]:
        """What it has said; an error there is raised here."""
        try:
            messages = self.channel.receive()
        except Gone:
            raise WebarcError(f"{self._name} died.") from None
        for message in messages:
            if isinstance(message, Failed):
                raise message.error
        return messages

    def _end(self) -> None:
        """Wait until it has ended, as long as that moves: what stands still is killed.

        Nothing here counts as a step of this process: the watchdog is to see if the wait gets too long.
        """
        nap, began, last = _NAP, time.monotonic(), self._steps()
        moved = began
        while not _has_ended(self._process, nap):
            nap = min(nap * 2, _LONGEST_NAP)
            now = time.monotonic()
            if now - moved > _STANDSTILL or now - began > self._longest_end:
                for pid in (*descendants(self._process), self._process):
                    kill(pid)
            elif nap == _LONGEST_NAP and (steps := self._steps()) != last:
                moved, last = now, steps

    def _steps(self) -> list[tuple[int, ...]]:
        """What counts as movement: its own steps and the work of programs that it started, not that it computes."""
        mine = self._beats.counts()[self._side : self._side + 1] if self._beats else work_of(self._process)
        programs = [pid for pid in descendants(self._process) if not is_same_program(pid, self._process)]
        return [mine, *map(work_of, programs)]


def _has_ended(process: int, longest: float) -> bool:
    """Whether a child has ended; waits for that, but not longer."""
    try:
        descriptor = os.pidfd_open(process)
    except OSError:  # the system has no such descriptors, or none is left
        time.sleep(longest)
    else:
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        poll.poll(longest * 1000)
        os.close(descriptor)
    try:
        return os.waitpid(process, os.WNOHANG)[0] == process
    except ChildProcessError:
        return True


def _serve(name: str, work: Work, channel: Channel, closing: Sequence[int]) -> None:
    code = 1
    try:
        for descriptor in closing:
            os.close(descriptor)
        try:
            work(Inbox(channel))
        except (Gone, BrokenPipeError):
            pass  # the fetch side has ended, for a reason of its own
        except Exception as error:  # noqa: BLE001 - whatever it is, the fetch side must hear of it
            channel.send(Failed(_ours(name, error)))
            _last_words(channel)
        code = 0
    finally:
        # Never back to where it was forked: that is the other process's business.
        with suppress(OSError, ValueError):
            sys.stderr.flush()
        os._exit(code)


def _last_words(channel: Channel) -> None:
    until = time.monotonic() + _LAST_WORDS
    while channel.held and time.monotonic() < until:
        channel.push()
        time.sleep(_NAP)


def _ours(name: str, error: Exception) -> WebarcError:
    """The error as one of ours, which travels through the channel."""
    if isinstance(error, WebarcError):
        return error
    if isinstance(error, OSError):
        return storage_problem(name, error)
    return WebarcError(f"{name} failed unexpectedly: {error!r}; please report this.")
