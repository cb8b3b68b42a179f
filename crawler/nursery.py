"""The process that instances are forked from: it has loaded what they need, so they start at once and share its memory.

The command line forks it before it loads anything itself, so that both load at the same time. It also looks after all
of them: whatever an instance leaves behind when it dies is ended, and when the command dies, everything is.

The protocol: the command sends the number of an order and four descriptors (the instance's line, job, heartbeats and
stacks); the answer is that number and the id of the new process. The command does not wait for it: an answer is one
event among others. A server that has orders and does not move is killed, and another one gets them.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import sys
from contextlib import suppress
from dataclasses import dataclass
from time import monotonic, sleep
from typing import TYPE_CHECKING, NoReturn

from webarc.errors import WebarcError

if TYPE_CHECKING:
    from subprocess import Popen

    from webarc.crawler.channel import Channel
    from webarc.crawler.job import Job
    from webarc.crawler.watchdog import Stacks
    from webarc.heartbeat import Heartbeats

_LONGEST_MESSAGE = 64
# How long a server that has orders may stand still.
_PATIENCE = 5.0
_MOST_SERVERS = 2
_LOOK = 1.0
_DYING, _NAP = 1.0, 0.01
_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_nursery: Nursery | None = None


@dataclass(frozen=True, slots=True)
class Instance:
    """A process that works on a job: our end of its line, and what it can be watched by."""

    channel: Channel
    process: int
    beats: Heartbeats
    stacks: Stacks

    def close(self) -> None:
        """Let go of it."""
        for each in (self.channel, self.beats, self.stacks):
            each.close()


class _Order:
    """An instance that was asked for and has not begun."""

    def __init__(self, job: Job) -> None:
        from webarc.crawler.channel import pair
        from webarc.crawler.control import CONTROL_TYPES
        from webarc.crawler.watchdog import Stacks
        from webarc.heartbeat import Heartbeats

        self.job = job
        self._channel, self._theirs = pair(CONTROL_TYPES)
        self._beats, self._stacks = Heartbeats(), Stacks()

    def send(self, server: _Server, number: int) -> None:
        """Ask for it; a server that has died is found out when its answer is looked for."""
        task = _written(self.job)
        with suppress(OSError):
            server.ask(number, (self._theirs.fileno(), task, self._beats.fileno(), self._stacks.fileno()))
        self._theirs.close()
        os.close(task)

    def begun(self, process: int) -> Instance:
        """The instance, which is at work now."""
        return Instance(self._channel, process, self._beats, self._stacks)

    def drop(self) -> None:
        """It is not wanted any more; should it begin all the same, it finds nobody at the other end, and ends."""
        self.begun(0).close()


class _Ended(Exception):
    """A server has died, or it stands still."""


class _Server:
    """Our end of the line to the process that forks."""

    def __init__(self, line: socket.socket, process: int, handle: Popen[bytes] | None = None) -> None:
        line.setblocking(False)
        self._line = line
        self._process = process
        self._handle = handle
        self._moved, self._work = monotonic(), ()  # type: tuple[float, tuple[int, ...]]

    def fileno(self) -> int:
        return self._line.fileno()

    def ask(self, number: int, descriptors: tuple[int, ...]) -> None:
        self._moved = monotonic()
        socket.send_fds(self._line, [b"%d" % number], list(descriptors))

    def answers(self) -> list[tuple[int, int]]:
        """Numbers of orders and the processes that work on them; raises _Ended if none will ever come."""
        found = []
        try:
            while True:
                number, _, process = self._received().partition(b" ")
                found.append((int(number), int(process)))
        except BlockingIOError:
            pass
        except _Ended:
            if not found:  # what it had answered before counts; the next look finds out
                raise
        if found:
            self._moved = monotonic()
        elif self._stands_still():
            raise _Ended
        return found

    def end(self) -> None:
        """Kill it; it may have been stopped. Instances at work go on without it."""
        from webarc.crawler.processes import kill

        self._line.close()
        kill(self._process)
        until = monotonic() + _DYING
        while not self._has_ended() and monotonic() < until:
            sleep(_NAP)

    def _received(self) -> bytes:
        try:
            answer = self._line.recv(_LONGEST_MESSAGE)
        except BlockingIOError:
            raise
        except OSError:
            answer = b""
        if not answer:
            raise _Ended
        return answer

    def _stands_still(self) -> bool:
        """Whether it has not done anything for a while; one that is only slow, as on a busy machine, still works."""
        from webarc.crawler.processes import work_of

        work = work_of(self._process)
        if work != self._work:
            self._moved, self._work = monotonic(), work
        return monotonic() - self._moved > _PATIENCE

    def _has_ended(self) -> bool:
        if self._handle is not None:
            return self._handle.poll() is not None
        try:
            return os.waitpid(self._process, os.WNOHANG)[0] == self._process
        except ChildProcessError:
            return True


class Nursery:
    """Orders instances and hands them out as they begin; never waits."""

    def __init__(self, server: _Server | None = None) -> None:
        self._server = server
        self._orders: dict[int, _Order] = {}
        self._dropped: set[int] = set()
        self._number = self._in_vain = 0

    @property
    def waiting(self) -> int:
        """How many instances were ordered and have not begun."""
        return len(self._orders)

    def fileno(self) -> int:
        """What becomes readable when one begins; to be asked for anew each time, and only while any is waited for."""
        assert self._server is not None
        return self._server.fileno()

    def order(self, job: Job) -> None:
        """Ask for an instance."""
        self._server = self._server or _spawned()
        self._number += 1
        order = self._orders[self._number] = _Order(job)
        order.send(self._server, self._number)

    def begun(self) -> list[tuple[Job, Instance | WebarcError]]:
        """What came of orders since the last time: instances at work, or why there are none."""
        if not self._orders or self._server is None:
            return []
        try:
            answers = self._server.answers()
        except _Ended:
            self._server.end()
            self._server = None
            return self._ordered_anew()
        return [self._matched(*answer) for answer in answers if not self._is_dropped(answer[0])]

    def drop(self) -> list[Job]:
        """Take back all orders that are waited for; returns what they were for."""
        jobs = [order.job for order in self._orders.values()]
        for order in self._orders.values():
            order.drop()
        self._dropped.update(self._orders)
        self._orders.clear()
        return jobs

    def _matched(self, number: int, process: int) -> tuple[Job, Instance | WebarcError]:
        self._in_vain = 0
        order = self._orders.pop(number, None)
        if order is None:
            raise WebarcError(f"an instance began that nobody had ordered (number {number}); please report this.")
        return order.job, order.begun(process)

    def _is_dropped(self, number: int) -> bool:
        known = number in self._dropped
        self._dropped.discard(number)
        return known

    def _ordered_anew(self) -> list[tuple[Job, Instance | WebarcError]]:
        self._in_vain += 1
        jobs = self.drop()
        self._dropped.clear()
        if self._in_vain >= _MOST_SERVERS:
            self._in_vain = 0
            error = WebarcError("the process that starts crawls has died, or it stands still; run the command again.")
            return [(job, error) for job in jobs]
        for job in jobs:
            self.order(job)
        return []


def begin() -> None:
    """Fork it now; to be called before anything else is loaded or any thread is started."""
    global _nursery
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    process = os.fork()
    if process == 0:
        ours.close()
        serve(theirs)
    theirs.close()
    _nursery = Nursery(_Server(ours, process))


def nursery() -> Nursery:
    """The one that was begun, or a new one."""
    global _nursery
    _nursery = _nursery or Nursery()
    return _nursery


def _written(job: Job) -> int:
    """A job as a file in memory: however large it is, nobody waits until it is read."""
    import pickle

    descriptor = os.memfd_create("job")
    with os.fdopen(os.dup(descriptor), "wb") as file:
        pickle.dump(job, file, pickle.HIGHEST_PROTOCOL)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def _spawned() -> _Server:
    """A new interpreter: a process that has threads, or files open, must not be forked as it is."""
    from subprocess import DEVNULL, Popen

    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    number = theirs.fileno()
    program = f"import socket; from webarc.crawler.nursery import serve; serve(socket.socket(fileno={number}))"
    process = Popen([sys.executable, "-P", "-c", program], stdin=DEVNULL, pass_fds=[number])
    theirs.close()
    return _Server(ours, process.pid, process)


def serve(line: socket.socket) -> NoReturn:
    """Load everything, then fork an instance for each line to one that comes, until nobody is there any more."""
    code = 1
    try:
        # A signal to all processes of a crawl is for the command line, which decides. Blocked, not ignored: git and
        # rsync inherit that and cannot change it, so that a commit is not cut in two.
        signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for instances: the end of their line says it all
        with suppress(OSError):
            os.setsid()  # nor does Ctrl-Z in the terminal reach it
        _leave_the_terminal()
        import webarc.crawler.preload  # noqa: F401

        _serve(line)
        code = 0
    except BaseException:  # noqa: BLE001 - nobody else would hear of it
        sys.excepthook(*sys.exc_info())
    finally:
        # Never back to where it was forked: that is the other process's business.
        sys.stderr.flush()
        os._exit(code)


def _serve(line: socket.socket) -> None:
    from webarc.crawler.processes import adopt_orphans, continue_when_the_parent_ends, end_descendants

    adopt_orphans()
    continue_when_the_parent_ends()
    mine: set[int] = set()
    poll = select.poll()
    poll.register(line, select.POLLIN)
    while True:
        if not poll.poll(_LOOK * 1000 if mine else None):
            mine = _ended_orphans(mine)
            continue
        number, descriptors, _, _ = socket.recv_fds(line, _LONGEST_MESSAGE, 4)
        if not descriptors:
            break
        child = _forked(line, descriptors)
        mine.add(child)
        with suppress(OSError):  # nobody wants it any more, which the next look at the line tells
            line.send(b"%s %d" % (number, child))
        for descriptor in descriptors:
            os.close(descriptor)
    end_descendants()


def _ended_orphans(mine: set[int]) -> set[int]:
    """End what an instance that died has left behind; returns the instances that live."""
    from webarc.crawler.processes import children, descendants, kill

    living = set(children(os.getpid()))
    for orphan in living - mine:
        for pid in (*descendants(orphan), orphan):
            kill(pid)
    return mine & living


def _forked(line: socket.socket, descriptors: list[int]) -> int:
    child = os.fork()
    if child:
        return child
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    line.close()
    from webarc.crawler.instance import run_instance

    run_instance(*descriptors)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def _leave_the_terminal() -> None:
    """What the command line is given to read is not for instances; what they or filters print is not its output."""
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
