"""Bodies on their way between the processes of a crawl, in memory that they share: no byte goes through a pipe.

The fetch side puts bodies in and gives their room away again, in the order they came; the others only read. The archive
side says how far it has come by counting, which needs no message.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from mmap import mmap

_SIZE = 16 * 1024 * 1024
_COUNTER = 8


@dataclass(slots=True, eq=False)
class Slot:
    """The place of one body; `until` says after how many captures it is free, None that it is still needed."""

    start: int
    length: int
    until: int | None = None


class Ring:
    """To be made before the processes are: what is put in later is seen by all of them."""

    def __init__(self, size: int = _SIZE) -> None:
        whole = memoryview(mmap(-1, _COUNTER + size))
        self._done = whole[:_COUNTER].cast("Q")
        self._room = whole[_COUNTER:]
        self._slots: deque[Slot] = deque()
        self._next = 0

    def put(self, body: bytes) -> Slot | None:
        """Copy a body in; None if there is no room for it now."""
        self._give_away()
        length = len(body)
        start = self._place(max(length, 1))
        if start is None:
            return None
        self._room[start : start + length] = body
        slot = Slot(start, length)
        self._slots.append(slot)
        self._next = start + max(length, 1)
        return slot

    def release(self, slot: Slot, after: int = 0) -> None:
        """The body is not needed any more once so many captures are done."""
        slot.until = after

    def body(self, start: int, length: int) -> memoryview:
        """A body, as long as nobody has released it."""
        return self._room[start : start + length]

    @property
    def done(self) -> int:
        """How many captures are done."""
        return int(self._done[0])

    @property
    def has_room(self) -> bool:
        """Whether at least a half is free, so that what is under way still finds its place."""
        self._give_away()
        if not self._slots:
            return True
        used = self._next - self._slots[0].start
        return used % len(self._room) < len(self._room) // 2 if used else False

    def count(self, captures: int) -> None:
        """So many captures are done."""
        self._done[0] = captures

    def _give_away(self) -> None:
        slots, done = self._slots, self._done[0]
        while slots and slots[0].until is not None and slots[0].until <= done:
            slots.popleft()

    def _place(self, length: int) -> int | None:
        """Where so many bytes fit; what is used never grows so far that its end meets its beginning."""
        if not self._slots:
            return 0 if length <= len(self._room) else None
        oldest = self._slots[0].start
        if self._next <= oldest:
            return self._next if length < oldest - self._next else None
        if length <= len(self._room) - self._next:
            return self._next
        return 0 if length < oldest else None
