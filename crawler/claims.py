"""Which domains of a run have an owner: what one instance joined is not crawled by another one of the same run."""

from __future__ import annotations

import os
from hashlib import sha256
from pathlib import Path

from webarc.archive.failures import storage


def is_claimed(folder: Path | None, domain: str) -> bool:
    """Whether somebody of this run has joined a domain."""
    return folder is not None and _file(folder, domain).exists()


def claim(folder: Path | None, domain: str) -> bool:
    """Take a domain that nobody of this run has taken yet; needs no answer from anybody, and so never waits."""
    if folder is None:
        return True
    with storage("claiming a domain"):
        try:
            os.close(os.open(_file(folder, domain), os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600))
        except FileExistsError:
            return False
    return True


def release(folder: Path | None, domain: str) -> None:
    """Let others of this run have a domain that was claimed and could not be joined."""
    if folder is not None:
        with storage("giving up a domain"):
            _file(folder, domain).unlink(missing_ok=True)


def _file(folder: Path, domain: str) -> Path:
    return folder / sha256(domain.encode()).hexdigest()
