"""The bytes of versions, read from git objects and checked against their hash; waits for nobody."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from hashlib import sha256
from io import BytesIO
from tempfile import SpooledTemporaryFile
from typing import IO, TYPE_CHECKING, BinaryIO, cast

from webarc.archive.objects import ObjectReader
from webarc.archive.store import Archive
from webarc.errors import Damaged
from webarc.sql.rows import VersionRow

if TYPE_CHECKING:
    from webarc.archive.metadata import Metadata

_CHUNK = 1 << 20
_IN_MEMORY = 8 << 20
_MOST_READERS = 4
# No object has this name.
_NOTHING = "0" * 40


class Contents:
    """Reads what versions hold; a git process per domain lives until `close`. For one thread at a time."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self._readers: dict[str, ObjectReader] = {}

    def close(self) -> None:
        """End the git processes."""
        while self._readers:
            self._readers.popitem()[1].close()

    @contextmanager
    def open(self, row: VersionRow) -> Iterator[Iterator[bytes]]:
        """The bytes of a version in pieces, none of which is given before all are found to be sound."""
        with SpooledTemporaryFile(_IN_MEMORY) as whole:
            self.copy(row, cast("BinaryIO", whole))
            whole.seek(0)
            yield iter(partial(whole.read, _CHUNK), b"")

    def read(self, row: VersionRow, limit: int | None = None) -> bytes:
        """The bytes of a version, or as many of the first ones as `limit` says."""
        whole = BytesIO()
        if limit is None or row.length <= limit:
            self.copy(row, whole)
            return whole.getvalue()
        try:
            self._copy(row, row.data_blob, _Limited(whole, limit))
        except _Enough:
            # The rest is still on its way and nobody wants it.
            self._readers.pop(row.domain).close()
        return whole.getvalue()[:limit]

    def read_many(self, rows: Sequence[VersionRow]) -> Iterator[bytes | Damaged]:
        """The bytes of versions of one domain, or what is wrong with one; much faster than one by one."""
        if not rows:
            return
        found = self._reader(rows[0].domain).read_many([row.data_blob or _NOTHING for row in rows])
        for row, data in zip(rows, found, strict=True):
            if data is None:
                yield _damaged(row, "git does not have its bytes")
            elif isinstance(data, bytes) and sha256(data).hexdigest() != row.sha256:
                yield _altered(row)
            else:
                yield data

    def copy(self, row: VersionRow, target: BinaryIO) -> None:
        """Write the bytes of a version to a file, a piece at a time; raises Damaged if they are lost or altered."""
        checked = _Checked(target)
        self._copy(row, row.data_blob, checked)
        if checked.digest.hexdigest() != row.sha256:
            raise _altered(row)

    def metadata(self, row: VersionRow) -> Metadata:
        """All that the data.xml of a version says."""
        from webarc.archive.document import parse

        whole = BytesIO()
        self._copy(row, row.document_blob, whole)
        return parse(whole.getvalue())

    def _copy(self, row: VersionRow, blob: str | None, target: BinaryIO | _Checked | _Limited) -> None:
        if blob is None:
            raise _damaged(row, "git does not have its bytes")
        into = cast("BinaryIO", target)
        try:
            if self._reader(row.domain).copy(blob, into):
                return
            # A repository that was swapped for another is not noticed by a process that has the old one open.
            self._readers.pop(row.domain).close()
            if self._reader(row.domain).copy(blob, into):
                return
        except Damaged as problem:
            raise Damaged(f"version {row.number} of {row.url}: {problem}") from problem
        raise _damaged(row, f"git does not have its object {blob}")

    def _reader(self, domain: str) -> ObjectReader:
        reader = self._readers.pop(domain, None)
        if reader is None and len(self._readers) >= _MOST_READERS:
            self._readers.pop(next(iter(self._readers))).close()
        # Put back as the last one, so that the one not used for longest is the first to go.
        self._readers[domain] = reader or self._archive.repository(domain).reader()
        return self._readers[domain]


class _Checked:
    """Hashes what it passes on."""

    def __init__(self, target: IO[bytes]) -> None:
        self._target = target
        self.digest = sha256()

    def write(self, data: bytes) -> None:
        self.digest.update(data)
        self._target.write(data)


class _Limited:
    """Passes on so many bytes and stops there."""

    def __init__(self, target: IO[bytes], limit: int) -> None:
        self._target, self._left = target, limit

    def write(self, data: bytes) -> None:
        self._target.write(data[: self._left])
        self._left -= len(data)
        if self._left <= 0:
            raise _Enough


class _Enough(Exception):
    """All that was wanted has been written."""


def _altered(row: VersionRow) -> Damaged:
    return _damaged(row, "the bytes in git are not those that its data.xml describes")


def _damaged(row: VersionRow, reason: str) -> Damaged:
    return Damaged(
        f"version {row.number} of {row.url} cannot be read ({reason}); "
        f"run `webarc verify {row.domain}` to see what can be mended."
    )
