"""What is broken in a repository, as far as a glance can tell: without git and without any lock.

A few small files are read, so that thousands of repositories can be looked at in a second.
"""

from __future__ import annotations

from pathlib import Path

from webarc.archive.clone import main_of
from webarc.archive.findings import BACKUP, REPAIR
from webarc.archive.importer import MAIN
from webarc.archive.packindex import in_a_pack
from webarc.archive.refs import read_head, read_refs, ref_value


def ailment(git_dir: Path) -> str:
    """What is broken, and what to do about it; empty if nothing seems to be."""
    if not read_head(git_dir):
        return f"its .git/HEAD cannot be read; {REPAIR}"
    if not (git_dir / "refs").is_dir():
        return f"its folder .git/refs is gone; {REPAIR}"
    tip = ref_value(git_dir, MAIN) or ref_value(git_dir, main_of(git_dir))
    if tip is None:
        return f"its branch main is gone; {REPAIR}" if main_is_lost(git_dir) else ""
    objects = git_dir / "objects"
    if in_a_pack(git_dir, tip) or (objects / tip[:2] / tip[2:]).exists() or (objects / "info" / "alternates").exists():
        return ""
    if not any((git_dir / "objects" / "pack").glob("*.pack")):
        return f"its history is gone; {BACKUP}"
    return f"the newest commit of its history is gone; {REPAIR}, or {BACKUP}"


def main_is_lost(git_dir: Path) -> bool:
    """Whether main names no commit although crawls were committed; one that never had a commit has lost nothing."""
    if (git_dir / f"{MAIN}.lock").exists():
        return False  # its first commit is being made
    if not _has_traces(git_dir):
        return False
    # Asked again: it may have got its first commit just now.
    return ref_value(git_dir, MAIN) is None


def _has_traces(git_dir: Path) -> bool:
    """Whether anything tells of commits: other refs, the log of main, or a work tree that was brought."""
    refs = read_refs(git_dir)
    if refs.unreadable or refs.tell_of_crawls() or _read(git_dir / "logs" / MAIN):
        return True
    # Git's index is made after the first commit; but a folder of the user's own may have one, too.
    return (git_dir / "index").exists() and b"[webarc]" in _read(git_dir / "config")


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError:
        return b""
