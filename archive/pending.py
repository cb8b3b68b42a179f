"""Packs that wait for their commit, noted so that those of killed crawls can be told from all others, and go.

A note is an empty file in `.git/webarc-pending/` with the name of the pack. It is there before the pack is seen, and
goes when refs lead to what is in it. Whoever holds the tree lock and finds a note knows that its maker was killed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from webarc.archive.durable import sync_folders
from webarc.archive.gitenv import fields, git

_FOLDER = "webarc-pending"
# What anything may still ask for: refs, what they were before, and what is in git's index.
_WANTED = ("rev-list", "--objects", "--no-object-names", "--all", "--reflog", "--indexed-objects")


def note(git_dir: Path, name: str) -> None:
    """Remember that a pack waits for its commit."""
    (git_dir / _FOLDER).mkdir(exist_ok=True)
    (git_dir / _FOLDER / name).touch()


def settle(git_dir: Path, name: str) -> None:
    """Forget the note, for the commit is made, or the pack is gone."""
    (git_dir / _FOLDER / name).unlink(missing_ok=True)
    with suppress(OSError):
        (git_dir / _FOLDER).rmdir()


def noted(git_dir: Path) -> list[str]:
    """The names of packs that wait."""
    folder = git_dir / _FOLDER
    return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []


def drop(git_dir: Path) -> int:
    """Take away what killed crawls left in packs that nothing leads to; the caller holds the crawl and the tree lock.

    Nobody else counts on what is there: blobs are always packed anew, and trees and commits under the tree lock.
    """
    names = noted(git_dir)
    if not names:
        return 0
    held = {name: set(_listed(git_dir, name)) for name in names}
    every = set().union(*held.values())
    # Git also tells here if it misses anything, and then nothing is taken away.
    wanted = {name for name in fields(_WANTED, git_dir, b"\n") if name in every}
    dropped = 0
    for name, objects in held.items():
        if not objects <= wanted or not objects:
            dropped += _remove(git_dir, name, objects & wanted)
        settle(git_dir, name)
    return dropped


def _listed(git_dir: Path, name: str) -> Iterator[str]:
    """The objects in a pack; none if its index, which comes last, was never made."""
    index = _place(git_dir, name, ".idx")
    if index.exists():
        with index.open("rb") as source:
            for line in git(["show-index"], git_dir, source).decode().splitlines():
                yield line.split()[1]


def _remove(git_dir: Path, name: str, kept: set[str]) -> bool:
    """Remove a pack, after what is wanted of it has got into another one."""
    place = _place(git_dir, name, ".pack")
    if kept:
        # The same bytes may be elsewhere, too; but whether they are is of no importance.
        names = "".join(f"{each}\n" for each in sorted(kept)).encode()
        git(["pack-objects", "--quiet", str(place.parent / "pack")], git_dir, names)
        sync_folders(place.parent)
    found = place.exists()
    # The index first: git takes a pack without it for none.
    for ending in (".idx", ".rev", ".pack"):
        place.with_suffix(ending).unlink(missing_ok=True)
    return found


def _place(git_dir: Path, name: str, ending: str) -> Path:
    return git_dir / "objects" / "pack" / f"{name}{ending}"
