"""The index of a pack, asked without git whether the pack has an object; the format is git's, version 2."""

from __future__ import annotations

import os
import struct
from bisect import bisect_left
from pathlib import Path

_MAGIC = b"\xfftOc\0\0\0\x02"
_COUNTS = struct.Struct(">256I")
_NAMES = len(_MAGIC) + _COUNTS.size


def in_a_pack(git_dir: Path, name: str) -> bool:
    """Whether one of the packs of a repository has an object."""
    # Packs may be replaced by a better one while they are looked at.
    return _found(git_dir / "objects" / "pack", name) or _found(git_dir / "objects" / "pack", name)


def _found(folder: Path, name: str) -> bool:
    try:
        packs = sorted(folder.glob("*.pack"), key=lambda pack: pack.stat().st_mtime_ns, reverse=True)
    except FileNotFoundError:
        return False
    # What is asked for is nearly always in the newest one.
    return any(_has(pack.with_suffix(".idx"), bytes.fromhex(name)) for pack in packs)


def _has(index: Path, name: bytes) -> bool:
    """Whether an index lists an object; one that is not legible may list anything, and is for `verify` to judge."""
    try:
        with index.open("rb", buffering=0) as file:
            head = file.read(_NAMES)
            if len(head) < _NAMES or not head.startswith(_MAGIC):
                return True
            counts = _COUNTS.unpack_from(head, len(_MAGIC))
            first, end = counts[name[0] - 1] if name[0] else 0, counts[name[0]]
            listed = os.pread(file.fileno(), max(end - first, 0) * len(name), _NAMES + first * len(name))
    except OSError:
        return False
    place = bisect_left(range(end - first), name, key=lambda n: listed[n * len(name) : (n + 1) * len(name)])
    return listed[place * len(name) : (place + 1) * len(name)] == name
