"""A running `git fast-import`: what it is told, what it answers, and what it leaves behind when it fails."""

from __future__ import annotations

import fcntl
from contextlib import suppress
from pathlib import Path
from subprocess import PIPE

from webarc.archive.durable import sync_folders
from webarc.archive.failures import failure, storage
from webarc.archive.gitenv import complaint_book, said, spawn
from webarc.errors import StorageProblem
from webarc.heartbeat import beat

_PIPE_SIZE = 1 << 20
_CHUNK = 1 << 20
_F_SETPIPE_SZ = 1031


class FastImport:
    """One git process that takes objects and refs through a pipe."""

    def __init__(self, git_dir: Path) -> None:
        self._git_dir = git_dir
        self._complaints = complaint_book()
        # Deltas against the previous blob double git's time; `git repack` makes better ones when asked to.
        command = ["fast-import", "--quiet", "--done", "--depth=0"]
        self._process = spawn(command, git_dir, self._complaints, stdin=PIPE, buffer=_CHUNK)
        assert self._process.stdin is not None
        self._pipe = self._process.stdin
        # Refused where a user's pipes may hold no more; the smaller pipe works, too.
        with suppress(OSError):
            fcntl.fcntl(self._pipe, _F_SETPIPE_SZ, _PIPE_SIZE)

    @property
    def pid(self) -> int:
        """The id of git's process."""
        return self._process.pid

    def fileno(self) -> int:
        """The descriptor of our end of the pipe."""
        return self._pipe.fileno()

    def send(self, *pieces: bytes) -> None:
        """Tell git the next part of the stream."""
        try:
            for piece in pieces:
                self._pipe.write(piece)
            beat()
        except (BrokenPipeError, ValueError):
            raise self._failed() from None

    def answer(self) -> str:
        """Wait for the line that git prints to a question."""
        assert self._process.stdout is not None
        try:
            self._pipe.flush()
        except BrokenPipeError:
            raise self._failed() from None
        line = self._process.stdout.readline()
        if not line:
            raise self._failed()
        return line.decode().strip()

    def finish(self) -> None:
        """End the stream; everything it told is durable when this returns."""
        self.send(b"done\n")
        with suppress(BrokenPipeError):
            self._pipe.close()
        if self._process.wait():
            raise self._failed()
        self._close()
        # git makes the files durable, but not their names.
        with storage("making the commit durable"):
            sync_folders(*(self._git_dir / name for name in ("objects/pack", "refs/heads", "refs/tags")))

    def abort(self) -> None:
        """Stop git and take away what it wrote so far."""
        if self._process.returncode is None:
            unfinished = self._unfinished_pack()
            self._process.kill()
            self._process.wait()
            if unfinished:
                unfinished.unlink(missing_ok=True)
        self._close()

    def _failed(self) -> StorageProblem:
        """Why git gave up; it is of no more use."""
        with suppress(OSError):
            self._pipe.close()
        self._process.wait()
        (self._git_dir / f"fast_import_crash_{self._process.pid}").unlink(missing_ok=True)
        problem = failure("git fast-import", said(self._process, self._complaints))
        self._close()
        return problem

    def _close(self) -> None:
        for stream in (self._pipe, self._process.stdout, self._complaints):
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
