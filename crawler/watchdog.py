"""Notices that an instance has come to a standstill, and writes down where each of its processes stands."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from webarc.archive.layout import domain_folder
from webarc.crawler.processes import descendants, is_same_program, name_of, state_of, work_of
from webarc.heartbeat import Heartbeats

# How long the watchdog itself may sleep without counting that: Ctrl-Z stops it, and the crawl goes on.
_LONGEST_STEP = 5.0
_ANSWER = 0.5
_NAP = 0.01
_LONGEST_NAME = 100


class Watchdog:
    """Watches one instance: a step of any of its processes counts as movement, and so does work of git, rsync, wget.

    What is under way between the processes is bounded, so one that hangs brings all of them to a standstill.
    """

    def __init__(self, process: int, beats: Heartbeats) -> None:
        self._process = process
        self._beats = beats
        self._counts: tuple[int, ...] = ()
        self._work: dict[int, tuple[int, ...]] = {}
        self._looked = time.monotonic()
        self.still = 0.0
        """For how many seconds nothing has moved."""

    def look(self) -> float:
        """Look whether something moved since the last time; returns for how long nothing has."""
        now = time.monotonic()
        step, self._looked = min(now - self._looked, _LONGEST_STEP), now
        self.still = 0.0 if self._moved() else self.still + step
        return self.still

    def begin_again(self) -> None:
        """Count from here: the instance has been told to end."""
        self.still = 0.0

    def _moved(self) -> bool:
        counts = self._beats.counts()
        if counts != self._counts:
            self._counts = counts
            return True
        work = {pid: work_of(pid) for pid in descendants(self._process) if not is_same_program(pid, self._process)}
        moved = any(self._work.get(pid) != done for pid, done in work.items())
        self._work = work
        return moved


class Stacks:
    """Where the processes of an instance write their stacks when they get SIGUSR1: memory that all of them share."""

    def __init__(self, descriptor: int | None = None) -> None:
        self._descriptor = os.memfd_create("stacks") if descriptor is None else descriptor

    def fileno(self) -> int:
        """The descriptor to hand to another process."""
        return self._descriptor

    def answer_signals(self) -> None:
        """This process, and those that it forks, write their stacks from now on when they are asked to."""
        import faulthandler

        faulthandler.register(signal.SIGUSR1, self._descriptor, all_threads=True)

    def of(self, pid: int) -> str:
        """The stack of a process, an empty text if it does not answer."""
        before, until = self._size(), time.monotonic() + _ANSWER
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGUSR1)
        while time.monotonic() < until:
            time.sleep(_NAP)
            if self._size() > before:
                time.sleep(_NAP)  # the rest of it
                return os.pread(self._descriptor, self._size() - before, before).decode("utf-8", "replace")
        return ""

    def close(self) -> None:
        """Let go of the descriptor."""
        os.close(self._descriptor)

    def _size(self) -> int:
        return os.fstat(self._descriptor).st_size


def write_report(folder: Path, domain: str, process: int, stacks: Stacks) -> Path | None:
    """Write down where every process of an instance stands; None if the report itself cannot be written."""
    stamp = datetime.now().strftime("%Y%m%dT%H%M%S")
    file = folder / f"stall-{domain_folder(domain)[:_LONGEST_NAME]}-{stamp}.txt"
    try:
        file.write_text("".join(_lines(domain, process, stacks)), "utf-8")
    except OSError:
        return None
    return file


def _lines(domain: str, process: int, stacks: Stacks) -> Iterator[str]:
    yield f"The crawl of {domain} did not move. Its processes:\n"
    for pid in (process, *descendants(process)):
        yield f"\nprocess {pid} ({name_of(pid)}): {state_of(pid)}\n"
        if is_same_program(pid, process):
            yield stacks.of(pid) or "it does not answer\n"
