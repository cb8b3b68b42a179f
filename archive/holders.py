"""Who holds which lock, found out without taking any, so that nobody is ever in the way of a command that tries."""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from webarc.archive import zones
from webarc.archive.layout import domain_of
from webarc.archive.locks import MOVES

_PURPOSES = ("crawl", "tree")
_SCHEDULER = "schedule.lock"
_FLOCK = re.compile(r"\d+: FLOCK +\w+ +(?:READ|WRITE) (-?\d+) ([0-9a-f]+):([0-9a-f]+):(\d+) ")


@dataclass(frozen=True, slots=True)
class Holder:
    """A lock that is held: the *crawl* or *tree* lock of a domain, or that of the scheduler.

    Its holder may have promised to touch the file as long as it moves: `moved` then says when it did last.
    """

    domain: str
    purpose: str
    pid: int
    command: str
    since: str
    moved: float | None = None

    def text(self) -> str:
        """In words."""
        since = f"since {zones.shown(self.since)}" if self.since else ""
        about = ", ".join(part for part in (self.command, since) if part)
        return f"process {self.pid} ({about})" if about else f"process {self.pid}"


class Held:
    """The files and folders that were locked by somebody when this was made."""

    def __init__(self) -> None:
        self._pids: dict[int, list[tuple[int, int]]] = {}
        with suppress(OSError):
            for match in _FLOCK.finditer(Path("/proc/locks").read_text("ascii", "replace")):
                pid, major, minor, inode = match.groups()
                device = os.makedev(int(major, 16), int(minor, 16))
                self._pids.setdefault(int(inode), []).append((device, int(pid)))

    def pid(self, entry: os.DirEntry[str]) -> int | None:
        """The process that holds the lock on a file or folder; None if nobody does."""
        known = self._pids.get(entry.inode())
        if not known:
            return None
        device = entry.stat(follow_symlinks=False).st_dev
        found = next((pid for other, pid in known if other == device), None)
        # Some file systems tell another device than the one that their files have.
        return found if found is not None else known[0][1] if _is_taken(entry.path) else None


def holders(locks: Path, held: Held) -> Iterator[Holder]:
    """The locks of an archive that are held, and by whom."""
    with os.scandir(locks) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            folder, _, purpose = entry.name.rpartition(".")
            if entry.name != _SCHEDULER and purpose not in _PURPOSES:
                continue
            pid = held.pid(entry)
            if pid is None:
                continue
            signed, command, since, moves = _note(Path(entry.path))
            if entry.name == _SCHEDULER:
                yield Holder("", "schedule", pid, "", "")
            else:
                moved = entry.stat().st_mtime if moves == MOVES else None
                pid = int(signed) if signed.isdigit() else pid
                yield Holder(domain_of(folder), purpose, pid, command, since, moved)


def _note(file: Path) -> tuple[str, str, str, str]:
    """What the holder has written into a lock file."""
    with suppress(OSError):
        signed, command, since, moves, *_ = [*file.read_text("utf-8", "replace").splitlines(), *[""] * 4]
        return signed, command, since, moves
    return "", "", "", ""


def _is_taken(path: str) -> bool:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False
