"""A body on its way from the wire: decoded, counted, hashed, in memory while it is small, on disk once it is not."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from webarc.crawler.decoding import Decoder, TooLarge, decoder_for


class Body:
    """Takes the bytes of one response; nothing is left on disk unless finish() was reached."""

    def __init__(self, target: Path | str | None, keep: int, cap: int, lazy: bool) -> None:
        self._wished = target
        self._target = target
        self._keep = keep if target is not None else min(keep, cap)
        self._cap = cap if target is not None else self._keep
        self._wished_lazy = lazy
        self._lazy = lazy
        self._pieces: list[bytes] = []
        self._file = -1
        self._wire = 0
        self._decoder: Decoder | None = None
        self._hash: hashlib._Hash | None = None
        self.length = 0
        self.stored = False

    def begin(self, status: int, encoding: str) -> None:
        """The head has come; only good answers are worth a file. Raises BadEncoding.

        A head may be followed by another one, as when libcurl answers a 401 by itself.
        """
        self._decoder = decoder_for(encoding, self._cap) if encoding else None
        good = 200 <= status < 300
        self._lazy, self._target = (self._wished_lazy, self._wished) if good else (True, None)

    @property
    def started(self) -> bool:
        """Whether any byte of it has come."""
        return self._wire > 0

    def feed(self, data: bytes) -> None:
        """The next bytes from the wire; raises TooLarge, BadEncoding or OSError."""
        self._wire += len(data)
        if self._decoder is None:
            self._take(data)
            return
        for piece in self._decoder.feed(data):
            self._take(piece)
        # What a coding ignores after its end is not endless either.
        if self._wire > self._cap:
            raise TooLarge

    def finish(self) -> tuple[bytes | None, str]:
        """The body if it is small enough, and its SHA-256; raises BadEncoding when it was cut short."""
        if self._decoder is not None:
            self._decoder.finish()
        if self._hash is not None:
            self._close()
            return None, self._hash.hexdigest()
        pieces = self._pieces
        body = pieces[0] if len(pieces) == 1 else b"".join(pieces)
        if self._target is not None and not self._lazy:
            self._open()
            self._write(body)
            self._close()
        return body, hashlib.sha256(body).hexdigest()

    def head(self) -> bytes | None:
        """What was kept of a body that turned out too large, when it was to stay in memory."""
        return b"".join(self._pieces) if self._hash is None else None

    def discard(self) -> None:
        """Leave nothing behind."""
        opened = self._file >= 0 or self.stored
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
        if opened and self._target is not None:
            Path(self._target).unlink(missing_ok=True)
        self.stored = False

    def _take(self, piece: bytes) -> None:
        self.length += len(piece)
        if self.length > self._cap:
            room = len(piece) - (self.length - self._cap)
            if self._hash is None:
                self._pieces.append(piece[:room])
            raise TooLarge
        if self._hash is None and self.length <= self._keep:
            self._pieces.append(piece)
            return
        if self._hash is None:
            self._spill()
        self._on(piece)

    def _spill(self) -> None:
        self._hash = hashlib.sha256()
        if self._target is not None:
            self._open()
        for piece in self._pieces:
            self._on(piece)
        self._pieces.clear()

    def _on(self, piece: bytes) -> None:
        assert self._hash is not None
        self._hash.update(piece)
        if self._file >= 0:
            self._write(piece)

    def _open(self) -> None:
        assert self._target is not None
        Path(self._target).parent.mkdir(parents=True, exist_ok=True)
        self._file = os.open(self._target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)

    def _write(self, piece: bytes) -> None:
        done = os.write(self._file, piece)
        while done < len(piece):
            done += os.write(self._file, memoryview(piece)[done:])

    def _close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
            self.stored = True
