"""Locks on files: held by living processes only, and by the programs they started under them."""

from __future__ import annotations

import errno
import fcntl
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from webarc.archive import times, zones
from webarc.archive.failures import storage
from webarc.waiting import LONGEST, Wait

LOCK_WAIT = LONGEST
# What the holder of a lock file writes behind its name if it touches the file as long as it moves.
MOVES = "moves"
# The options that may stand before a subcommand with a value behind them.
_TAKE_A_VALUE = ("--archive", "--config", "--database", "--zone")
_READ_ONLY = (errno.EACCES, errno.EPERM, errno.EROFS)
_PLAIN_WORD = re.compile(r"[a-z][a-z-]*")


@dataclass(frozen=True, slots=True)
class _Held:
    """A lock of this process, or of the one it was forked from."""

    owner: int
    tree: bool


_held: dict[int, _Held] = {}


@contextmanager
def lock(path: Path, what: str, *, wait: float | None = LOCK_WAIT, moves: bool = False) -> Iterator[None]:
    """Hold the lock file; waited for `wait` seconds at most (None: for ever), then Locked names the holder.

    Who `moves` promises to touch the file from now on, so that others can tell when it does not move any more.
    """
    with _locked(path, what, shared=False, wait=wait, tree=False, moves=moves):
        yield


@contextmanager
def tree_lock(path: Path, what: str, *, shared: bool = False, wait: float | None = LOCK_WAIT) -> Iterator[None]:
    """A lock on a work tree: a process has at most one, so that no two processes wait for each other."""
    if any(held.tree and held.owner == os.getpid() for held in _held.values()):
        raise AssertionError("this process already holds a tree lock; it must let go of that one first")
    with _locked(path, what, shared=shared, wait=wait, tree=True):
        yield


def inherited() -> tuple[int, ...]:
    """The descriptors that a started program must keep open, so that a lock outlives a killed parent.

    Otherwise a git or rsync left alone would go on writing beside the next holder.
    """
    return tuple(_held)


def free(descriptor: int) -> bool:
    """Take the lock on an open file or folder if nobody has it."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextmanager
def _locked(
    path: Path, what: str, *, shared: bool, wait: float | None, tree: bool, moves: bool = False
) -> Iterator[None]:
    with storage(f"opening the lock file {path}"):
        descriptor = _opened(path, shared=shared)
    try:
        acquire(descriptor, fcntl.LOCK_SH if shared else fcntl.LOCK_EX, what, wait)
        _sign(descriptor, moves=moves)
        _held[descriptor] = _Held(os.getpid(), tree)
        yield
    finally:
        _held.pop(descriptor, None)
        # Closing, not unlocking: forked children and started programs share the lock and may still need it.
        os.close(descriptor)


def _opened(path: Path, *, shared: bool) -> int:
    """The lock file, open; where nothing may be written, those who only look need but read it."""
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        if not shared or error.errno not in _READ_ONLY:
            raise
    return os.open(path, os.O_RDONLY | os.O_CLOEXEC)


def acquire(descriptor: int, mode: int, what: str, wait: float | None = LOCK_WAIT) -> None:
    """Lock an open file as soon as others let go of it; Locked names who has it if they do not in time."""
    waiting = Wait(lambda: f"{what} is locked by {_holder(descriptor)}; wait until it ends, or stop it.", wait)
    while True:
        try:
            fcntl.flock(descriptor, mode | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            pass
        waiting.pause()


def _sign(descriptor: int, *, moves: bool) -> None:
    """Write who holds the lock; a full disk must not keep anyone from locking."""
    note = f"{os.getpid()}\n{_command()}\n{times.text(times.now())}\n{MOVES if moves else ''}\n".encode()
    try:
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, note, 0)
    except OSError:
        return


def _command() -> str:
    """The program and its subcommand; never the other arguments, which may hold a password."""
    program = Path(sys.argv[0])
    name = program.parent.name if program.name == "__main__.py" else program.name
    words = iter(sys.argv[1:])
    for word in words:
        if word in _TAKE_A_VALUE:
            next(words, None)
        elif not word.startswith("-"):
            return f"{name} {word}" if _PLAIN_WORD.fullmatch(word) else name
    return name or "python"


def _holder(descriptor: int) -> str:
    pid, command, since, *_ = [*os.pread(descriptor, 4096, 0).decode(errors="replace").splitlines(), "", "", ""]
    if not pid.isdigit():
        return "another process"
    if not Path(f"/proc/{pid}").exists():
        return f"a program that process {pid} ({command}) started and left behind"
    return f"process {pid} ({command}, since {zones.shown(since)})"
