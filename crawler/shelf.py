"""Where a body waits for the reader and for the archive side: small ones in the ring, others in the temp dir."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from time import monotonic, sleep

from webarc.crawler.exchange import Answer
from webarc.crawler.ring import Ring, Slot

_SMALL = 1024 * 1024
_PATIENCE = 0.2
_NAP = 0.001


class Shelf:
    """Puts bodies away; `make_room` is called when the ring is full, and hears what the reader has done."""

    def __init__(self, ring: Ring, make_room: Callable[[], None]) -> None:
        self._ring = ring
        self._make_room = make_room

    def put(self, answer: Answer, part: Path | str) -> Slot | None:
        """Put a body away; None if it now lies in its place in the temp dir."""
        body, answer.body = answer.body, None
        if answer.stored or body is None:
            return None
        slot = self._in_ring(body) if len(body) <= _SMALL else None
        if slot is None:
            file = Path(part)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(body)
        return slot

    def drop(self, slot: Slot | None, part: Path | str) -> None:
        """A body is not wanted."""
        if slot is None:
            Path(part).unlink(missing_ok=True)
        else:
            self._ring.release(slot)

    def _in_ring(self, body: bytes) -> Slot | None:
        """A place in the ring; where the others are far behind, they are waited for a moment."""
        slot, until = self._ring.put(body), None
        while slot is None:
            until = until or monotonic() + _PATIENCE
            if monotonic() > until:
                return None
            self._make_room()
            sleep(_NAP)
            slot = self._ring.put(body)
        return slot
