"""The line between the fetch side and the archive side of a crawl.

The protocol on top of the channel, in order: any number of `Owned` and `Captured`, one `Judge`, one `Write`, the end.
`Judge` and `Write` carry a number, and every `Reply` repeats the number of what it replies to: one reply to `Judge`; to
`Write` one for each thing that happens, and a last one that holds nothing. A `Remark` for people may come at any time.
How many captures are done is counted in shared memory, which needs no message; while too many are not, `has_room` is
false and the fetch side asks for nothing. That the crawl is to end stands in shared memory as well: the archive side
goes on, but does not wait for locks any more.
"""

from __future__ import annotations

import os
import signal
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from time import monotonic
from types import TracebackType
from typing import Any, NamedTuple

from webarc.crawler.capture import Capture, Committed, Landed, LeftOut, Order, Own, Verdicts
from webarc.crawler.channel import Disordered
from webarc.crawler.companion import Companion, Inbox
from webarc.crawler.keeper import Keeper
from webarc.crawler.processes import die_with
from webarc.crawler.ring import Ring, Slot
from webarc.heartbeat import STOPPED, WRITE, Heartbeats, beat
from webarc.waiting import Manner, longest, use

_NAME = "the process that writes to the archive"
_TOGETHER = 16
_MOST_WAITING = 512
_MOST_BYTES = 4 * 1024 * 1024
_IN_PLACE = -1
_LISTEN = 0.1
Event = Landed | Committed | LeftOut


class Captured(NamedTuple):
    """A capture, as a plain tuple, and where in the ring its body is; a negative place: it is in the temp dir."""

    capture: tuple[object, ...]
    start: int


@dataclass(frozen=True, slots=True)
class Owned:
    """The crawl owns a domain from now on."""

    own: Own


@dataclass(frozen=True, slots=True)
class Judge:
    """No more captures will come: say what became of them."""

    number: int


@dataclass(frozen=True, slots=True)
class Write:
    """Commit everything."""

    number: int
    orders: list[Order]


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer to the request of that number; the last one to `Write` holds None."""

    to: int
    value: Verdicts | Event | None


@dataclass(frozen=True, slots=True)
class Remark:
    """A word for people."""

    text: str


KEEPER_TYPES = (Captured, Owned, Judge, Write, Reply, Remark)
_JUDGE, _WRITE = 1, 2


class KeeperLine:
    """The fetch side's end; a keeper's error is raised here. `idle` is called a few times a second while it waits."""

    def __init__(
        self,
        companion: Companion,
        ring: Ring,
        idle: Callable[[], None],
        say: Callable[[str], None],
        beats: Heartbeats | None = None,
    ) -> None:
        self._companion = companion
        self._say = say
        self._beats = beats
        self._channel = companion.channel
        self._ring = ring
        self._idle = idle
        self._captures = self._unsent = 0
        self._requests = 0
        self._listened = 0.0
        self._replies: deque[Reply] = deque()

    @classmethod
    def begin(
        cls,
        make: Callable[[], Keeper],
        ring: Ring,
        idle: Callable[[], None],
        say: Callable[[str], None],
        *,
        beats: Heartbeats | None = None,
        closing: Sequence[int] = (),
    ) -> KeeperLine:
        """Start the process that writes."""
        work = partial(_work, make, ring, beats, os.getpid())
        companion = Companion(_NAME, work, KEEPER_TYPES, beats=beats, side=WRITE, closing=closing)
        return cls(companion, ring, idle, say, beats)

    def __enter__(self) -> KeeperLine:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if error is not None and self._beats is not None:
            self._beats.mark(STOPPED)  # nobody needs what the other side may be waiting for
        self._companion.__exit__(kind, error, at)

    def fileno(self) -> int:
        """The descriptor of the channel."""
        return self._companion.fileno()

    @property
    def has_room(self) -> bool:
        """Whether more captures may be handed over now."""
        return self._captures - self._ring.done < _MOST_WAITING and self._channel.held < _MOST_BYTES

    def listen(self, *, at_once: bool) -> None:
        """Hand over what waits for company, and look for an error of the other side now and then."""
        now = monotonic()
        if at_once or now - self._listened > _LISTEN:
            self._listened = now
            self._push()
            self._replies += self._heard() if self._channel.wait(0) else ()

    def own(self, domain: str, crawl_time: str) -> None:
        """The crawl owns this domain from now on."""
        self._send(Owned(Own(domain, crawl_time)))

    def keep(self, capture: Capture, slot: Slot | None) -> None:
        """Hand over one good answer; without a slot, its body lies in its place in the temp dir."""
        self._captures += 1
        if slot is not None:
            self._ring.release(slot, after=self._captures)
        self._send(Captured(tuple(capture), _IN_PLACE if slot is None else slot.start))

    def verdicts(self) -> Verdicts:
        """Wait until everything handed over is judged."""
        self._request(_JUDGE, Judge(_JUDGE))
        verdicts = self._reply(_JUDGE)
        if not isinstance(verdicts, Verdicts):
            raise Disordered(f"{_NAME} gave no verdicts; please report this.")
        return verdicts

    def commit(self, orders: list[Order]) -> Iterator[Event]:
        """Have everything committed; hears of each domain when its commit has landed and when it is brought."""
        self._request(_WRITE, Write(_WRITE, orders))
        while (event := self._reply(_WRITE)) is not None:
            if isinstance(event, Verdicts):
                raise Disordered(f"{_NAME} gave verdicts twice; please report this.")
            yield event

    def _request(self, number: int, message: object) -> None:
        if number != self._requests + 1:
            raise Disordered(f"request {number} was made of {_NAME} out of turn; please report this.")
        self._requests = number
        self._send(message)
        self._push()

    def _send(self, message: object) -> None:
        if self._requests and isinstance(message, (Captured, Owned)):
            raise Disordered(f"{_NAME} got a page after it had been asked to judge all of them; please report this.")
        self._channel.send(message)
        self._unsent += 1
        if self._unsent >= _TOGETHER:
            self._push()

    def _push(self) -> None:
        self._unsent = 0
        self._channel.push()

    def _reply(self, number: int) -> Verdicts | Event | None:
        """The next reply to a request; the watchdog ends the crawl if the other side stops moving before it."""
        while not self._replies:
            if self._channel.wait(_LISTEN):
                self._replies += self._heard()
            self._idle()
        reply = self._replies.popleft()
        if reply.to != number:
            raise Disordered(f"{_NAME} replied to request {reply.to} instead of {number}; please report this.")
        return reply.value

    def _heard(self) -> list[Reply]:
        replies = []
        for message in self._companion.heard():
            if isinstance(message, Remark):
                self._say(message.text)
            elif isinstance(message, Reply) and 0 < message.to <= self._requests:
                replies.append(message)
            else:
                raise Disordered(f"{_NAME} said {message!r} unasked; please report this.")
        return replies


def _work(make: Callable[[], Keeper], ring: Ring, beats: Heartbeats | None, parent: int, inbox: Inbox) -> None:
    """The keeper's process: works through messages until the other end is closed."""
    die_with(parent)
    use(Manner(longest(), partial(_is_to_end, beats, parent), partial(_say, inbox)))
    keeper = make()
    captures = 0
    try:
        while True:
            for message in inbox.messages():
                if isinstance(message, Captured):
                    _keep(keeper, ring, message)
                    captures += 1
                    ring.count(captures)
                else:
                    _do(keeper, inbox, message)
                beat()
    except BaseException:
        keeper.abort()
        raise


def _is_to_end(beats: Heartbeats | None, parent: int) -> bool:
    """Asked while a lock is waited for. A signal to end is the fetch side's to heed, so it is passed on."""
    if signal.SIGTERM in signal.sigpending():
        os.kill(parent, signal.SIGTERM)
    return beats is not None and beats.is_marked(STOPPED)


def _say(inbox: Inbox, text: str) -> None:
    inbox.answer(Remark(text))
    inbox.flush()


def _keep(keeper: Keeper, ring: Ring, message: Captured) -> None:
    capture = Capture._make(message.capture)
    keeper.keep(capture, None if message.start == _IN_PLACE else ring.body(message.start, capture.length))


def _do(keeper: Keeper, inbox: Inbox, message: Any) -> None:
    if isinstance(message, Owned):
        keeper.own(message.own)
    elif isinstance(message, Judge):
        _reply(inbox, message.number, keeper.verdicts())
        keeper.seal()
    elif isinstance(message, Write):
        for event in keeper.commit(message.orders):
            _reply(inbox, message.number, event)
            beat()
        _reply(inbox, message.number, None)
    else:
        raise Disordered(f"{_NAME} cannot do {message!r}; please report this.")


def _reply(inbox: Inbox, number: int, value: Verdicts | Event | None) -> None:
    inbox.answer(Reply(number, value))
    inbox.flush()
