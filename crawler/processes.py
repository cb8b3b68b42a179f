"""The processes below this one: who they are, whether they move, and how all of them end.

Linux gives a process whose parent died to the nearest ancestor that asked for orphans. The process that instances are
forked from asks, and so does every instance: so a git or an rsync that a killed process left behind is found and ended.
"""

from __future__ import annotations

import ctypes
import os
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_NAP = 0.02


def adopt_orphans() -> None:
    """Become the parent of every process below this one whose own parent dies."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def continue_when_the_parent_ends() -> None:
    """Be woken when the parent ends, should somebody have stopped this process: it could not see that otherwise."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGCONT)


def die_with(parent: int) -> None:
    """Have this process killed when its parent dies, whatever it is at; at once if that has happened already."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


def children(parent: int) -> list[int]:
    """The processes that a process started and that have not ended."""
    found = []
    try:
        for task in Path(f"/proc/{parent}/task").iterdir():
            found += [int(child) for child in (task / "children").read_text().split()]
    except OSError:
        # Some kernels do not keep that file.
        found = [pid for pid, above in _parents() if above == parent]
    return [pid for pid in found if _lives(pid)]


def descendants(ancestor: int) -> list[int]:
    """Every process below one, parents before their children."""
    found = []
    for child in children(ancestor):
        found += [child, *descendants(child)]
    return found


def end_descendants(longest: float = 3.0) -> None:
    """Kill everything below this process; what a dying process has just started is killed in the next round."""
    until = time.monotonic() + longest
    while (family := descendants(os.getpid())) and time.monotonic() < until:
        for pid in family:
            kill(pid)
        reap()
        time.sleep(_NAP)


def reap() -> None:
    """Let go of children that have ended."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def kill(pid: int) -> None:
    """End a process at once, if it is there."""
    with suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGKILL)


def is_same_program(pid: int, other: int) -> bool:
    """Whether two processes run the same program, as forks of each other do."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/exe").readlink() == Path(f"/proc/{other}/exe").readlink()
    return False


def work_of(pid: int) -> tuple[int, ...]:
    """CPU time and bytes read and written by a process so far: two looks that differ show that it moves."""
    with suppress(OSError, ValueError, IndexError):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        moved = [int(fields[11]), int(fields[12])]
        with suppress(OSError):
            moved += [int(line.split()[1]) for line in Path(f"/proc/{pid}/io").read_text().splitlines()]
        return tuple(moved)
    return ()


def state_of(pid: int) -> str:
    """What the kernel says a process is doing."""
    with suppress(OSError):
        status = Path(f"/proc/{pid}/status").read_text().splitlines()
        state = next((line.partition(":")[2].strip() for line in status if line.startswith("State:")), "?")
        return f"state {state}, waits in {_read(f'/proc/{pid}/wchan') or '?'}"
    return "has ended"


def name_of(pid: int) -> str:
    """The program of a process, without arguments: those may hold secrets."""
    return _read(f"/proc/{pid}/comm").strip() or "?"


def _read(file: str) -> str:
    with suppress(OSError):
        return Path(file).read_text("utf-8", "replace")
    return ""


def _prctl(option: int, value: int) -> None:
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _lives(pid: int) -> bool:
    return _parent_and_state(pid)[1] not in ("", "Z", "X")


def _parents() -> Iterator[tuple[int, int]]:
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            yield int(entry.name), _parent_and_state(int(entry.name))[0]


def _parent_and_state(pid: int) -> tuple[int, str]:
    with suppress(OSError, ValueError, IndexError):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return int(fields[1]), fields[0]
    return 0, ""
