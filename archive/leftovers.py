"""What killed git processes leave behind, and whether it is really theirs: a lock of the living is never touched."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from webarc.archive import pending

_LOCKS = ("*.lock", "refs/**/*.lock", "objects/pack/*.lock", "objects/info/**/*.lock")
_UNFINISHED = ("objects/pack/tmp_*", "objects/??/tmp_obj_*", "fast_import_crash_*")
_KEPT = ".keep"
_KEPT_PACKS = f"objects/pack/*{_KEPT}"


@dataclass(slots=True)
class _Living:
    """What living processes have open, and whether a git that is not ours is at work in the folder."""

    files: set[tuple[int, int]] = field(default_factory=set)
    git_at_work: bool = False

    def uses(self, path: Path) -> bool:
        """Whether one of them has the file open."""
        status = path.lstat()
        return (status.st_dev, status.st_ino) in self.files


def clear(git_dir: Path) -> list[Path]:
    """Remove git's lock files and unfinished packs that no living process has open; the caller holds the tree lock."""
    found = [path for pattern in (*_LOCKS, *_UNFINISHED) for path in git_dir.glob(pattern)]
    found += [path for path in git_dir.glob(_KEPT_PACKS) if path.read_bytes() == b"fast-import"]
    removed = _remove_abandoned(found, git_dir) if found else []
    for path in removed:
        if path.suffix == _KEPT:
            pending.note(git_dir, path.stem)
    return removed


def clear_lock(path: Path, git_dir: Path) -> bool:
    """Remove one lock file if no living process has it open."""
    return bool(_remove_abandoned([path], git_dir)) if path.exists() else True


def _remove_abandoned(found: list[Path], git_dir: Path) -> list[Path]:
    living = _look_around(git_dir.parent.resolve())
    # A `git commit` that waits for its editor has the index locked but not open.
    if living.git_at_work:
        return []
    removed = []
    for path in found:
        with suppress(FileNotFoundError):
            if not living.uses(path):
                path.unlink()
                removed.append(path)
    return removed


def _look_around(folder: Path) -> _Living:
    living = _Living()
    for process in _processes():
        # A process may end while it is looked at.
        with suppress(FileNotFoundError, ProcessLookupError):
            is_git = (process / "comm").read_text().startswith("git")
            try:
                _look_at(process, living)
                living.git_at_work |= is_git and _works_in(process, folder)
            except PermissionError:
                # Of other users' processes only the name can be seen; a git among them may be at work anywhere.
                living.git_at_work |= is_git
    return living


def _processes() -> Iterator[Path]:
    with os.scandir("/proc") as entries:
        for entry in entries:
            if entry.name.isdigit():
                yield Path(entry.path)


def _look_at(process: Path, living: _Living) -> None:
    with os.scandir(process / "fd") as descriptors:
        for descriptor in descriptors:
            # Closed meanwhile, or on a file system that lets nobody look.
            with suppress(OSError):
                status = os.stat(descriptor.path)  # noqa: PTH116 - hundreds of them, and a Path is no help here
                living.files.add((status.st_dev, status.st_ino))


def _works_in(process: Path, folder: Path) -> bool:
    place = (process / "cwd").readlink()
    return place == folder or folder in place.parents
