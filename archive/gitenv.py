"""How git is run: argument lists only, and nothing of the user's own configuration, hooks, excludes or attributes."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from shutil import which
from subprocess import DEVNULL, PIPE, Popen
from typing import IO

from webarc.archive.failures import failure
from webarc.archive.locks import inherited
from webarc.errors import UsageProblem

NAME = "webarc"
EMAIL = "webarc@localhost"
OLDEST = (2, 38)
_NO_GIT = "git was not found; install it (on Debian: apt-get install git)."
_CHUNK = 1 << 16
_KEPT = ("PATH", "LD_LIBRARY_PATH", "TMPDIR")
_SETTINGS = {
    "core.attributesFile": "/dev/null",
    "core.excludesFile": "/dev/null",
    "core.hooksPath": "/dev/null",
    "core.fsmonitor": "false",
    "core.fsync": "all",
    "core.fsyncMethod": "fsync",
    # A user's own git may hold a ref for a moment; it is worth waiting for.
    "core.filesRefLockTimeout": "10000",
    "core.packedRefsTimeout": "10000",
    # Larger files are streamed, so that one of them never has to fit into memory.
    "core.bigFileThreshold": "8m",
    "fastimport.unpackLimit": "1",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "log.showSignature": "false",
    # Measured on 280 MB of pages: level 1 costs no more time than none, and a fifth of the space.
    "pack.compression": "1",
    "safe.directory": "*",
    "tag.gpgSign": "false",
}


def require_git() -> None:
    """Raises UsageProblem where there is no git: once, not for each domain of many."""
    if which("git") is None:
        raise UsageProblem(_NO_GIT)


def environment() -> dict[str, str]:
    """The whole environment of a git process."""
    variables = {name: os.environ[name] for name in _KEPT if name in os.environ} | {
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_SYSTEM": "/dev/null",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        # Nothing is ever fetched; a clone of a part could name a program that brings the rest.
        "GIT_ALLOW_PROTOCOL": "",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_GRAFT_FILE": "/dev/null/none",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TEMPLATE_DIR": "",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_AUTHOR_NAME": NAME,
        "GIT_AUTHOR_EMAIL": EMAIL,
        "GIT_COMMITTER_NAME": NAME,
        "GIT_COMMITTER_EMAIL": EMAIL,
        "LC_ALL": "C",
        "GIT_CONFIG_COUNT": str(len(_SETTINGS)),
    }
    for number, (key, value) in enumerate(_SETTINGS.items()):
        variables[f"GIT_CONFIG_KEY_{number}"] = key
        variables[f"GIT_CONFIG_VALUE_{number}"] = value
    return variables


def spawn(
    args: Sequence[str],
    git_dir: Path | None,
    complaints: IO[bytes],
    *,
    stdin: int | IO[bytes] = DEVNULL,
    reads_only: bool = False,
    buffer: int = -1,
) -> Popen[bytes]:
    """Start git; it is out of reach of the terminal's Ctrl-C, and a writer keeps our locks while it lives."""
    place = [] if git_dir is None else [f"--git-dir={git_dir}", f"--work-tree={git_dir.parent}"]
    try:
        return Popen(
            ["git", *place, *args],
            env=environment(),
            # A git at work in the domain folder is taken for the user's, whose locks are left alone.
            cwd="/",
            stdin=stdin,
            stdout=PIPE,
            stderr=complaints,
            bufsize=buffer,
            start_new_session=True,
            pass_fds=() if reads_only else inherited(),
        )
    except FileNotFoundError:
        raise UsageProblem(_NO_GIT) from None


def git(args: Sequence[str], git_dir: Path | None = None, stdin: bytes | IO[bytes] = b"") -> bytes:
    """Run git to its end and return what it printed; raises GitProblem, or NoSpace when the disk is full."""
    with complaint_book() as complaints:
        given = PIPE if isinstance(stdin, bytes) else stdin
        with spawn(args, git_dir, complaints, stdin=given) as process:
            output, _ = process.communicate(stdin if isinstance(stdin, bytes) else None)
        _check(args, process, complaints)
    return output


def fields(args: Sequence[str], git_dir: Path, end: bytes = b"\0") -> Iterator[str]:
    """What a reading git command prints with `-z`, or line by line, while it is still printing."""
    with complaint_book() as complaints, spawn(args, git_dir, complaints, reads_only=True) as process:
        assert process.stdout is not None
        try:
            yield from split(iter(partial(process.stdout.read, _CHUNK), b""), end)
        except GeneratorExit:
            process.kill()
            raise
        process.wait()
        _check(args, process, complaints)


def split(chunks: Iterable[bytes], end: bytes = b"\0") -> Iterator[str]:
    """The fields of a stream of bytes, each with an end; file names may be any bytes."""
    rest = b""
    for chunk in chunks:
        *whole, rest = (rest + chunk).split(end)
        for field in whole:
            yield field.decode("utf-8", "surrogateescape")


def complaint_book() -> IO[bytes]:
    """Where a program's stderr goes: in memory, for it must be legible when the disk is full."""
    return os.fdopen(os.memfd_create("complaints"), "w+b")


def said(process: Popen[bytes], complaints: IO[bytes]) -> str:
    """What a program that has ended wrote on its stderr, or what ended it."""
    complaints.seek(0)
    written = complaints.read().decode("utf-8", "replace")
    return written if process.returncode >= 0 else f"{written}\nit was killed by signal {-process.returncode}"


def _check(args: Sequence[str], process: Popen[bytes], complaints: IO[bytes]) -> None:
    if process.returncode:
        raise failure(f"git {args[0]}", said(process, complaints))
