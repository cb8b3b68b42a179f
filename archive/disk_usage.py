"""What a folder takes on the disk: the blocks of all that is in it, counted for so long at most."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import NamedTuple

# What `stat` counts in, whatever the blocks of the file system are.
_BLOCK = 512


class DiskUsage(NamedTuple):
    """Bytes on the disk; not `whole` if there was no time to look at everything."""

    size: int
    whole: bool


def disk_usage(root: Path, seconds: float) -> DiskUsage:
    """Add up; a file with several names counts once, and what goes meanwhile or may not be read counts nothing."""
    deadline, size = monotonic() + seconds, 0
    linked: set[tuple[int, int]] = set()
    folders = [os.fspath(root)]
    while folders:
        if monotonic() > deadline:
            return DiskUsage(size, False)
        with suppress(OSError), os.scandir(folders.pop()) as entries:
            for entry in entries:
                with suppress(OSError):
                    status = entry.stat(follow_symlinks=False)
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
                    elif status.st_nlink > 1:
                        if (status.st_dev, status.st_ino) in linked:
                            continue
                        linked.add((status.st_dev, status.st_ino))
                    size += status.st_blocks * _BLOCK
    return DiskUsage(size, True)
