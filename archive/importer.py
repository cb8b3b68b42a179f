"""Committing: blobs are fed to one `git fast-import` as they come, then become one commit on main.

Nothing is read from the work tree or from git's index: a commit is its parent plus exactly what was added and dropped.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from subprocess import PIPE
from tempfile import SpooledTemporaryFile
from types import TracebackType
from typing import BinaryIO

from webarc.archive.durable import sync_folders
from webarc.archive.failures import failure, storage
from webarc.archive.gitenv import EMAIL, NAME, complaint_book, said, spawn
from webarc.archive.tags import tag_name
from webarc.archive.times import CET
from webarc.errors import GitProblem, StorageProblem

MAIN = "refs/heads/main"
_PIPE_SIZE = 1 << 20
_CHUNK = 1 << 20
_SPOOL_IN_MEMORY = 1 << 22
_F_SETPIPE_SZ = 1031


class Importer:
    """One commit in the making; leaving its context without a commit leaves no trace."""

    def __init__(self, git_dir: Path) -> None:
        self._git_dir = git_dir
        self._marks = 0
        self._lines = 0
        self._discarded: dict[bytes, int] = {}
        with storage("starting the import"):
            # The list of changes waits in a file: for a million files it would not fit into memory.
            self._spool = SpooledTemporaryFile(max_size=_SPOOL_IN_MEMORY, dir=str(git_dir))  # noqa: SIM115
        self._complaints = complaint_book()
        # Deltas against the previous blob double git's time; `git repack` makes better ones when asked to.
        command = ["fast-import", "--quiet", "--done", "--depth=0"]
        self._process = spawn(command, git_dir, self._complaints, stdin=PIPE, buffer=_CHUNK)
        assert self._process.stdin is not None
        self._pipe = self._process.stdin
        # Refused where a user's pipes may hold no more; the smaller pipe works, too.
        with suppress(OSError):
            fcntl.fcntl(self._pipe, _F_SETPIPE_SZ, _PIPE_SIZE)

    def __enter__(self) -> Importer:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.abort()

    def add(self, path: str, source: Path) -> None:
        """Feed the bytes of a file now and remember that the commit has them at this path."""
        with storage(f"reading {source}"), source.open("rb", buffering=0) as file:
            size = os.fstat(file.fileno()).st_size
            if size <= _CHUNK:
                self._blob(path, file.read(size + 1))
            else:
                self._stream(path, file, size)

    def add_bytes(self, path: str, data: bytes) -> None:
        """Feed bytes now and remember that the commit has them at this path."""
        self._blob(path, data)

    def drop(self, path: str) -> None:
        """Remember that the commit has no file at this path."""
        self._remember(b"D %s\n" % _quoted(path))

    def discard(self, path: str) -> None:
        """Forget what was added at this path so far; the parent's file stays."""
        self._discarded[_quoted(path)] = self._lines

    def commit(self, parent: str | None, message: str, when: datetime, tag: str | None) -> str:
        """Make the commit on main, and an annotated tag of that commitTag; durable when it returns its id."""
        identity = f"{NAME} <{EMAIL}> {int(when.timestamp())} {when.astimezone(CET):%z}".encode()
        self._marks += 1
        mark = self._marks
        self._send(b"commit %s\nmark :%d\ncommitter %s\n" % (MAIN.encode(), mark, identity), _data(message))
        if parent:
            self._send(b"from %s\n" % parent.encode())
        for line in self._changes():
            self._send(line)
        self._send(b"\nget-mark :%d\n" % mark)
        commit = self._answer()
        if tag:
            name = tag_name(tag).encode()
            self._send(b"tag %s\nfrom :%d\ntagger %s\n" % (name, mark, identity), _data(f"{tag}\n"))
        self._finish()
        return commit

    def abort(self) -> None:
        """Stop without a commit and take away what was written so far."""
        if self._process.returncode is None:
            unfinished = self._unfinished_pack()
            self._process.kill()
            self._process.wait()
            if unfinished:
                unfinished.unlink(missing_ok=True)
        self._close()

    def _blob(self, path: str, data: bytes) -> None:
        self._marks += 1
        self._send(b"blob\nmark :%d\ndata %d\n" % (self._marks, len(data)), data, b"\n")
        self._remember(b"M 100644 :%d %s\n" % (self._marks, _quoted(path)))

    def _stream(self, path: str, file: BinaryIO, size: int) -> None:
        """A file too large for memory; git was told its length, so it must not change under us."""
        self._marks += 1
        self._send(b"blob\nmark :%d\ndata %d\n" % (self._marks, size))
        while size:
            piece = file.read(min(size, _CHUNK))
            if not piece:
                self.abort()
                raise StorageProblem(f"the file for {path!r} grew shorter while it was read; run the command again.")
            self._send(piece)
            size -= len(piece)
        self._send(b"\n")
        self._remember(b"M 100644 :%d %s\n" % (self._marks, _quoted(path)))

    def _remember(self, line: bytes) -> None:
        with storage("noting a change for the commit"):
            self._spool.write(line)
        self._lines += 1

    def _changes(self) -> Iterator[bytes]:
        self._spool.seek(0)
        for number, line in enumerate(self._spool):
            added = line.startswith(b"M")
            if added and self._discarded and number < self._discarded.get(line[:-1].split(b" ", 3)[3], 0):
                continue
            yield line

    def _send(self, *pieces: bytes) -> None:
        try:
            for piece in pieces:
                self._pipe.write(piece)
        except (BrokenPipeError, ValueError):
            raise self._failed() from None

    def _answer(self) -> str:
        assert self._process.stdout is not None
        try:
            self._pipe.flush()
        except BrokenPipeError:
            raise self._failed() from None
        line = self._process.stdout.readline()
        if not line:
            raise self._failed()
        return line.decode().strip()

    def _finish(self) -> None:
        self._send(b"done\n")
        with suppress(BrokenPipeError):
            self._pipe.close()
        if self._process.wait():
            raise self._failed()
        self._close()
        # git makes the files durable, but not their names.
        with storage("making the commit durable"):
            sync_folders(*(self._git_dir / name for name in ("objects/pack", "refs/heads", "refs/tags")))

    def _failed(self) -> StorageProblem:
        """Why git gave up; the importer is of no more use."""
        if self._complaints.closed:
            return GitProblem("the import has already ended; start a new one for another commit.")
        with suppress(OSError):
            self._pipe.close()
        self._process.wait()
        (self._git_dir / f"fast_import_crash_{self._process.pid}").unlink(missing_ok=True)
        problem = failure("git fast-import", said(self._process, self._complaints))
        self._close()
        return problem

    def _close(self) -> None:
        for stream in (self._pipe, self._process.stdout, self._spool, self._complaints):
            if stream is not None:
                with suppress(OSError):
                    stream.close()

    def _unfinished_pack(self) -> Path | None:
        """The pack that git is writing; no other process may take it away while git lives."""
        with suppress(OSError):
            for link in Path(f"/proc/{self._process.pid}/fd").iterdir():
                target = link.readlink()
                if target.name.startswith("tmp_pack_"):
                    return target
        return None


def _data(text: str) -> bytes:
    content = text.encode("utf-8", "backslashreplace")
    return b"data %d\n%s\n" % (len(content), content)


def _quoted(path: str) -> bytes:
    """A path as fast-import reads it: quoted where it could be misread."""
    name = path.encode("utf-8", "surrogateescape")
    if b"\n" not in name and not name.startswith(b'"'):
        return name
    return b'"%s"' % name.replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n")
