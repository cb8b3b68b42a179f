"""SHA-256 and length of blobs, each read from git once however many versions have it."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast

from webarc.archive.objects import ObjectReader, sizes
from webarc.errors import Damaged, GitProblem

# Larger ones are read a piece at a time.
_SMALL = 1 << 18
_AT_A_TIME = 2_000


class Digest(NamedTuple):
    """What is known of a blob's bytes."""

    sha256: bytes
    length: int


class Digests:
    """The digests of the blobs of one repository; all are remembered, which takes about 200 bytes each."""

    def __init__(self, git_dir: Path, reader: ObjectReader) -> None:
        self._git_dir, self._reader = git_dir, reader
        self._known: dict[str, Digest] = {}

    def of(self, blobs: set[str]) -> dict[str, Digest | Damaged | None]:
        """The digests of blobs; what is wrong with one that is damaged, None for one that is missing."""
        found: dict[str, Digest | Damaged | None] = {blob: self._known[blob] for blob in blobs if blob in self._known}
        unknown = iter([blob for blob in blobs if blob not in self._known])
        while part := list(islice(unknown, _AT_A_TIME)):
            found.update(self._read(part))
        return found

    def _read(self, blobs: list[str]) -> Iterator[tuple[str, Digest | Damaged | None]]:
        small = self._small(blobs)
        for blob, data in zip(small, self._reader.read_many(small), strict=True):
            yield blob, self._noted(blob, Digest(sha256(data).digest(), len(data))) if isinstance(data, bytes) else data
        for blob in set(blobs) - set(small):
            yield blob, self._streamed(blob)

    def _small(self, blobs: list[str]) -> list[str]:
        try:
            lengths = sizes(self._git_dir, blobs)
        except GitProblem:
            # Damage keeps git from telling lengths; then any of them may be huge.
            return []
        return [blob for blob, length in zip(blobs, lengths, strict=True) if length <= _SMALL]

    def _streamed(self, blob: str) -> Digest | Damaged | None:
        sink = _Sink()
        try:
            there = self._reader.copy(blob, cast("BinaryIO", sink))
        except Damaged as problem:
            return problem
        return self._noted(blob, Digest(sink.digest.digest(), sink.length)) if there else None

    def _noted(self, blob: str, digest: Digest) -> Digest:
        self._known[blob] = digest
        return digest


class _Sink:
    """Takes bytes and keeps their hash alone."""

    def __init__(self) -> None:
        self.digest = sha256()
        self.length = 0

    def write(self, data: bytes) -> None:
        self.digest.update(data)
        self.length += len(data)
