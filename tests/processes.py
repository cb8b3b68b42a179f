"""Processes and their descendants, and ending them all at once."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path


def descendants(pid: int) -> list[int]:
    """A process and everything it started, directly or not, parents first."""
    parents = _parents()
    found = [pid]
    for parent in found:
        found += [child for child, theirs in parents.items() if theirs == parent]
    return found


def kill_tree(pid: int) -> None:
    """`kill -9` for a process and all its descendants; none of them gets a chance to react to another's death."""
    for member in descendants(pid):
        with suppress(ProcessLookupError):
            os.kill(member, signal.SIGSTOP)
    for member in reversed(descendants(pid)):
        with suppress(ProcessLookupError):
            os.kill(member, signal.SIGKILL)


def _parents() -> dict[int, int]:
    found = {}
    for process in Path("/proc").iterdir():
        if process.name.isdigit():
            with suppress(OSError):
                found[int(process.name)] = int((process / "stat").read_text().rpartition(")")[2].split()[1])
    return found
