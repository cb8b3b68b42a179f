"""Saving what the user changed by hand in a work tree before webarc writes there."""

from __future__ import annotations

import hashlib
import os
import stat
from contextlib import suppress
from functools import cached_property
from itertools import count, islice
from pathlib import Path

from webarc.archive.history import Step, changes_of_each, commits
from webarc.archive.layout import INTERNAL
from webarc.archive.objects import ObjectReader, staged_blobs
from webarc.archive.tags import tag_name

_CHUNK = 1 << 20


class Rescue:
    """Moves files that are neither the old nor the new version of their path out of the way, to `.webarc/rescued/`.

    `rescued` tells where each of them is now.
    """

    def __init__(self, git_dir: Path, old: str | None, new: str) -> None:
        self._git_dir = git_dir
        self._folder = git_dir.parent
        self._range = f"{old}..{new}" if old else new
        self._new = new
        self._solid: dict[str, bool] = {"": True}
        self.rescued: dict[str, Path] = {}

    @cached_property
    def _home(self) -> Path:
        """Named by the crawl that comes in; few crawls need it, and git takes a moment to tell."""
        (commit,) = islice(commits(self._git_dir, self._new, newest_first=True), 1)
        return self._folder / INTERNAL / "rescued" / tag_name(commit.tag)

    def clear_way(self, steps: list[Step]) -> list[Step]:
        """Make room for the new versions of these paths; returns those that are not already in place."""
        self._solid = {"": True}
        missing: list[Step] = []
        on_disk: dict[str, str] = {}
        for step in steps:
            blob = self._blob_at(step) if self._solid_folder(_parent(step.path), make_room=True) else None
            if blob is not None:
                on_disk[step.path] = blob
            if blob != step.new:
                missing.append(step)
        self._save_strangers(steps, on_disk)
        return missing

    def take_away(self, steps: list[Step]) -> None:
        """Unlink the old versions of these paths, and folders that become empty."""
        self._solid = {"": True}
        present = [step for step in steps if self._solid_folder(_parent(step.path), make_room=False)]
        found = ((step.path, self._blob_at(step)) for step in present)
        self._save_strangers(present, {path: blob for path, blob in found if blob is not None})
        for step in present:
            place = self._folder / step.path
            with suppress(FileNotFoundError, IsADirectoryError):
                place.unlink()
            self._prune(place.parent)

    def _solid_folder(self, folder: str, make_room: bool) -> bool:
        """Whether a real folder is there, reached through real folders only: never write through a link."""
        known = self._solid.get(folder)
        if known is None:
            known = self._solid_folder(_parent(folder), make_room) and self._is_folder(folder, make_room)
            self._solid[folder] = known
        return known

    def _is_folder(self, folder: str, make_room: bool) -> bool:
        try:
            mode = (self._folder / folder).lstat().st_mode
        except FileNotFoundError:
            return False
        if stat.S_ISDIR(mode):
            return True
        if make_room:
            self._move(folder)
        return False

    def _blob_at(self, step: Step) -> str | None:
        """The blob id of the file at a path; None if nothing is there or what was there has been moved aside."""
        place = self._folder / step.path
        try:
            status = place.lstat()
        except FileNotFoundError:
            return None
        if stat.S_ISREG(status.st_mode):
            return blob_id(place, status.st_size, step.new or step.old)
        if step.new or not stat.S_ISDIR(status.st_mode):
            self._move(step.path)
        return None

    def _save_strangers(self, steps: list[Step], on_disk: dict[str, str]) -> None:
        strangers = {
            step.path: on_disk[step.path]
            for step in steps
            if step.path in on_disk and on_disk[step.path] not in (step.old, step.new)
        }
        staged = self._strangers_in_index(steps, on_disk)
        if not strangers and not staged:
            return
        known = self._versions_between({*strangers, *staged})
        for path, blob in strangers.items():
            if blob not in known[path]:
                self._move(path)
        self._save_staged({path: blob for path, blob in staged.items() if blob not in known[path]})

    def _strangers_in_index(self, steps: list[Step], on_disk: dict[str, str]) -> dict[str, str]:
        """What the user has put into git's index for these paths with `git add`, if that is nowhere else."""
        if not (self._git_dir / "index").exists():
            return {}
        staged = zip(steps, staged_blobs(self._git_dir, (step.path for step in steps)), strict=True)
        return {
            step.path: blob for step, blob in staged if blob not in ("", step.old, step.new, on_disk.get(step.path))
        }

    def _versions_between(self, paths: set[str]) -> dict[str, set[str]]:
        """The versions of paths that git checked out itself if the user came back to main meanwhile."""
        known: dict[str, set[str]] = {path: set() for path in paths}
        for _, changes in changes_of_each(self._git_dir, self._range):
            for change in changes:
                if change.path in known:
                    known[change.path].add(change.blob)
        return known

    def _move(self, path: str) -> None:
        place = self._free_place(path)
        (self._folder / path).rename(place)
        self.rescued[path] = place

    def _save_staged(self, staged: dict[str, str]) -> None:
        if not staged:
            return
        with ObjectReader(self._git_dir) as reader:
            for path, blob in staged.items():
                name = f"{path}.staged"
                place = self._free_place(name)
                with place.open("xb") as target:
                    reader.copy(blob, target)
                self.rescued[name] = place

    def _free_place(self, path: str) -> Path:
        """Where a rescued file goes; an earlier rescue is never overwritten."""
        for number in count(1):
            home = self._home if number == 1 else self._home.with_name(f"{self._home.name}-{number}")
            with suppress(FileExistsError, NotADirectoryError):
                (home / path).parent.mkdir(parents=True, exist_ok=True)
                if not os.path.lexists(home / path):
                    return home / path
        raise AssertionError("numbers do not end")

    def _prune(self, folder: Path) -> None:
        while folder != self._folder:
            try:
                folder.rmdir()
            except OSError:
                return
            folder = folder.parent

    @property
    def home(self) -> Path:
        """Where rescued files are."""
        return self._home


def blob_id(path: Path, size: int, like: str) -> str:
    """The id that git gives to a file's bytes, by the hash that the other id is made with."""
    digest = hashlib.new("sha256" if len(like) == 64 else "sha1", b"blob %d\0" % size, usedforsecurity=False)
    with path.open("rb", buffering=0) as file:
        for piece in iter(lambda: file.read(_CHUNK), b""):
            digest.update(piece)
    return digest.hexdigest()


def _parent(path: str) -> str:
    return path.rpartition("/")[0]
