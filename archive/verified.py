"""Up to which commit a domain was found sound, and when: a small file in its `.git`, which may be lost without harm."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from webarc.archive import times

_FILE = "webarc-verified"
_LINES = re.compile(r"([0-9a-f]{40,64})\n(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\n")


class Verified(NamedTuple):
    """The last verification that found nothing wrong."""

    commit: str
    time: str


def last_verified(git_dir: Path) -> Verified | None:
    """What is remembered of the last one."""
    with suppress(OSError):
        found = _LINES.fullmatch((git_dir / _FILE).read_text("ascii", "replace"))
        return Verified(found[1], found[2]) if found else None
    return None


def remember_verified(git_dir: Path, commit: str) -> None:
    """Remember a new one; where nothing may be written, the next verification does more work."""
    fresh = git_dir / f"{_FILE}.new"
    with suppress(OSError):
        fresh.write_text(f"{commit}\n{times.text(times.now())}\n", "ascii")
        fresh.rename(git_dir / _FILE)


def withdraw_verified(git_dir: Path) -> None:
    """Forget it, for damage has come to light; where nothing may be written, it stays."""
    with suppress(OSError):
        (git_dir / _FILE).unlink(missing_ok=True)
