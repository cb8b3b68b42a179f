"""How gently a host is treated: connections at once, seconds between requests, pauses it asked for."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from time import monotonic

# A robots.txt that asks for an hour between two pages would stop a crawl as surely as `Disallow: /`.
LONGEST_CRAWL_DELAY = 60.0


@dataclass(slots=True)
class _Host:
    running: int = 0
    free_at: float = 0.0
    gap: float = 0.0
    serial: bool = False


class Manners:
    """Says per host when the next request may start; times are those of time.monotonic()."""

    def __init__(self, wait: float = 0.0, random_wait: bool = False, connections: int = 4) -> None:
        self._wait = wait
        self._random = random_wait
        self._connections = max(1, connections)
        self._hosts: dict[str, _Host] = {}

    def may_start(self, host: str, now: float) -> float:
        """0 for now, else seconds to wait; infinity while all connections are busy."""
        state = self._hosts.get(host)
        if state is None:
            return 0.0
        if state.running >= (1 if state.serial else self._connections):
            return math.inf
        return max(0.0, state.free_at - now)

    def started(self, host: str, now: float | None = None) -> None:
        """A request to the host has begun."""
        state = self._state(host)
        state.running += 1
        gap = max(self._spread(self._wait), state.gap)
        if gap:
            state.free_at = max(state.free_at, (monotonic() if now is None else now) + gap)

    def finished(self, host: str) -> None:
        """A request to the host has ended, well or not."""
        state = self._state(host)
        state.running = max(0, state.running - 1)

    def crawl_delay(self, host: str, seconds: float) -> None:
        """What robots.txt asks for: that many seconds between requests, and one at a time."""
        state = self._state(host)
        state.gap = min(max(0.0, seconds), LONGEST_CRAWL_DELAY)
        state.serial = state.gap > 0

    def pause(self, host: str, until: float) -> None:
        """Leave the host alone until then."""
        state = self._state(host)
        state.free_at = max(state.free_at, until)

    def _state(self, host: str) -> _Host:
        return self._hosts.setdefault(host, _Host())

    def _spread(self, seconds: float) -> float:
        return seconds * random.uniform(0.5, 1.5) if self._random else seconds  # noqa: S311
