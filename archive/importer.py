"""Committing: blobs are packed as they come, then one `git fast-import` makes them one commit on main.

Nothing is read from the work tree or from git's index: a commit is its parent plus exactly what was added and dropped.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from functools import partial
from pathlib import Path
from tempfile import SpooledTemporaryFile
from types import TracebackType
from typing import BinaryIO

from webarc.archive.blobpack import BlobPack, blob_name, blob_name_of
from webarc.archive.failures import storage, storage_problem
from webarc.archive.fastimport import FastImport
from webarc.archive.gitenv import EMAIL, NAME, git
from webarc.archive.tags import tag_name
from webarc.archive.times import CET
from webarc.errors import GitProblem

MAIN = "refs/heads/main"
_CHUNK = 1 << 20
_FEW = 1 << 18
_SPOOL_IN_MEMORY = 1 << 22


class Importer:
    """One commit in the making; leaving its context without a commit leaves no trace."""

    def __init__(self, git_dir: Path) -> None:
        self._git_dir = git_dir
        self._lines = 0
        self._discarded: dict[bytes, int] = {}
        self._few: list[bytes] = []
        self._few_size = 0
        self._pack: BlobPack | None = None
        self._sealed = False
        self._large: list[tuple[Path, int]] = []
        self._over = False
        with storage("starting the import"):
            # The list of changes waits in a file: for a million files it would not fit into memory.
            self._spool = SpooledTemporaryFile(max_size=_SPOOL_IN_MEMORY, dir=str(git_dir))  # noqa: SIM115

    def __enter__(self) -> Importer:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.abort()

    def add(self, path: str, source: Path) -> None:
        """Pack the bytes of a file now and remember that the commit has them at this path."""
        with storage(f"reading {source}"), source.open("rb", buffering=0) as file:
            size = os.fstat(file.fileno()).st_size
            self._check()
            if size <= _CHUNK:
                self.add_bytes(path, file.read(size + 1))
            else:
                self._add_large(path, file, size)

    def add_bytes(self, path: str, data: bytes | memoryview) -> str:
        """Pack bytes now and remember that the commit has them at this path; returns the name of the blob."""
        self._check()
        if self._sealed or (self._pack is None and self._few_size + len(data) <= _FEW):
            # A handful goes to git together with the commit: one pack less in the repository.
            self._few.append(bytes(data))
            self._few_size += len(data)
            name = blob_name(data).hex()
        else:
            try:
                name = self._opened().add(data)
            except OSError as error:
                raise storage_problem("packing", error) from error
        self._remember(b"M 100644 %s %s\n" % (name.encode(), _quoted(path)))
        return name

    def drop(self, path: str) -> None:
        """Remember that the commit has no file at this path."""
        self._remember(b"D %s\n" % _quoted(path))

    def discard(self, path: str) -> None:
        """Forget what was added at this path so far; the parent's file stays."""
        self._discarded[_quoted(path)] = self._lines

    def seal(self) -> None:
        """Little more will come than the report of the crawl: finish the pack while that is being made."""
        if self._pack is not None and not self._sealed:
            with storage("packing"):
                self._pack.seal()
            self._sealed = True

    def commit(self, parent: str | None, message: str, when: datetime, tag: str | None) -> str:
        """Make the commit on main, and an annotated tag of that commitTag; durable when it returns its id."""
        self._check()
        if self._pack is not None:
            with storage("packing"):
                self._pack.install()
        running = FastImport(self._git_dir)
        commit = ""
        try:
            commit = self._told(running, parent, message, when, tag)
            running.finish()
        except BaseException:
            running.abort()
            if commit and self._is_named(commit):
                self._settle()  # it failed too late: what is in git now needs the blobs
            raise
        self._settle()
        return commit

    def abort(self) -> None:
        """Stop without a commit and take away what was written so far."""
        if self._pack is not None:
            self._pack.discard()
        self._end()

    def _told(self, running: FastImport, parent: str | None, message: str, when: datetime, tag: str | None) -> str:
        identity = f"{NAME} <{EMAIL}> {int(when.timestamp())} {when.astimezone(CET):%z}".encode()
        for data in self._few:
            running.send(b"blob\ndata %d\n" % len(data), data, b"\n")
        for source, size in self._large:
            with storage(f"reading {source}"), source.open("rb", buffering=0) as file:
                running.send(b"blob\ndata %d\n" % size)
                for piece in iter(partial(file.read, _CHUNK), b""):
                    running.send(piece)
                running.send(b"\n")
        running.send(b"commit %s\nmark :1\ncommitter %s\n" % (MAIN.encode(), identity), _data(message))
        if parent:
            running.send(b"from %s\n" % parent.encode())
        for line in self._changes():
            running.send(line)
        running.send(b"\nget-mark :1\n")
        commit = running.answer()
        if tag:
            name = tag_name(tag).encode()
            running.send(b"tag %s\nfrom :1\ntagger %s\n" % (name, identity), _data(f"{tag}\n"))
        return commit

    def _is_named(self, commit: str) -> bool:
        """Whether a branch or a tag leads to the commit already."""
        return bool(git(["for-each-ref", f"--points-at={commit}"], self._git_dir))

    def _opened(self) -> BlobPack:
        """The pack, begun with what waited in memory so far."""
        if self._pack is None:
            self._pack = BlobPack(self._git_dir)
            for data in self._few:
                self._pack.add(data)
            self._few.clear()
            self._few_size = 0
        return self._pack

    def _add_large(self, path: str, file: BinaryIO, size: int) -> None:
        """A file too large for memory."""
        pieces = iter(partial(file.read, _CHUNK), b"")
        if self._sealed:
            self._large.append((Path(file.name), size))
            name = blob_name_of(size, pieces)
        else:
            name = self._opened().add_pieces(size, pieces)
        self._remember(b"M 100644 %s %s\n" % (name.encode(), _quoted(path)))

    def _remember(self, line: bytes) -> None:
        self._check()
        try:
            self._spool.write(line)
        except OSError as error:
            raise storage_problem("noting a change for the commit", error) from error
        self._lines += 1

    def _changes(self) -> Iterator[bytes]:
        self._spool.seek(0)
        for number, line in enumerate(self._spool):
            added = line.startswith(b"M")
            if added and self._discarded and number < self._discarded.get(line[:-1].split(b" ", 3)[3], 0):
                continue
            yield line

    def _check(self) -> None:
        if self._over:
            raise GitProblem("the import has already ended; start a new one for another commit.")

    def _settle(self) -> None:
        if self._pack is not None:
            # Should that fail, the commit is made all the same, and `compact` finds out.
            with suppress(OSError):
                self._pack.settle()
        self._end()

    def _end(self) -> None:
        self._over = True
        self._pack = None
        self._few.clear()
        self._spool.close()


def _data(text: str) -> bytes:
    content = text.encode("utf-8", "backslashreplace")
    return b"data %d\n%s\n" % (len(content), content)


def _quoted(path: str) -> bytes:
    """A path as fast-import reads it: quoted where it could be misread."""
    name = path.encode("utf-8", "surrogateescape")
    if b"\n" not in name and not name.startswith(b'"'):
        return name
    return b'"%s"' % name.replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n")
