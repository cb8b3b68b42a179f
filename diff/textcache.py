"""The texts of a domain's documents in a file of their own, so that looking for a phrase need not read git.

It can be deleted at any time, and is filled again from git. Any number of processes may use it at once; one that is
damaged or of another version is begun anew, one that may not be written to is only read, and where there is none and
none can be made everything works without it.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import NamedTuple
from unicodedata import unidata_version
from urllib.parse import quote

from webarc.archive.failures import storage
from webarc.archive.layout import domain_folder
from webarc.archive.store import Archive
from webarc.diff.packing import FULL_PART, Texts, Unreadable
from webarc.errors import Locked
from webarc.sql.locks import FileLocks
from webarc.sql.statements import statement, statements

# To be raised whenever texts are read, folded or packed in another way than before.
_READING = 3
_VERSION = _READING * 10_000 + int(unidata_version.split(".")[0]) * 100 + int(unidata_version.split(".")[1])
_COMPANIONS = ("", "-wal", "-shm", "-journal")
_WAIT = 30.0
_WAIT_TO_FORGET = 600.0


class Part(NamedTuple):
    """Some texts of one ARC as they lie in the file; `is_full` if no more are to be put to them."""

    id: int
    revision: int
    packed: bytes
    is_full: bool


def cache_file(archive: Archive, domain: str) -> Path:
    """Where the texts of a domain are."""
    return archive.internal / "cache" / f"{domain_folder(domain)}.text.db"


def forget_text(archive: Archive, domain: str, blobs: Iterable[str]) -> None:
    """Take the texts of some blobs out of the cache, so that nothing of them is left in its files."""
    file, unwanted = cache_file(archive, domain), frozenset(blobs)
    with storage(f"clearing the texts of {domain}"):
        if not file.exists():
            return
        with FileLocks(file).exclusive(_WAIT_TO_FORGET):
            try:
                _take_out(file, unwanted)
            except (sqlite3.Error, Unreadable):
                _unlink(file)


class TextCache:
    """The cache of one domain, to be used in a `with`; nobody replaces the file meanwhile."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._locks = FileLocks(file)
        self._held = ExitStack()
        self._connection: sqlite3.Connection | None = None
        self._identity = 0
        self._writable = True
        self._dropped = False

    def __enter__(self) -> TextCache:
        self._open()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._close()

    def parts(self, arc: str) -> list[tuple[Part, Texts]]:
        """What is known of an ARC, oldest first."""
        if self._connection is None:
            return []
        try:
            rows = self._connection.execute(statement("text_parts"), (arc,)).fetchall()
            texts = [Texts.unpacked(packed) for _, _, packed in rows]
        except (sqlite3.DatabaseError, Unreadable):
            self._drop()
            return []
        return [
            (Part(id, revision, packed, each.size >= FULL_PART), each)
            for (id, revision, packed), each in zip(rows, texts, strict=True)
        ]

    def save(self, arc: str, last: Part | None, packed: list[bytes]) -> None:
        """Keep texts of an ARC behind its last part, the first ones in place of that part unless it is full.

        What cannot be kept is read again next time.
        """
        if self._connection is None or not self._writable:
            return
        try:
            with self._locks.writing(), _transaction(self._connection):
                self._save(self._connection, arc, last, packed)
        except (sqlite3.Error, OSError):
            # A full disk or a folder that may not be written to.
            self._writable = False

    def _save(self, connection: sqlite3.Connection, arc: str, last: Part | None, packed: list[bytes]) -> None:
        after = last.id if last else 0
        for place, texts in enumerate(packed):
            if last and not last.is_full and not place:
                values = {"id": last.id, "revision": last.revision, "packed": texts}
                done = connection.execute(statement("text_change"), values)
            else:
                done = connection.execute(statement("text_add"), {"arc": arc, "after": after, "packed": texts})
                after = done.lastrowid or after
            if not done.rowcount:
                # Somebody else was sooner, with the same texts.
                return

    def _open(self) -> None:
        try:
            if not self._shared():
                self._begin_anew()
                self._shared()
        except (sqlite3.Error, OSError, Locked):
            self._close()
            self._writable = False
            self._connection = _read_only(self._file)

    def _shared(self) -> bool:
        """Use the file if it is ours and whole."""
        self._held.enter_context(self._locks.shared())
        self._connection = _usable(self._file)
        if self._connection is None:
            self._held.close()
            return False
        self._identity = self._file.stat().st_ino
        return True

    def _begin_anew(self) -> None:
        with self._locks.exclusive(_WAIT):
            found = _usable(self._file)
            if found is not None:
                found.close()
            # Another file than the one that was no good has been made by somebody else.
            if found is None or self._file.stat().st_ino == self._identity:
                _unlink(self._file)
                _create(self._file)

    def _drop(self) -> None:
        """Throw a damaged cache away, but only once; the next one to be damaged is not used any more."""
        self._close()
        if not self._dropped and self._writable:
            self._dropped = True
            with suppress(sqlite3.Error, OSError, Locked):
                self._begin_anew()
                self._shared()

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        self._held.close()


def _usable(file: Path) -> sqlite3.Connection | None:
    """A connection to the file, if it is there, whole and of our version."""
    if not file.exists():
        return None
    return _checked(sqlite3.connect(file, timeout=_WAIT, isolation_level=None))


def _checked(connection: sqlite3.Connection) -> sqlite3.Connection | None:
    try:
        for pragma in statements("text_open"):
            connection.execute(pragma)
        found = connection.execute(statement("schema_version")).fetchone()
        if found == (_VERSION,):
            return connection
    except sqlite3.DatabaseError as problem:
        # The low byte is the kind of error; these are those of a file that is not what it should be.
        if problem.sqlite_errorcode & 0xFF not in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR):
            connection.close()
            raise
    connection.close()
    return None


def _read_only(file: Path) -> sqlite3.Connection | None:
    """A connection to a file in a folder that may not be written to."""
    log = Path(f"{file}-wal")
    # Without a log all is in the file, and only the companions that SQLite would make beside it are missing.
    for option in ("mode=ro",) if log.exists() and log.stat().st_size else ("mode=ro", "mode=ro&immutable=1"):
        with suppress(sqlite3.Error):
            connection = sqlite3.connect(f"file:{quote(os.fsencode(file))}?{option}", uri=True, timeout=_WAIT)
            return _checked(connection)
    return None


def _create(file: Path) -> None:
    with closing(sqlite3.connect(file, timeout=_WAIT, isolation_level=None)) as connection:
        connection.execute(statement("sqlite_wal"))
        with _transaction(connection):
            for part in statements("text_create"):
                connection.execute(part)
            connection.execute(statement("schema_version_set"), {"version": _VERSION})


def _take_out(file: Path, unwanted: frozenset[str]) -> None:
    connection = _usable(file)
    if connection is None:
        raise Unreadable
    with closing(connection):
        with _transaction(connection):
            parts = connection.execute(statement("text_all"))
            tainted = [(id,) for id, packed in parts if not unwanted.isdisjoint(Texts.unpacked(packed).blobs())]
            connection.executemany(statement("text_remove"), tainted)
        for name in ("text_vacuum", "sqlite_checkpoint"):
            connection.execute(statement(name))


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute(statement("sqlite_begin_write"))
    try:
        yield
    except BaseException:
        connection.rollback()
        raise
    connection.commit()


def _unlink(file: Path) -> None:
    for companion in _COMPANIONS:
        Path(f"{file}{companion}").unlink(missing_ok=True)
