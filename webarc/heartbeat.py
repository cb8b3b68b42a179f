"""Signs of life: every process of a crawl counts its steps where a watchdog in another process sees them.

Whatever may take long says `beat()` once per step: per page, per object, per look at a lock that somebody else holds.
Outside a crawl nobody watches, and a beat does nothing. Beside the counters stands what must be known of a crawl even
when none of its processes can be asked any more.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from mmap import mmap

FETCH, READ, WRITE = range(3)
STOPPED, RESUMABLE = range(2)
"""The crawl is to end, so nobody waits for long any more; it is noted so that `--resume` can go on with it."""
_SIDES, _MARKS, _TEXT = 3, 8, 40
_MARKS_AT = 8 * _SIDES
_TEXT_AT = _MARKS_AT + _MARKS
_SIZE = _TEXT_AT + _TEXT
_mine: memoryview | None = None
_look: Callable[[], object] | None = None


class Heartbeats:
    """One counter for each side of a crawl, in memory that its processes share with whoever has the descriptor."""

    def __init__(self, descriptor: int | None = None) -> None:
        if descriptor is None:
            descriptor = os.memfd_create("heartbeats")
            os.ftruncate(descriptor, _SIZE)
        self._descriptor = descriptor
        memory = memoryview(mmap(descriptor, _SIZE))
        self._counters = memory[:_MARKS_AT].cast("Q")
        self._marks = memory[_MARKS_AT:_TEXT_AT]
        self._text = memory[_TEXT_AT:]

    def fileno(self) -> int:
        """The descriptor to hand to another process."""
        return self._descriptor

    def counts(self) -> tuple[int, ...]:
        """The steps of each side so far."""
        return tuple(self._counters)

    def use(self, side: int) -> None:
        """This process, and those that it forks from now on, count as this side."""
        global _mine
        _mine = self._counters[side : side + 1]

    def mark(self, fact: int) -> None:
        """Let all know that something is so."""
        self._marks[fact] = 1

    def is_marked(self, fact: int) -> bool:
        """Whether something is so."""
        return bool(self._marks[fact])

    @property
    def crawl_time(self) -> str:
        """The crawl time, from which the commitTag is made; empty until there is one."""
        return bytes(self._text).rstrip(b"\0").decode("ascii")

    @crawl_time.setter
    def crawl_time(self, text: str) -> None:
        self._text[:] = text.encode("ascii")[:_TEXT].ljust(_TEXT, b"\0")

    def close(self) -> None:
        """Let go of the descriptor."""
        os.close(self._descriptor)


def beat() -> None:
    """Count one step of this process."""
    if _mine is not None:
        _mine[0] += 1
        if _look is not None:
            _look()


def look_at_beats(look: Callable[[], object] | None) -> None:
    """Have this process, not those that it forks, look around at every step; it must see to it that this is quick."""
    global _look
    _look = look


os.register_at_fork(after_in_child=lambda: look_at_beats(None))
