"""A pack of blobs, written as they come and taken into the repository when it is whole.

`git fast-import` would hash and compress them as well, in four times the time: this hashes with the processor's own
instructions and compresses with ISA-L. The format is git's, version 2 of packs and of their indexes.
"""

from __future__ import annotations

import hashlib
import os
import struct
import zlib
from array import array
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import partial
from itertools import accumulate
from pathlib import Path
from tempfile import mkstemp
from typing import BinaryIO

from webarc.archive import pending
from webarc.archive.deflate import deflated, deflating
from webarc.archive.durable import sync_folders
from webarc.errors import Damaged, StorageProblem
from webarc.heartbeat import beat

_BLOB = 3
_CHUNK = 1 << 20
_RECORD = struct.Struct(">20sIQ")
_FAR = 1 << 31


class BlobPack:
    """One pack in the making; nobody sees it before `install`."""

    def __init__(self, git_dir: Path) -> None:
        self._git_dir, self._folder = git_dir, git_dir / "objects" / "pack"
        self._folder.mkdir(parents=True, exist_ok=True)
        # A name that git clears away, too, if we are killed.
        descriptor, name = mkstemp(prefix="tmp_pack_", dir=self._folder)
        self._place = Path(name)
        self._file: BinaryIO = os.fdopen(descriptor, "w+b", buffering=_CHUNK)
        self._records = bytearray()
        self._known: set[int] = set()
        self._digest = hashlib.sha1(usedforsecurity=False)
        self._end = 0
        self._installed: list[Path] = []
        self._noted = ""
        self._checksum = b""
        self._put(_header(0))

    def add(self, data: bytes | memoryview) -> str:
        """Put in one blob, once; returns its name."""
        name = blob_name(data)
        if self._is_new(name):
            start = self._end
            packed = _entry(len(data)) + deflated(data)
            self._put(packed)
            self._records += _RECORD.pack(name, zlib.crc32(packed), start)
        return name.hex()

    def add_pieces(self, size: int, pieces: Iterable[bytes]) -> str:
        """Put in one blob too large for memory, once; what does not have the size announced is refused."""
        start, digest, check = self._end, self._digest.copy(), 0
        named = hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
        try:
            for packed in _packed(size, pieces, named):
                self._put(packed)
                check = zlib.crc32(packed, check)
        except BaseException:
            self._go_back(start, digest)
            raise
        if self._is_new(named.digest()):
            self._records += _RECORD.pack(named.digest(), check, start)
        else:
            self._go_back(start, digest)
        return named.hexdigest()

    def seal(self) -> None:
        """Nothing more will come: write its end, durably. The file stays open, which tells that somebody needs it."""
        if not self._checksum:
            self._checksum = self._finish(len(self._records) // _RECORD.size)

    def install(self) -> None:
        """Make the pack part of the repository, durably; `settle` when a commit needs it."""
        self.seal()
        index = self._place.with_name(self._place.name.replace("tmp_pack_", "tmp_idx_"))
        self._installed = [self._place, index]
        _write_durably(index, _index(self._records, self._checksum))
        pack = self._folder / f"pack-{self._checksum.hex()}.pack"
        self._noted = pack.stem
        pending.note(self._git_dir, self._noted)
        for source, target in ((self._place, pack), (index, pack.with_suffix(".idx"))):
            source.chmod(0o444)
            source.rename(target)
            self._installed.append(target)
        sync_folders(self._folder)
        self._file.close()

    def settle(self) -> None:
        """Refs lead to what is in it now."""
        if self._noted:
            pending.settle(self._git_dir, self._noted)

    def discard(self) -> None:
        """Take it away again, wherever it stands; nothing may refer to it."""
        with suppress(OSError):  # a full disk does not take what waits to be written
            self._file.close()
        for path in (self._place, *self._installed):
            path.unlink(missing_ok=True)
        self.settle()

    def _is_new(self, name: bytes) -> bool:
        # The hash is salted anew in every process, so that no server can make two blobs look like one.
        key = hash(name)
        if key in self._known:
            return False
        self._known.add(key)
        return True

    def _put(self, data: bytes) -> None:
        self._file.write(data)
        self._digest.update(data)
        self._end += len(data)
        beat()

    def _go_back(self, place: int, digest: hashlib._Hash) -> None:
        """As if nothing had been written behind this place."""
        self._file.seek(place)
        self._file.truncate()
        self._end, self._digest = place, digest

    def _finish(self, count: int) -> bytes:
        """Write the number of blobs and the checksum of all, after making sure that the disk holds what was written."""
        self._file.flush()
        self._file.seek(0)
        before, after = hashlib.sha1(usedforsecurity=False), hashlib.sha1(_header(count), usedforsecurity=False)
        head = self._file.read(len(_header(0)))
        before.update(head)
        for piece in iter(partial(self._file.read, _CHUNK), b""):
            before.update(piece)
            after.update(piece)
        if before.digest() != self._digest.digest():
            raise Damaged("the disk does not return what was written to it; check it before you crawl again.")
        self._file.write(after.digest())
        self._file.seek(0)
        self._file.write(_header(count))
        self._file.flush()
        os.fsync(self._file.fileno())
        return after.digest()


def blob_name(data: bytes | memoryview) -> bytes:
    """The name that git gives to a blob."""
    digest = hashlib.sha1(b"blob %d\0" % len(data), usedforsecurity=False)
    digest.update(data)
    return digest.digest()


def blob_name_of(size: int, pieces: Iterable[bytes]) -> str:
    """The name that git gives to a blob that comes in pieces."""
    digest = hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
    for piece in pieces:
        digest.update(piece)
    return digest.hexdigest()


def _header(count: int) -> bytes:
    return struct.pack(">4sII", b"PACK", 2, count)


def _entry(size: int) -> bytes:
    """Type and size in front of an object: four bits of the size, then seven a byte, while more follow."""
    first, size = _BLOB << 4 | size & 15, size >> 4
    entry = bytearray()
    while size:
        entry.append(first | 128)
        first, size = size & 127, size >> 7
    entry.append(first)
    return bytes(entry)


def _packed(size: int, pieces: Iterable[bytes], named: hashlib._Hash) -> Iterator[bytes]:
    """A blob as it stands in a pack, piece by piece, its name growing along."""
    stream = deflating()
    yield _entry(size)
    for piece in pieces:
        named.update(piece)
        size -= len(piece)
        yield stream.compress(piece)
    if size:
        raise StorageProblem("a file changed its length while it was read; run the command again.")
    yield stream.flush()


def _index(records: bytearray, checksum: bytes) -> bytes:
    """The index of a pack: how many names begin with a byte or a lower one, the names, checksums and places."""
    entries = sorted(_RECORD.iter_unpack(records))
    begins = [0] * 256
    for name, _, _ in entries:
        begins[name[0]] += 1
    far = [place for _, _, place in entries if place >= _FAR]
    rank = iter(range(len(far)))
    places = (place if place < _FAR else _FAR | next(rank) for _, _, place in entries)
    index = b"".join(
        (
            b"\xfftOc\0\0\0\x02",
            _big_endian("I", accumulate(begins)),
            b"".join(name for name, _, _ in entries),
            _big_endian("I", (check for _, check, _ in entries)),
            _big_endian("I", places),
            _big_endian("Q", far),
            checksum,
        )
    )
    return index + hashlib.sha1(index, usedforsecurity=False).digest()


def _big_endian(kind: str, values: Iterable[int]) -> bytes:
    numbers = array(kind, values)
    if struct.pack("=H", 1) == struct.pack("<H", 1):
        numbers.byteswap()
    return numbers.tobytes()


def _write_durably(path: Path, data: bytes) -> None:
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
