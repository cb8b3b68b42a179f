"""What pages named when they were read last: a cache, so that a page that answers 304 need not be read again.

It can be deleted at any time; the links are then read from the stored bytes. One file per domain, used only by the
crawl that owns the domain. A file that is damaged, or is no such cache, is thrown away; one that cannot be used now,
because somebody looks into it or the disk is full, is left as it is, and this crawl does without it.
"""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path
from typing import Any

from webarc.archive.deflate import deflated
from webarc.crawler.reading import Reading
from webarc.sql.statements import statement

# To be raised whenever pages are read in another way than before.
_READING = "4"
_BATCH = 1_000
# What stands between URLs, and between kinds of them; neither is ever in a URL.
_URL, _KIND = "\n", "\0"
# How long somebody who looks into the file is waited for.
_PATIENCE = 1.0
# The last one is what SQLite says of a file whose tables are others than ours.
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR)
_PRIMARY = 0xFF


class Recollection:
    """Remembers readings by URL, bytes and the rules they were read by."""

    def __init__(self, file: Path, crawl: str) -> None:
        self._file = file
        self._crawl = crawl
        self._new: list[tuple[bytes, bytes, str]] = []
        self._used: list[tuple[str, bytes]] = []
        file.parent.mkdir(parents=True, exist_ok=True)
        self._database = self._open()

    def key(self, url: str, sha256: str, content_type: str, rules: str) -> bytes:
        """What a reading depends on, in 16 bytes."""
        return blake2b("\n".join((_READING, url, sha256, content_type, rules)).encode(), digest_size=16).digest()

    def get(self, key: bytes) -> Reading | None:
        """The reading, or None if it is not remembered."""
        row = self._safely(lambda: self._database.execute(statement("links_get"), (key,)).fetchone())
        if row is None:
            return None
        self._used.append((self._crawl, key))
        if len(self._used) >= _BATCH:
            self._flush()
        return _unpacked(row[0])

    def put(self, key: bytes, reading: Reading) -> None:
        """Remember a reading."""
        self._new.append((key, _packed(reading), self._crawl))
        if len(self._new) >= _BATCH:
            self._flush()

    def close(self, *, sweep: bool) -> None:
        """Write what is pending; after a whole crawl, forget what was not needed."""
        self._flush()
        if sweep:
            self._safely(lambda: self._database.execute(statement("links_sweep"), (self._crawl,)))
        self._database.close()

    def _open(self) -> sqlite3.Connection:
        try:
            database = sqlite3.connect(self._file, timeout=_PATIENCE, isolation_level=None)
        except sqlite3.DatabaseError as error:
            return self._instead(error)
        try:
            for name in ("frontier_unsynced", "frontier_wal", "links_create"):
                database.execute(statement(name)).fetchall()
        except sqlite3.DatabaseError as error:
            database.close()
            return self._instead(error)
        return database

    def _instead(self, error: sqlite3.DatabaseError) -> sqlite3.Connection:
        """A cache in memory for the rest of this crawl; a damaged file is thrown away."""
        if is_damage(error):
            for ending in ("", "-wal", "-shm"):
                self._file.with_name(self._file.name + ending).unlink(missing_ok=True)
        database = sqlite3.connect(":memory:", isolation_level=None)
        database.execute(statement("links_create"))
        return database

    def _flush(self) -> None:
        new, self._new = self._new, []
        used, self._used = self._used, []
        self._safely(lambda: self._write(new, used))

    def _write(self, new: list[tuple[bytes, bytes, str]], used: list[tuple[str, bytes]]) -> None:
        self._database.execute(statement("frontier_begin"))
        self._database.executemany(statement("links_put"), new)
        self._database.executemany(statement("links_touch"), used)
        self._database.execute(statement("frontier_commit"))

    def _safely(self, ask: Callable[[], Any]) -> Any:
        try:
            return ask()
        except sqlite3.DatabaseError as error:
            # What could not be written is read again by the next crawl.
            self._database.close()
            self._database = self._instead(error)
            return None


def is_damage(error: sqlite3.DatabaseError) -> bool:
    """Whether the file itself is at fault."""
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & _PRIMARY in _DAMAGED


def _packed(reading: Reading) -> bytes:
    kinds = (reading.links, reading.requisites, reading.unfollowed)
    return deflated(_KIND.join(map(_URL.join, kinds)).encode(), in_haste=True)


def _unpacked(data: bytes) -> Reading:
    links, requisites, unfollowed = (
        kind.split(_URL) if kind else [] for kind in zlib.decompress(data).decode().split(_KIND)
    )
    return Reading(None, "", links, requisites, unfollowed)
