"""Ending a process and everything it started at once."""

from __future__ import annotations

import os
import signal
from contextlib import suppress

from bench.measure import descendants


def kill_tree(pid: int) -> None:
    """`kill -9` for a process and all its descendants; none of them gets a chance to react to another's death."""
    for member in descendants(pid):
        with suppress(ProcessLookupError):
            os.kill(member, signal.SIGSTOP)
    for member in reversed(descendants(pid)):
        with suppress(ProcessLookupError):
            os.kill(member, signal.SIGKILL)
