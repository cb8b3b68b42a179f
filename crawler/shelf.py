"""Where a body waits for the reader and for the archive side: small ones in the ring, others in the temp dir."""

from __future__ import annotations

from pathlib import Path

from webarc.crawler.exchange import Answer
from webarc.crawler.ring import Ring, Slot

_SMALL = 1024 * 1024


class Shelf:
    """Puts bodies away; nobody waits for room in the ring, since requests stop before it is full."""

    def __init__(self, ring: Ring) -> None:
        self._ring = ring

    @property
    def has_room(self) -> bool:
        """Whether more bodies may be asked for now."""
        return self._ring.has_room

    def put(self, answer: Answer, part: Path | str) -> Slot | None:
        """Put a body away; None if it now lies in its place in the temp dir."""
        body, answer.body = answer.body, None
        if answer.stored or body is None:
            return None
        slot = self._ring.put(body) if len(body) <= _SMALL else None
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
