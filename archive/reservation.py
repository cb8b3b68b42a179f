"""Crawl times: no two crawls of a domain ever get the same one, whatever the clock does."""

from __future__ import annotations

import fcntl
import os
from datetime import datetime, timedelta
from pathlib import Path

from webarc.archive import times
from webarc.archive.durable import sync_folders
from webarc.archive.failures import storage
from webarc.archive.locks import acquire

_SECOND = timedelta(seconds=1)


def reserve(path: Path, start: datetime, committed: datetime | None) -> str:
    """The crawl time: the start, or a second behind the last one reserved or committed; durable when it returns."""
    with storage("reserving a crawl time"):
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            acquire(descriptor, fcntl.LOCK_EX, "the crawl time")
            known = [moment for moment in (_last(descriptor), committed) if moment]
            reserved = times.text(max([start, *(moment + _SECOND for moment in known)]))
            os.pwrite(descriptor, f"{reserved}\n".encode(), 0)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        sync_folders(path.parent)
    return reserved


def _last(descriptor: int) -> datetime | None:
    written = os.pread(descriptor, 64, 0).decode("ascii", "replace")
    try:
        return times.parse(written)
    except ValueError:
        return None
