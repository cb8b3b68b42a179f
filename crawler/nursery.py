"""The process that instances are forked from: it has loaded what they need, so they start at once and share its memory.

The command line forks it before it loads anything itself, so that both load at the same time. It ends with whoever
began it; instances that are at work then hear that nobody listens any more, and stop by themselves.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, NoReturn

from webarc.errors import WebarcError

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

_WANTED = b"?"
_LONGEST_ANSWER = 32
_begun: Nursery | None = None


class Nursery:
    """Our end of the line to that process."""

    def __init__(self, line: socket.socket, process: object = None) -> None:
        self._line = line
        self._process = process  # as long as somebody holds it, nobody complains that it is still running

    def instance(self) -> tuple[Connection, int]:
        """A new instance, which waits for its job: our end of the line to it, and the id of its process."""
        from multiprocessing import Pipe

        ours, theirs = Pipe()
        with theirs:
            try:
                socket.send_fds(self._line, [_WANTED], [theirs.fileno()])
                answer = self._line.recv(_LONGEST_ANSWER)
            except OSError:
                answer = b""
        if not answer:
            ours.close()
            raise WebarcError("the process that starts crawls has died; run the command again.")
        return ours, int(answer)


def begin() -> None:
    """Fork it now; to be called before anything else is loaded or any thread is started."""
    global _begun
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    if os.fork() == 0:
        ours.close()
        serve(theirs)
    theirs.close()
    _begun = Nursery(ours)


def instance() -> tuple[Connection, int]:
    """A new instance from the nursery that was begun, or from a new one if there is none or it has died."""
    global _begun
    if _begun is not None:
        with suppress(WebarcError):
            return _begun.instance()
    _begun = _spawned()
    return _begun.instance()


def _spawned() -> Nursery:
    """A new interpreter: a process that has threads, or files open, must not be forked as it is."""
    from subprocess import DEVNULL, Popen

    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    number = theirs.fileno()
    program = f"import socket; from webarc.crawler.nursery import serve; serve(socket.socket(fileno={number}))"
    process = Popen([sys.executable, "-c", program], stdin=DEVNULL, pass_fds=[number])
    theirs.close()
    return Nursery(ours, process)


def serve(line: socket.socket) -> NoReturn:
    """Load everything, then fork an instance for each line to one that comes, until nobody is there any more."""
    code = 1
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the command line hears it and decides
        _leave_the_terminal()
        import webarc.crawler.preload  # noqa: F401

        while True:
            _, descriptors, _, _ = socket.recv_fds(line, len(_WANTED), 1)
            if not descriptors:
                break
            line.send(b"%d" % _forked(line, descriptors[0]))
            os.close(descriptors[0])
        code = 0
    finally:
        # Never back to where it was forked: that is the other process's business.
        sys.stderr.flush()
        os._exit(code)


def _forked(line: socket.socket, descriptor: int) -> int:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for instances: the end of their line says it all
    child = os.fork()
    if child:
        return child
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    line.close()
    from multiprocessing.connection import Connection

    from webarc.crawler.instance import run_instance

    connection = Connection(descriptor)
    run_instance(connection.recv(), connection)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def _leave_the_terminal() -> None:
    """What the command line is given to read is not for instances; what they or filters print is not its output."""
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
