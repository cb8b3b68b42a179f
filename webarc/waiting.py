"""Waiting for what somebody else holds: for how long, whether to go on, and a word to people.

A process has one manner of waiting, as it has one heartbeat. Whoever waits makes a `Wait` and calls its `pause` between
two looks: so every wait has an end, counts as movement, is said, and ends when the process is asked to end.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from webarc.errors import Locked, Stopped
from webarc.heartbeat import beat

# How long something is waited for where nothing else is said: longer than work on a large domain, but not for ever.
LONGEST = 3600.0
# How a word about it begins.
WAITING = "waiting: "
_FIRST_NAP = 0.005
# Most of what is held is let go of within that time: nobody need hear of it, and no commit need be lost by it.
_SILENCE = 0.5
_GRACE = 1.0


def _nobody_asked() -> bool:
    return False


def _unheard(_text: str) -> None:
    pass


@dataclass(frozen=True, slots=True)
class Manner:
    """How a process waits: so many seconds (None: for ever), until it is to end, telling people by `say`."""

    longest: float | None = LONGEST
    stopped: Callable[[], bool] = _nobody_asked
    say: Callable[[str], None] = _unheard


_manner = Manner()


def use(manner: Manner) -> None:
    """This process waits in that manner from now on, and so do those that it forks."""
    global _manner
    _manner = manner


@contextmanager
def using(longest: float | None = None, say: Callable[[str], None] | None = None) -> Iterator[None]:
    """Wait so long, or tell people by `say`, inside."""
    before = _manner
    use(replace(before, longest=before.longest if longest is None else longest, say=say or before.say))
    try:
        yield
    finally:
        use(before)


def longest() -> float | None:
    """How long this process waits for what it needs."""
    return _manner.longest


def left_of(longest: float | None, began: float) -> float | None:
    """What is left of a time to wait that began then, for whoever waits for several things one after the other."""
    return None if longest is None else max(began + longest - time.monotonic(), 0.0)


class Wait:
    """One wait; the complaint says what is waited for and who has it."""

    def __init__(self, complaint: Callable[[], str], longest: float | None, longest_nap: float = 0.5) -> None:
        self._complaint = complaint
        self._longest = longest
        self._longest_nap = longest_nap
        self._began = time.monotonic()
        self._nap = _FIRST_NAP
        self._said = False

    def pause(self) -> None:
        """Sleep until the next look; raises Locked after the longest time, Stopped if the process is to end."""
        waited = time.monotonic() - self._began
        if self._longest is not None and waited >= self._longest:
            raise Locked(self._complaint())
        if _manner.stopped() and waited >= _GRACE:
            raise Stopped(f"stopped while {self._complaint()}")
        if waited >= _SILENCE and not self._said:
            self._said = True
            _manner.say(f"{WAITING}{self._complaint()}")
        beat()  # to wait is planned, and has an end
        time.sleep(self._nap if self._longest is None else min(self._nap, self._longest - waited))
        self._nap = min(self._nap * 2, self._longest_nap)
