"""How often a command was asked to end: once to stop well, twice to give up.

One wish may come in several ways. systemd sends SIGTERM to all processes of a service, and the scheduler, which got it,
too, passes it on to its crawls; a terminal sends Ctrl-C to all processes of a group, and a program that started them
passes that on as SIGTERM. So each way is counted for itself, and the one with the most wishes tells: whoever asks
twice asks in the same way, however quickly. Only two signals that come together, as `timeout` sends one to a process
and one to its group, are one wish.
"""

from __future__ import annotations

import os
import signal
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from math import inf
from time import monotonic
from types import FrameType

from webarc.crawler.processes import adopt_orphans, end_descendants
from webarc.errors import Stopped

SIGNALS = (signal.SIGINT, signal.SIGTERM)
# What is written to the line of a crawl for each wish of the one who started it.
ONE_WISH = b"."
_BY_LINE = signal.SIGRTMIN
# No finger is that quick.
_TOGETHER = 0.05
_MANY = 64


class StopRequests:
    """Counts the wishes of a command, and sees to it that they are heeded, by its main thread."""

    def __init__(self) -> None:
        self._counts: Counter[int] = Counter()
        self._last: dict[int, float] = {}
        self._actions: tuple[Callable[[], None], Callable[[], None]] | None = None
        self._heeded = 0

    @property
    def wishes(self) -> int:
        """How often it was asked."""
        return max(self._counts.values(), default=0)

    def signalled(self, number: int, frame: FrameType | None = None) -> None:
        """A signal came; this may be its handler."""
        now = monotonic()
        if now - self._last.get(number, -inf) >= _TOGETHER:
            self._last[number] = now
            self._counts[number] += 1
            self._heed()

    def told(self, times: int) -> None:
        """Whoever started this command asked so many times more; where nobody heeds that yet, it ends the command."""
        self._counts[_BY_LINE] += times
        signal.pthread_kill(threading.main_thread().ident or 0, _BY_LINE)

    @contextmanager
    def heeded(self, stop: Callable[[], None], give_up: Callable[[], None]) -> Iterator[None]:
        """Until the end of the block, the first wish calls `stop` and every later one `give_up`."""
        actions, self._actions = self._actions, (stop, give_up)
        handlers = {number: signal.signal(number, self.signalled) for number in SIGNALS}
        handlers[_BY_LINE] = signal.signal(_BY_LINE, lambda *_: self._heed())
        try:
            yield
        finally:
            # After a stop only the exit code is left to say; a late second wish must not change it.
            for number, handler in handlers.items() if not self.wishes else ():
                signal.signal(number, handler)
            self._actions = actions

    def _heed(self) -> None:
        while self._actions is not None and self._heeded < self.wishes:
            self._heeded += 1
            self._actions[0 if self._heeded == 1 else 1]()


def listen(descriptor: int, requests: StopRequests) -> None:
    """Hear what whoever started this command says, from now on: wishes; when that process is gone, all ends at once."""
    threading.Thread(target=_listen, args=(descriptor, requests), daemon=True).start()


def _listen(descriptor: int, requests: StopRequests) -> None:
    while said := os.read(descriptor, _MANY):
        requests.told(len(said))
    # As if this command had been killed itself: what was fetched stays for --resume, and no lock is held any more.
    adopt_orphans()
    end_descendants()
    os._exit(Stopped.exit_code)


def ask(descriptors: Sequence[int]) -> None:
    """Tell commands that were started with such a line to stop; who has ended need not hear it."""
    for descriptor in descriptors:
        try:
            os.write(descriptor, ONE_WISH)
        except OSError:
            continue
