"""A limit on bytes a second for all transfers of a fetcher together."""

from __future__ import annotations

from time import monotonic

_SMALLEST_BUFFER = 1024
LARGEST_BUFFER = 256 * 1024


class Throttle:
    """A bucket that fills at `rate` bytes a second; it may be overdrawn once, and gives nothing until that is paid."""

    def __init__(self, rate: int) -> None:
        self._rate = max(1, rate)
        self._burst = self._rate / 10
        self._level = 0.0
        self._at = monotonic()

    @property
    def buffer(self) -> int:
        """How many bytes libcurl may hand over at once without spoiling the rate."""
        return min(max(_SMALLEST_BUFFER, self._rate // 10), LARGEST_BUFFER)

    def take(self, size: int) -> bool:
        """Whether these bytes may be taken now."""
        if self.wait() > 0:
            return False
        self._level -= size
        return True

    def wait(self) -> float:
        """Seconds until bytes may be taken again."""
        now = monotonic()
        self._level = min(self._burst, self._level + (now - self._at) * self._rate)
        self._at = now
        return -self._level / self._rate if self._level < 0 else 0.0
