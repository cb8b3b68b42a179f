"""A new, empty file system for every contender.

ext4 does not hand out an inode again for a while after its file was deleted, and looks at each such inode whenever a
file is made. What one contender leaves behind when its folder is removed would so be paid for by the next: making a
file took 0.4 ms instead of 0.03 ms in such a folder.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

_SIZE = 8 << 30


@contextmanager
def fresh_disk(folder: Path) -> Iterator[Path]:
    """An empty ext4 file system in a file below the folder; where mounting is not allowed, a plain folder."""
    with TemporaryDirectory(dir=folder, prefix="work-") as work:
        mount = Path(work) / "disk"
        mount.mkdir()
        mounted = _mounted(Path(work) / "image", mount)
        try:
            yield mount
        finally:
            if mounted:
                subprocess.run(["umount", "--lazy", str(mount)], check=True)


def _mounted(image: Path, mount: Path) -> bool:
    if os.geteuid() != 0 or not shutil.which("mkfs.ext4"):
        return _without("needs root and mkfs.ext4")
    with image.open("wb") as file:
        file.truncate(_SIZE)
    for command in (["mkfs.ext4", "-q", "-F", str(image)], ["mount", "-o", "loop", str(image), str(mount)]):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            return _without(done.stderr.strip())
    return True


def _without(reason: str) -> bool:
    print(f"no file system of its own for each contender: {reason}", file=sys.stderr)
    return False
