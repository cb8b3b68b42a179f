"""Locks around a SQLite file: many use it, one writes to it, and nobody uses it while it is replaced."""

from __future__ import annotations

import fcntl
import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from webarc.waiting import Wait, longest

# Who writes to an index lets others in between two transactions.
_LONGEST_NAP = 0.04
_LONGEST_REPLACEMENT = 60.0


def lock_folder(database: Path) -> Path:
    """Where the locks of a database file are."""
    return database.with_name(f"{database.name}.locks")


class FileLocks:
    """The locks of one database file; they live in files beside it and are held by living processes only."""

    def __init__(self, database: Path) -> None:
        self._folder = lock_folder(database)
        self._held = threading.local()

    @contextmanager
    def shared(self) -> Iterator[None]:
        """Use the file; it is not replaced meanwhile. May be nested."""
        depth = getattr(self._held, "depth", 0)
        if depth:
            yield
            return
        with self._locked("use", fcntl.LOCK_SH, behind_gate=True):
            self._held.depth = 1
            try:
                yield
            finally:
                self._held.depth = 0

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Be the only writer; SQLite's own lock would be waited for a much shorter time."""
        with self._locked("write", fcntl.LOCK_EX):
            yield

    @contextmanager
    def exclusive(self, wait: float = _LONGEST_REPLACEMENT) -> Iterator[None]:
        """Replace the file: all others have let go of it, and new ones wait at the gate."""
        with self._locked("gate", fcntl.LOCK_EX), self._locked("use", fcntl.LOCK_EX, wait=wait):
            yield

    @contextmanager
    def rebuilding(self) -> Iterator[None]:
        """Be the only one who builds a new file."""
        with self._locked("rebuild", fcntl.LOCK_EX, wait=0.0):
            yield

    def remove(self) -> None:
        """Remove the files of the locks of a database that is gone itself."""
        shutil.rmtree(self._folder, ignore_errors=True)

    @contextmanager
    def _locked(self, name: str, kind: int, *, wait: float | None = None, behind_gate: bool = False) -> Iterator[None]:
        handle = self._opened(name)
        try:
            if behind_gate:
                # Readers that come and go without a pause would otherwise keep a replacement waiting for ever.
                with self._locked("gate", fcntl.LOCK_SH):
                    take(handle, kind, self._folder, wait)
            else:
                take(handle, kind, self._folder, wait)
            yield
        finally:
            os.close(handle)

    def _opened(self, name: str) -> int:
        file = self._folder / name
        try:
            return os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except FileNotFoundError:
            self._folder.mkdir(parents=True, exist_ok=True)
            return os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)


def take(handle: int, kind: int, folder: Path, wait: float | None = None) -> None:
    """Lock an open file as soon as others let go of it; Locked if they do not in time: as long as the process waits."""
    name = folder.name.removesuffix(".locks")
    complaint = f"another process is using or rebuilding {name}; wait until it is done, or stop it."
    waiting = Wait(lambda: complaint, longest() if wait is None else wait, _LONGEST_NAP)
    while True:
        try:
            fcntl.flock(handle, kind | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            pass
        waiting.pause()
