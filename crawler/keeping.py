"""The pipe between the fetch side and the archive side of a crawl."""

from __future__ import annotations

import marshal
import pickle
from collections.abc import Callable, Iterator
from functools import partial
from multiprocessing.connection import Connection
from types import TracebackType

from webarc.crawler.capture import Capture, Committed, Landed, Order, Own, Verdicts
from webarc.crawler.companion import Companion
from webarc.crawler.keeper import Keeper
from webarc.crawler.ring import Ring, Slot

_NAME = "the process that writes to the archive"
_VERDICTS, _COMMIT = "verdicts", "commit"
# How every pickle begins, and no list that marshal writes.
_PICKLED = b"\x80"
_TOGETHER = 16
_IN_PLACE = -1


class KeeperLine:
    """The fetch side's end: starts the keeper's process and talks to it; a keeper's error is raised here."""

    def __init__(self, make: Callable[[], Keeper], ring: Ring) -> None:
        self._ring = ring
        self.companion = Companion(_NAME, partial(_work, make, ring))
        self._held: list[tuple[tuple[object, ...], int]] = []
        self._captures = 0

    def __enter__(self) -> KeeperLine:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.companion.__exit__(kind, error, at)

    def flush(self) -> None:
        """Hand over what is held back to be sent together."""
        if self._held:
            held, self._held = self._held, []
            self.companion.tell(marshal.dumps(held))

    def own(self, domain: str, crawl_time: str) -> None:
        """The crawl owns this domain from now on."""
        self.companion.ask(Own(domain, crawl_time))

    def keep(self, capture: Capture, slot: Slot | None) -> None:
        """Hand over one good answer; without a slot, its body lies in its place in the temp dir."""
        self._captures += 1
        if slot is not None:
            self._ring.release(slot, after=self._captures)
        self._held.append((tuple(capture), _IN_PLACE if slot is None else slot.start))
        if len(self._held) >= _TOGETHER:
            self.flush()

    def verdicts(self) -> Verdicts:
        """Wait until everything handed over is judged."""
        self.flush()
        self.companion.ask(_VERDICTS)
        verdicts: Verdicts = self.companion.answer()
        return verdicts

    def commit(self, orders: list[Order]) -> Iterator[Landed | Committed]:
        """Have everything committed; hears of each domain when its commit has landed and when it is brought."""
        self.companion.ask((_COMMIT, orders))
        while (event := self.companion.answer()) is not None:
            yield event


def _work(make: Callable[[], Keeper], ring: Ring, connection: Connection) -> None:
    """The keeper's process: works through messages until the other end is closed."""
    keeper = make()
    try:
        _listen(connection, keeper, ring)
    except BaseException:
        keeper.abort()
        raise


def _listen(connection: Connection, keeper: Keeper, ring: Ring) -> None:
    captures = 0
    while True:
        received = connection.recv_bytes()
        if not received.startswith(_PICKLED):
            for values, start in marshal.loads(received):  # noqa: S302 - written by our own other half
                capture = Capture._make(values)
                keeper.keep(capture, None if start == _IN_PLACE else ring.body(start, capture.length))
                captures += 1
                ring.count(captures)
            continue
        message = pickle.loads(received)  # noqa: S301 - the same
        if isinstance(message, Own):
            keeper.own(message)
        elif message == _VERDICTS:
            connection.send(keeper.verdicts())
            keeper.seal()
        else:
            for event in keeper.commit(message[1]):
                connection.send(event)
            connection.send(None)
