"""File systems so small that they fill up, and others that may only be read."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest


@contextmanager
def small_file_system(place: Path, megabytes: int) -> Iterator[Path]:
    """A tmpfs of a few megabytes at a new folder; skips loudly where mounting is not allowed."""
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "none", str(place)]
    mounted = subprocess.run(command, capture_output=True, text=True, check=False)
    if mounted.returncode:
        pytest.skip(f"no small disk can be mounted here, so a full one is NOT tested: {mounted.stderr.strip()}")
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


@contextmanager
def read_only(place: Path) -> Iterator[Path]:
    """A folder as on a disk that is mounted read-only; skips loudly where mounting is not allowed."""
    mounted = subprocess.run(["mount", "--bind", str(place), str(place)], capture_output=True, text=True, check=False)
    if mounted.returncode:
        pytest.skip(f"nothing can be mounted here, so a read-only disk is NOT tested: {mounted.stderr.strip()}")
    try:
        subprocess.run(["mount", "-o", "remount,bind,ro", str(place)], check=True)
        yield place
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


@contextmanager
def write_protected(place: Path) -> Iterator[tuple[str, ...]]:
    """A folder whose permissions let nobody write, and what to run a command by so that they hold for root, too.

    Root loses the right to pass over permissions, as no other user has it. Skips loudly where that cannot be.
    """
    prefix = ("setpriv", "--bounding-set=-dac_override,-dac_read_search,-fowner")
    with suppress(FileNotFoundError):
        if not subprocess.run([*prefix, "true"], capture_output=True, check=False).returncode:
            subprocess.run(["chmod", "-R", "a-w", str(place)], check=True)
            try:
                yield prefix
            finally:
                subprocess.run(["chmod", "-R", "u+w", str(place)], check=True)
            return
    pytest.skip("rights cannot be given up here, so a write-protected folder is NOT tested")
