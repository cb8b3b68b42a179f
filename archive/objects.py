"""Reading what is in git: one `git cat-file` process serves any number of objects and waits for nobody."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from subprocess import PIPE
from types import TracebackType
from typing import BinaryIO, NamedTuple

from webarc.archive.failures import failure
from webarc.archive.gitenv import complaint_book, git, said, spawn
from webarc.errors import Damaged, GitProblem
from webarc.heartbeat import beat

_CHUNK = 1 << 20
# Asked for ahead of the answers; so many names always fit into the pipe, whatever git still has to say.
_AHEAD = 40
# No object has this name.
_NOTHING = "0" * 40


class ObjectReader:
    """Gives the bytes of objects by id or by `COMMIT:path`.

    At a damaged object git may end, or tell lies; only that object is then reported as damaged, and a new process
    goes on with the others.
    """

    def __init__(self, git_dir: Path) -> None:
        self._git_dir = git_dir
        self._start()

    def __enter__(self) -> ObjectReader:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def read(self, spec: str) -> bytes | None:
        """The bytes of one object, or None where there is none; raises Damaged if they are not what they were."""
        found = self._answers([spec])[0]
        if isinstance(found, Damaged):
            raise found
        return found

    def read_many(self, specs: Iterable[str]) -> Iterator[bytes | Damaged | None]:
        """The bytes of many objects in the order asked for, or what is wrong with one; faster than one by one."""
        pending = iter(specs)
        while batch := list(islice(pending, _AHEAD)):
            # All of them at once, so that a caller who stops early leaves no answers behind.
            yield from self._answers(batch)

    def copy(self, spec: str, target: BinaryIO) -> bool:
        """Write the bytes of one object to a file, a piece at a time; False where there is none."""
        try:
            self._ask([spec])
            head = self._head()
            if head is None:
                return False
            digest = head.digest()
            for size in _pieces(head.size):
                piece = self._take(size)
                digest.update(piece)
                target.write(piece)
            self._take(1)
        except _Broken:
            raise self._damaged(spec, self._restart()) from None
        if digest.hexdigest() != head.id:
            raise self._damaged(spec)
        return True

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        # What a process that has ended was still to be asked is of no interest.
        with suppress(BrokenPipeError), self._process:
            self._complaints.close()

    def _start(self) -> None:
        self._complaints = complaint_book()
        self._process = spawn(["cat-file", "--batch"], self._git_dir, self._complaints, stdin=PIPE, reads_only=True)

    def _restart(self) -> str:
        """Go on with a new process; returns what the old one complained of, raises GitProblem if git cannot work."""
        self._process.kill()
        self._process.wait()
        complaint = said(self._process, self._complaints)
        self.close()
        self._start()
        try:
            self._ask([_NOTHING])
            self._head()
        except _Broken:
            self._process.wait()
            raise failure("reading from git", said(self._process, self._complaints)) from None
        return complaint

    def _answers(self, specs: list[str]) -> list[bytes | Damaged | None]:
        found: list[bytes | Damaged | None] = []
        while len(found) < len(specs):
            try:
                self._ask(specs[len(found) :])
                for spec in specs[len(found) :]:
                    found.append(self._whole(spec))
            except _Broken:
                self._restart()
                found.append(self._again(specs[len(found)]))
        return found

    def _again(self, spec: str) -> bytes | Damaged | None:
        """Ask a second time, alone: the process may have been ended by something else than this object."""
        try:
            self._ask([spec])
            return self._whole(spec)
        except _Broken:
            return self._damaged(spec, self._restart())

    def _ask(self, specs: list[str]) -> None:
        if any("\n" in spec for spec in specs):
            raise GitProblem("a name with a line end cannot be looked up in git; ask for it by its blob id.")
        assert self._process.stdin is not None
        try:
            self._process.stdin.write("".join(f"{spec}\n" for spec in specs).encode("utf-8", "surrogateescape"))
            self._process.stdin.flush()
        except BrokenPipeError:
            raise _Broken from None

    def _whole(self, spec: str) -> bytes | Damaged | None:
        head = self._head()
        if head is None:
            return None
        beat()
        data = self._take(head.size + 1)[:-1]
        digest = head.digest()
        digest.update(data)
        return data if digest.hexdigest() == head.id else self._damaged(spec)

    def _head(self) -> _Head | None:
        """The line that goes before an object's bytes; None if it says that there is no object."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if line.endswith((b" missing\n", b" ambiguous\n")):
            return None
        try:
            name, kind, size = line.decode("ascii").split()
            return _Head(name, kind, int(size))
        except ValueError:
            raise _Broken from None

    def _take(self, size: int) -> bytes:
        assert self._process.stdout is not None
        data = self._process.stdout.read(size)
        if len(data) < size:
            raise _Broken
        return data

    def _damaged(self, spec: str, complaint: str = "") -> Damaged:
        reason = (complaint.strip().splitlines() or ["its bytes do not fit its name"])[-1]
        return Damaged(
            f"the object {spec} of {self._git_dir} is damaged ({reason}); restore the repository from a backup."
        )


class _Broken(Exception):
    """The process has ended, or does not say what it should."""


class _Head(NamedTuple):
    id: str
    kind: str
    size: int

    def digest(self) -> hashlib._Hash:
        """The beginning of the hash that an object's name is."""
        start = f"{self.kind} {self.size}\0".encode()
        return hashlib.new("sha256" if len(self.id) == 64 else "sha1", start, usedforsecurity=False)


def _pieces(size: int) -> Iterator[int]:
    while size > 0:
        yield min(size, _CHUNK)
        size -= _CHUNK


def sizes(git_dir: Path, blobs: Iterable[str]) -> list[int]:
    """The lengths of blobs, in the order asked for; -1 where one is missing."""
    answers = _checked(git_dir, "%(objectsize)", blobs)
    return [int(answer) if answer.isdigit() else -1 for answer in answers]


def staged_blobs(git_dir: Path, paths: Iterable[str]) -> list[str]:
    """The blobs that git's index has for paths; empty where it has none."""
    # A name with a line end cannot be asked for; the empty name that stands for it is never found.
    answers = _checked(git_dir, "%(objectname)", (f":0:{path}" if "\n" not in path else ":0:" for path in paths))
    return ["" if answer.endswith(" missing") else answer for answer in answers]


def _checked(git_dir: Path, form: str, specs: Iterable[str]) -> list[str]:
    question = "".join(f"{spec}\0" for spec in specs).encode("utf-8", "surrogateescape")
    answers = git(["cat-file", "-z", f"--batch-check={form}"], git_dir, question)
    return answers.decode("utf-8", "surrogateescape").split("\n")[:-1]
