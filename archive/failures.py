"""How refusals of the operating system, git and rsync become webarc's own errors."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from webarc.errors import GitProblem, NoSpace, StorageProblem

_FULL = (errno.ENOSPC, errno.EDQUOT)
_FULL_SIGNS = ("No space left on device", "Out of diskspace", "Disk quota exceeded")
# The names that `tempfile` makes.
_MADE_UP = re.compile(r"[.-][a-z0-9_]{8}$")
_BLAME = ("fatal:", "error:", "rsync:")


def failure(what: str, complaint: str, kind: type[StorageProblem] = GitProblem) -> StorageProblem:
    """The error for a program that gave up, from what it wrote on stderr."""
    if any(sign in complaint for sign in _FULL_SIGNS):
        return _full(what)
    lines = [line.strip() for line in complaint.splitlines() if line.strip()]
    blamed = [line for line in lines if line.startswith(_BLAME)]
    reason = (blamed or lines[-1:] or ["it gave no reason"])[0]
    return kind(f"{what} failed ({reason}); mend the cause and run the command again.")


def storage_problem(what: str, error: OSError) -> StorageProblem:
    """The error for something that the operating system did not let us do."""
    if error.errno in _FULL:
        return _full(what)
    if error.errno == errno.ENOENT and error.filename is None and not _is_somewhere():
        return StorageProblem(f"{what} failed: the current folder does not exist any more; change to one that does.")
    return StorageProblem(f"{what} failed ({_reason(what, error)}); mend the cause and run the command again.")


@contextmanager
def storage(what: str) -> Iterator[None]:
    """Everything the operating system refuses inside is a StorageProblem, a full disk NoSpace."""
    try:
        yield
    except OSError as error:
        raise storage_problem(what, error) from error


def _reason(what: str, error: OSError) -> str:
    """What the system says, with the file if nobody has named it; of a file with a made-up name, its folder."""
    if error.strerror is None:
        return str(error)
    name = error.filename
    if isinstance(name, bytes):
        name = os.fsdecode(name)
    if not isinstance(name, str):
        return error.strerror
    if _MADE_UP.search(name):
        name = str(Path(name).parent)
    return error.strerror if name in what else f"{error.strerror}: {name}"


def _is_somewhere() -> bool:
    try:
        os.getcwd()  # noqa: PTH109 - it is the question
    except FileNotFoundError:
        return False
    return True


def _full(what: str) -> NoSpace:
    return NoSpace(f"{what} found the disk full; free some space and run the command again.")
