"""A repository that somebody cloned into the archive with git: told by what webarc's own always have."""

from __future__ import annotations

import re
from pathlib import Path

from webarc.archive.importer import MAIN
from webarc.archive.refs import read_refs, ref_value

_OURS = b"[webarc]"
_SHOWN = "refs/webarc/worktree"
# What `git clone --mirror` writes; such a clone gets all refs, ours too.
_MIRROR = re.compile(rb"^\s*mirror\s*=\s*true\s*$", re.MULTILINE)
_REMOTE = "refs/remotes/"
_REMOTE_MAIN = re.compile(rf"{_REMOTE}[^/]+/main")
_ORIGIN = f"{_REMOTE}origin/main"


def is_clone(git_dir: Path) -> bool:
    """Whether it has neither webarc's settings nor the ref that a clone never gets, so that it was not made here."""
    try:
        settings = (git_dir / "config").read_bytes()
    except OSError:
        return False
    return _OURS not in settings and (ref_value(git_dir, _SHOWN) is None or _MIRROR.search(settings) is not None)


def main_of(git_dir: Path) -> str:
    """The ref that stands for main: in a clone of which another branch is checked out, that of the remote."""
    if ref_value(git_dir, MAIN) is not None or not is_clone(git_dir):
        return MAIN
    names = sorted(filter(_REMOTE_MAIN.fullmatch, read_refs(git_dir).found), key=lambda name: (name != _ORIGIN, name))
    return names[0] if names else MAIN
