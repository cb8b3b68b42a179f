"""Signs of life: every process of a crawl counts its steps where a watchdog in another process sees them.

Whatever may take long says `beat()` once per step: per page, per object, per look at a lock that somebody else holds.
Outside a crawl nobody watches, and a beat does nothing.
"""

from __future__ import annotations

import os
from mmap import mmap

FETCH, READ, WRITE = range(3)
_SIDES = 3
_SIZE = 8 * _SIDES
_mine: memoryview | None = None


class Heartbeats:
    """One counter for each side of a crawl, in memory that its processes share with whoever has the descriptor."""

    def __init__(self, descriptor: int | None = None) -> None:
        if descriptor is None:
            descriptor = os.memfd_create("heartbeats")
            os.ftruncate(descriptor, _SIZE)
        self._descriptor = descriptor
        self._counters = memoryview(mmap(descriptor, _SIZE)).cast("Q")

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

    def close(self) -> None:
        """Let go of the descriptor."""
        os.close(self._descriptor)


def beat() -> None:
    """Count one step of this process."""
    if _mine is not None:
        _mine[0] += 1
