"""Exchanging two folders so that whoever looks, after a crash too, sees the one or the other in its place."""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
from pathlib import Path

from webarc.archive.durable import sync_folders

_HERE = -100
_EXCHANGE = 2
_UNSUPPORTED = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP)


def exchange(one: Path, two: Path) -> None:
    """Give each of two folders the other's name, durably; the bytes below them are the caller's to make durable."""
    if not _exchanged(one, two):
        # A file system that cannot do it at once; `recover` completes it after a crash in between.
        one.rename(_spare(two))
        two.rename(one)
        _spare(two).rename(two)
    sync_folders(one.parent, two.parent)


def recover(one: Path, two: Path) -> None:
    """Complete an exchange that was interrupted between its steps; `two` was the one to take the place of `one`."""
    spare = _spare(two)
    if not spare.exists():
        return
    if not one.exists():
        two.rename(one)
    shutil.rmtree(two, ignore_errors=True)
    spare.rename(two)
    sync_folders(one.parent, two.parent)


def _spare(two: Path) -> Path:
    return two.with_name(f"{two.name}.old")


def _exchanged(one: Path, two: Path) -> bool:
    """Whether the kernel did it in one step."""
    library = ctypes.CDLL(None, use_errno=True)
    if not hasattr(library, "renameat2"):
        return False
    if library.renameat2(_HERE, os.fsencode(one), _HERE, os.fsencode(two), _EXCHANGE) == 0:
        return True
    code = ctypes.get_errno()
    if code in _UNSUPPORTED:
        return False
    raise OSError(code, os.strerror(code), str(one))
