"""What a domain's git history tells: its commits, oldest first, and what each one changed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from pathlib import Path

from webarc.archive.gitenv import fields, git
from webarc.archive.times import CET

KIND = "Webarc-Kind"
_FORMAT = f"--format=%H%x00%ct%x00%s%x00%(trailers:key={KIND},valueonly,separator=%x2C)"
_LOG = ("log", "-z", "--first-parent", "--encoding=UTF-8", "--no-mailmap", _FORMAT)
_COMMITTER = re.compile(r"^committer .*> ([0-9]+) [+-][0-9]{4}$", re.MULTILINE)
_TRAILER = re.compile(rf"^{KIND}: (\S+)$", re.MULTILINE)
_RAW = ("--raw", "--root", "--no-abbrev", "--no-renames", "--no-ext-diff", "--diff-merges=first-parent")


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit of a domain; `kind` is empty for a commit that webarc did not make."""

    id: str
    tag: str
    kind: str
    time: datetime


@dataclass(frozen=True, slots=True)
class Change:
    """One path that a commit added (A), modified (M) or deleted (D); `blob` is empty when deleted."""

    status: str
    path: str
    blob: str


@dataclass(frozen=True, slots=True)
class Step:
    """How one path differs between two commits; a missing blob is empty."""

    path: str
    mode: str
    old: str
    new: str


def commits(git_dir: Path, revisions: str, *, newest_first: bool = False) -> Iterator[Commit]:
    """The commits of a range, first parents only, oldest first unless asked otherwise."""
    order = [] if newest_first else ["--reverse"]
    stream = fields([*_LOG, *order, "--no-patch", revisions, "--"], git_dir)
    for first in stream:
        yield _commit(first, stream)


def changes(git_dir: Path, commit: str) -> Iterator[Change]:
    """What one commit changed against its first parent, or against nothing."""
    parents = git(["rev-list", "--parents", "--max-count=1", commit, "--"], git_dir).decode().split()[1:]
    for step in steps(git_dir, parents[0] if parents else None, commit):
        yield _change(step)


def changes_of_each(git_dir: Path, revisions: str) -> Iterator[tuple[Commit, list[Change]]]:
    """The commits of a range with all that each changed against its first parent: one git process for all."""
    stream = fields([*_LOG, *_RAW, "--reverse", revisions, "--"], git_dir)
    ahead = next(stream, None)
    while ahead is not None:
        commit, found = _commit(ahead, stream), []
        # Entries of the diff start with a colon, the first one behind a line end; the next commit starts with its id.
        for ahead in chain(stream, (None,)):
            if ahead is None or ":" not in ahead[:2]:
                break
            found.append(_change(_step(ahead, stream)))
        yield commit, found


def steps(git_dir: Path, old: str | None, new: str, only: str = "") -> Iterator[Step]:
    """What differs between two commits (None: the empty tree); `only` restricts it to git's letters, `D` or `d`."""
    chosen = [f"--diff-filter={only}"] if only else []
    if old is None:
        for line in fields(["ls-tree", "-r", "-z", "--full-tree", new], git_dir):
            mode, _, blob, path = _entry(line)
            yield Step(path, mode, "", blob)
        return
    stream = fields(["diff-tree", "-r", "-z", "--raw", "--no-renames", *chosen, old, new, "--"], git_dir)
    for first in stream:
        yield _step(first, stream)


def files(git_dir: Path, commit: str) -> Iterator[tuple[str, str]]:
    """Path and blob of every file of a commit."""
    for line in fields(["ls-tree", "-r", "-z", "--full-tree", commit], git_dir):
        _, kind, blob, path = _entry(line)
        if kind == "blob":
            yield path, blob


def parse_commit(commit: str, content: bytes) -> Commit | None:
    """A commit from its bytes in git; None if they are not as webarc's own are."""
    head, _, message = content.decode("utf-8", "replace").partition("\n\n")
    found = _COMMITTER.search(head)
    last = message.rstrip("\n").rpartition("\n\n")[2]
    kinds = _TRAILER.findall(last)
    if found is None or len(kinds) != 1:
        return None
    return Commit(commit, message.partition("\n")[0], kinds[0], datetime.fromtimestamp(int(found[1]), CET))


def _commit(first: str, stream: Iterator[str]) -> Commit:
    seconds, tag, kind = next(stream), next(stream), next(stream)
    return Commit(first, tag, kind.strip(), datetime.fromtimestamp(int(seconds), CET))


def _step(first: str, stream: Iterator[str]) -> Step:
    _, mode, old, new, _ = first.lstrip("\n:").split(" ")
    return Step(next(stream), mode, _or_nothing(old), _or_nothing(new))


def _change(step: Step) -> Change:
    status = "D" if not step.new else "M" if step.old else "A"
    return Change(status, step.path, step.new)


def _or_nothing(blob: str) -> str:
    return blob if blob.strip("0") else ""


def _entry(line: str) -> tuple[str, str, str, str]:
    about, _, path = line.partition("\t")
    mode, kind, blob = about.split(" ")
    return mode, kind, blob, path
