"""Reading what is in git: one `git cat-file` process serves any number of objects and waits for nobody."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from subprocess import PIPE
from types import TracebackType
from typing import BinaryIO

from webarc.archive.failures import failure
from webarc.archive.gitenv import complaint_book, git, said, spawn
from webarc.errors import GitProblem

_CHUNK = 1 << 20
# Asked for ahead of the answers; so many names always fit into the pipe, whatever git still has to say.
_AHEAD = 40


class ObjectReader:
    """Gives the bytes of objects by id or by `COMMIT:path`."""

    def __init__(self, git_dir: Path) -> None:
        self._complaints = complaint_book()
        self._process = spawn(["cat-file", "--batch"], git_dir, self._complaints, stdin=PIPE, reads_only=True)

    def __enter__(self) -> ObjectReader:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def read(self, spec: str) -> bytes | None:
        """The bytes of one object, or None where there is none."""
        self._ask([spec])
        return self._whole()

    def read_many(self, specs: Iterable[str]) -> Iterator[bytes | None]:
        """The bytes of many objects in the order asked for; faster than one by one."""
        pending = iter(specs)
        while batch := list(islice(pending, _AHEAD)):
            self._ask(batch)
            # All of them at once, so that a caller who stops early leaves no answers behind.
            yield from [self._whole() for _ in batch]

    def copy(self, spec: str, target: BinaryIO) -> bool:
        """Write the bytes of one object to a file, a piece at a time; False where there is none."""
        self._ask([spec])
        size = self._size()
        if size is None:
            return False
        while size:
            piece = self._take(min(size, _CHUNK))
            target.write(piece)
            size -= len(piece)
        self._take(1)
        return True

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        with self._process:
            self._complaints.close()

    def _ask(self, specs: list[str]) -> None:
        if any("\n" in spec for spec in specs):
            raise GitProblem("a name with a line end cannot be looked up in git; ask for it by its blob id.")
        assert self._process.stdin is not None
        try:
            self._process.stdin.write("".join(f"{spec}\n" for spec in specs).encode("utf-8", "surrogateescape"))
            self._process.stdin.flush()
        except BrokenPipeError:
            raise self._broken() from None

    def _whole(self) -> bytes | None:
        size = self._size()
        return None if size is None else self._take(size + 1)[:-1]

    def _size(self) -> int | None:
        """The length from the line that goes before an object's bytes."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise self._broken()
        if line.endswith((b" missing\n", b" ambiguous\n")):
            return None
        return int(line.rpartition(b" ")[2])

    def _take(self, size: int) -> bytes:
        assert self._process.stdout is not None
        data = self._process.stdout.read(size)
        if len(data) < size:
            raise self._broken()
        return data

    def _broken(self) -> Exception:
        self._process.wait()
        return failure("reading from git", said(self._process, self._complaints))


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
