"""Temp dirs of the archive: each lives as long as the process that made it, or that process's forked children."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path
from tempfile import mkdtemp
from types import TracebackType

from webarc.archive.layout import INTERNAL, domain_folder
from webarc.archive.locks import free, lock
from webarc.heartbeat import beat

# A temp dir with this file belongs to a crawl that can go on where it was interrupted.
RESUMABLE = f"{INTERNAL}/crawl.json"
# Where such a crawl puts aside what it had fetched when it goes on.
HOARD = f"{INTERNAL}/hoard"
_LONGEST_LABEL = 60
_MANY_PARTS = 32


class Staging:
    """A temp dir that only its user may enter; below it lie domain folders, as in the archive."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self._descriptor: int | None = descriptor

    def __enter__(self) -> Staging:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.remove()

    def remove(self) -> None:
        """Take it away with everything in it, unless it was left."""
        if self._descriptor is not None:
            shutil.rmtree(self.path, ignore_errors=True)
            self.leave()

    def leave(self) -> None:
        """Let go of it as it is, for a later process to take over."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def new_staging(folder: Path, guard: Path, label: str) -> Staging:
    """Make a temp dir and hold it; the guard keeps others from taking it for a stale one before it is held."""
    with lock(guard, "the staging folder"):
        path = Path(mkdtemp(prefix=f"{domain_folder(label)[:_LONGEST_LABEL]}-", dir=folder))
        descriptor = _opened(path)
        free(descriptor)
    return Staging(path, descriptor)


def take_over(path: Path, guard: Path) -> Staging | None:
    """Hold the temp dir of a crawl that was interrupted; None if a living process has it."""
    with lock(guard, "the staging folder"):
        try:
            descriptor = _opened(path)
        except OSError:
            return None
        if free(descriptor):
            return Staging(path, descriptor)
        os.close(descriptor)
    return None


def resumable(folder: Path, guard: Path) -> list[Path]:
    """The temp dirs of interrupted crawls, newest first."""
    with lock(guard, "the staging folder"):
        found = [place for place in folder.iterdir() if (place / RESUMABLE).is_file() and _abandoned(place)]
    return sorted(found, key=lambda place: (place / RESUMABLE).stat().st_mtime, reverse=True)


def clear_stale(folder: Path, guard: Path) -> list[Path]:
    """Remove the temp dirs that no living process holds and no crawl can go on with; returns their paths."""
    with lock(guard, "the staging folder"):
        stale = [found for found in sorted(folder.iterdir()) if _abandoned(found) and not (found / RESUMABLE).exists()]
    for path in stale:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
    return stale


def remove_tree(folder: Path) -> None:
    """Remove a large folder by two processes, which begin at its two ends: a crawl waits for this."""
    parts = _parts(folder)
    child = os.fork() if parts else None
    try:
        for part in parts if child else reversed(parts):
            beat()
            if part.exists():
                shutil.rmtree(part, ignore_errors=True)
    finally:
        if child == 0:
            os._exit(0)
    if child:
        os.waitpid(child, 0)
    shutil.rmtree(folder, ignore_errors=True)


def delete_folder(folder: Path) -> None:
    """Remove a folder of any size, as far as that can be done, with a sign of life for all that is in it."""
    with suppress(OSError):
        for _, folders, files, descriptor in os.fwalk(folder, topdown=False):
            for name in files:
                os.unlink(name, dir_fd=descriptor)
                beat()
            for name in folders:
                os.rmdir(name, dir_fd=descriptor)
                beat()
        folder.rmdir()


def _parts(folder: Path) -> list[Path]:
    """Folders that hold nearly all of a large folder; none of a small one."""
    parts = [folder] if folder.is_dir() else []
    while 0 < len(parts) < _MANY_PARTS:
        parts = [
            Path(entry.path) for part in parts for entry in os.scandir(part) if entry.is_dir(follow_symlinks=False)
        ]
    return parts


def _abandoned(path: Path) -> bool:
    try:
        descriptor = _opened(path)
    except NotADirectoryError:
        return True
    except FileNotFoundError:
        return False
    try:
        return free(descriptor)
    finally:
        os.close(descriptor)


def _opened(path: Path) -> int:
    return os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
