"""A pack as git writes it: a header that counts the objects, the objects, and a hash of all that goes before it.

What stands around the objects can be written anew: the index of the pack knows it too, and the objects tell it.
"""

from __future__ import annotations

import hashlib
import mmap
import os
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

_HEAD = struct.Struct(">4sII")
_MAGIC = b"PACK"
# Git writes the first of them, and reads both, which are the same but for the number.
_VERSIONS = (2, 3)
_ID_BYTES = 20
_CHUNK = 1 << 20
_MORE = 0x80
_BY_OFFSET, _BY_NAME = 6, 7
# Where an index has the number of objects; since version 2 it is 8 bytes later.
_COUNT_AT = 255 * 4
_INDEX_MAGIC = b"\xfftOc"


@dataclass(frozen=True, slots=True)
class Envelope:
    """What stands around the objects of a pack: how many there are, where they end, and the hash (None: unknown)."""

    count: int
    end: int
    hash: bytes | None = None


def is_whole(pack: Path) -> bool:
    """Whether a pack is what it was when git wrote it."""
    end = pack.stat().st_size - _ID_BYTES
    if end < _HEAD.size:
        return False
    with pack.open("rb") as file:
        digest = hashlib.sha1(usedforsecurity=False)
        for piece in _pieces(file, end):
            digest.update(piece)
        return file.read() == digest.digest()


def fits_index(pack: Path, index: Path) -> bool:
    """Whether header and hash of a pack are those that its index knows; if they are not, git reads nothing from it."""
    known = by_index(pack, index)
    with pack.open("rb") as file:
        head = file.read(_HEAD.size)
        file.seek(max(known.end, 0))
        right = (_HEAD.pack(_MAGIC, version, known.count) for version in _VERSIONS)
        return head in right and file.read() == known.hash


def by_index(pack: Path, index: Path) -> Envelope:
    """The envelope as the index of a pack knows it."""
    with index.open("rb") as file:
        start = file.read(_COUNT_AT + 12)
        place = _COUNT_AT + (8 if start.startswith(_INDEX_MAGIC) else 0)
        file.seek(max(index.stat().st_size - 2 * _ID_BYTES, 0))
        count = int.from_bytes(start[place : place + 4], "big")
        return Envelope(count, pack.stat().st_size - _ID_BYTES, file.read(_ID_BYTES))


def by_objects(pack: Path) -> Envelope | None:
    """The envelope as the objects tell it, read from the first to the last; None if one of them cannot be read."""
    size = pack.stat().st_size
    if size <= _HEAD.size + _ID_BYTES:
        return None
    with pack.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        count, place = 0, _HEAD.size
        try:
            # Of the hash at the end some bytes, or all, may be missing.
            while place < size - _ID_BYTES:
                place = _behind(data, place)
                count += 1
        except (zlib.error, IndexError):
            return None
    return Envelope(count, place)


def write(pack: Path, envelope: Envelope, target: Path) -> None:
    """Write a pack with the objects of another and this envelope."""
    with pack.open("rb") as source, target.open("xb") as file:
        head = _HEAD.pack(_MAGIC, _VERSIONS[0], envelope.count)
        digest = hashlib.sha1(head, usedforsecurity=False)
        file.write(head)
        source.seek(len(head))
        for piece in _pieces(source, envelope.end - len(head)):
            digest.update(piece)
            file.write(piece)
        file.write(digest.digest() if envelope.hash is None else envelope.hash)
        file.flush()
        os.fsync(file.fileno())
    target.chmod(0o444)


def _pieces(file: BinaryIO, length: int) -> Iterator[bytes]:
    while length > 0 and (piece := file.read(min(length, _CHUNK))):
        length -= len(piece)
        yield piece


def _behind(data: mmap.mmap, place: int) -> int:
    """Where the object that begins at a place ends."""
    kind = data[place] >> 4 & 7
    place = _behind_number(data, place)
    if kind == _BY_OFFSET:
        place = _behind_number(data, place)
    elif kind == _BY_NAME:
        place += _ID_BYTES
    return _behind_stream(data, place)


def _behind_number(data: mmap.mmap, place: int) -> int:
    while data[place] & _MORE:
        place += 1
    return place + 1


def _behind_stream(data: mmap.mmap, place: int) -> int:
    inflating = zlib.decompressobj()
    while not inflating.eof:
        piece = inflating.unconsumed_tail
        if not piece:
            piece = data[place : place + _CHUNK]
            place += len(piece)
        if not piece:
            raise zlib.error("the pack ends within an object")
        inflating.decompress(piece, _CHUNK)
    return place - len(inflating.unused_data)
