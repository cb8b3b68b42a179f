"""The process that instances are forked from: it has loaded what they need, so they start at once and share its memory.

The command line forks it before it loads anything itself, so that both load at the same time. It also looks after all
of them: whatever an instance leaves behind when it dies is ended, and when the command dies, everything is.

The protocol: the command sends one byte and four descriptors (the instance's line, job, heartbeats and stacks);
the answer is the id of the new process. The command waits for that answer for a limited time.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import sys
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from webarc.errors import WebarcError

if TYPE_CHECKING:
    from webarc.crawler.channel import Channel
    from webarc.crawler.job import Job
    from webarc.crawler.watchdog import Stacks
    from webarc.heartbeat import Heartbeats

_WANTED = b"?"
_LONGEST_ANSWER = 32
_PATIENCE = 60.0
_LOOK = 1.0
_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_begun: Nursery | None = None


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


class Nursery:
    """Our end of the line to that process."""

    def __init__(self, line: socket.socket, process: object = None) -> None:
        line.settimeout(_PATIENCE)
        self._line = line
        self._process = process  # as long as somebody holds it, nobody complains that it is still running

    def instance(self, job: Job) -> Instance:
        """A new instance at work on a job."""
        from webarc.crawler.channel import pair
        from webarc.crawler.control import CONTROL_TYPES
        from webarc.crawler.watchdog import Stacks
        from webarc.heartbeat import Heartbeats

        channel, theirs = pair(CONTROL_TYPES)
        beats, stacks = Heartbeats(), Stacks()
        task = _written(job)
        try:
            socket.send_fds(self._line, [_WANTED], [theirs.fileno(), task, beats.fileno(), stacks.fileno()])
            answer = self._line.recv(_LONGEST_ANSWER)
        except OSError:
            answer = b""
        finally:
            theirs.close()
            os.close(task)
        if not answer:
            raise WebarcError("the process that starts crawls has died; run the command again.")
        return Instance(channel, int(answer), beats, stacks)


def begin() -> None:
    """Fork it now; to be called before anything else is loaded or any thread is started."""
    global _begun
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    if os.fork() == 0:
        ours.close()
        serve(theirs)
    theirs.close()
    _begun = Nursery(ours)


def instance(job: Job) -> Instance:
    """A new instance from the nursery that was begun, or from a new one if there is none or it has died."""
    global _begun
    if _begun is not None:
        with suppress(WebarcError):
            return _begun.instance(job)
    _begun = _spawned()
    return _begun.instance(job)


def _written(job: Job) -> int:
    """A job as a file in memory: however large it is, nobody waits until it is read."""
    import pickle

    descriptor = os.memfd_create("job")
    with os.fdopen(os.dup(descriptor), "wb") as file:
        pickle.dump(job, file, pickle.HIGHEST_PROTOCOL)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def _spawned() -> Nursery:
    """A new interpreter: a process that has threads, or files open, must not be forked as it is."""
    from subprocess import DEVNULL, Popen

    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    number = theirs.fileno()
    program = f"import socket; from webarc.crawler.nursery import serve; serve(socket.socket(fileno={number}))"
    process = Popen([sys.executable, "-P", "-c", program], stdin=DEVNULL, pass_fds=[number])
    theirs.close()
    return Nursery(ours, process)


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
    from webarc.crawler.processes import adopt_orphans, end_descendants

    adopt_orphans()
    mine: set[int] = set()
    poll = select.poll()
    poll.register(line, select.POLLIN)
    while True:
        if not poll.poll(_LOOK * 1000 if mine else None):
            mine = _ended_orphans(mine)
            continue
        _, descriptors, _, _ = socket.recv_fds(line, len(_WANTED), 4)
        if not descriptors:
            break
        child = _forked(line, descriptors)
        mine.add(child)
        line.send(b"%d" % child)
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
