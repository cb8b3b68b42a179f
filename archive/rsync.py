"""Copying into a work tree with rsync: exactly the files asked for, whatever their sizes and times."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from subprocess import DEVNULL, Popen
from types import TracebackType
from typing import IO

from webarc.archive.failures import failure
from webarc.archive.gitenv import complaint_book, said
from webarc.archive.locks import inherited
from webarc.errors import RsyncProblem, UsageProblem

# The sources are webarc's own and hold no links; told not to look for any, rsync takes half the time on deep paths.
_COMMAND = ("rsync", "--recursive", "--copy-links", "--no-inc-recursive", "--perms", "--chmod=D755,F644")
_HALF_WRITTEN = re.compile(r"\.(.+)\.[A-Za-z0-9]{6}", re.DOTALL)
_AT_ONCE = 2


class Copying:
    """Copies going on beside the caller, two at a time; all have ended when its context is left."""

    def __init__(self, target: Path, workshop: Path) -> None:
        self._target = target
        self._workshop = workshop
        self._started = 0
        self._running: list[tuple[Popen[bytes], IO[bytes]]] = []

    def __enter__(self) -> Copying:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        problems = [problem for problem in [self._ended() for _ in list(self._running)] if problem]
        if problems and error is None:
            raise problems[0]

    def start(self, source: Path, wanted: Iterable[str], *, link: bool = False) -> None:
        """Bring files, named by their paths below the source, to the same places below the target.

        With `link` nothing may stand at those places: the files are then made by linking, which takes a third of the
        time and no room. Where that is not possible, rsync copies them.
        """
        if len(self._running) == _AT_ONCE:
            problem = self._ended()
            if problem:
                raise problem
        self._started += 1
        names = self._workshop / f"list-{self._started}"
        entries = collapsed(source, wanted)
        names.write_bytes("".join(f"./{entry}\0" for entry in entries).encode("utf-8", "surrogateescape"))
        how = f"--link-dest={source}" if link else "--ignore-times"
        self._run(source, how, "--from0", f"--files-from={names}")

    def start_all(self, source: Path) -> None:
        """Bring everything below the source to a target where nothing is, by linking; folders without files stay."""
        self._run(source, f"--link-dest={source}", "--prune-empty-dirs")

    def _run(self, source: Path, *options: str) -> None:
        complaints = complaint_book()
        try:
            process = Popen(
                [*_COMMAND, *options, "--", f"{source}/", f"{self._target}/"],
                # Without a home no alias file of the user can change what the options mean.
                env={"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C"},
                cwd="/",
                stdin=DEVNULL,
                stdout=DEVNULL,
                stderr=complaints,
                start_new_session=True,
                pass_fds=inherited(),
            )
        except FileNotFoundError:
            raise UsageProblem("rsync was not found; install it (on Debian: apt-get install rsync).") from None
        self._running.append((process, complaints))

    def _ended(self) -> Exception | None:
        """Wait for the oldest copy; what went wrong with it, if something did."""
        process, complaints = self._running.pop(0)
        with complaints:
            return failure("rsync", said(process, complaints), RsyncProblem) if process.wait() else None


def collapsed(source: Path, wanted: Iterable[str]) -> list[str]:
    """The files, a folder standing for all of them where it holds nothing else.

    rsync reads its list a byte at a time: 20,000 long names cost it more than the files themselves.
    """
    tree = _tree(wanted)

    def visit(folder: str) -> list[str]:
        whole, entries = _holds_only(source, folder, tree[folder]), []
        for name in tree[folder]:
            inner = visit(name) if name in tree else [name]
            whole = whole and inner == [name]
            entries += inner
        return [folder] if whole and folder else entries

    return visit("")


def half_written(name: str) -> str:
    """A name for a file that is still being written, such as rsync uses."""
    return f".{name}.webarc"


def sweep(target: Path, paths: Iterable[str]) -> None:
    """Remove the half-written files that a killed rsync left beside the places of these files."""
    names: dict[str, set[str]] = {}
    for path in paths:
        folder, _, name = path.rpartition("/")
        names.setdefault(folder, set()).add(name)
    for folder, expected in names.items():
        with suppress(FileNotFoundError, NotADirectoryError):
            for found in (target / folder).iterdir():
                match = _HALF_WRITTEN.fullmatch(found.name)
                if match and match.group(1) in expected:
                    found.unlink()


def _tree(paths: Iterable[str]) -> dict[str, set[str]]:
    """The folders on the way to paths, each with the names below it that lead on."""
    tree: dict[str, set[str]] = {"": set()}
    for path in paths:
        name = path
        while name:
            folder = name.rpartition("/")[0]
            known = folder in tree
            tree.setdefault(folder, set()).add(name)
            name = "" if known else folder
    return tree


def _holds_only(source: Path, folder: str, expected: set[str]) -> bool:
    """Whether a folder has no other entries; ends at the first one, so that huge folders cost nothing."""
    before = f"{folder}/" if folder else ""
    with os.scandir(f"{source}/{folder}") as entries:
        return all(f"{before}{entry.name}" in expected for entry in entries)
