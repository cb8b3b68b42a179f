"""Undoing Content-Encoding piece by piece, so that no bomb ever stands in memory as a whole."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Protocol

import brotli
import zstandard

PIECE = 256 * 1024
MOST_CODINGS = 5
ACCEPTED = "gzip, deflate, br, zstd"
# RFC 9659: what a zstd sender on the web may ask a receiver to remember.
_ZSTD_WINDOW = 8 * 1024 * 1024
# The zstd binding has no limit on its output; 4 bytes can mean 128 KiB, so it is fed in crumbs.
_ZSTD_CRUMB = 256


class BadEncoding(Exception):
    """The body is not what its Content-Encoding says."""


class TooLarge(Exception):
    """The body is longer than the cap."""


class Stage(Protocol):
    """One coding being undone."""

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Decoded pieces of bounded size."""

    def complete(self) -> bool:
        """Whether the coded stream has reached its end."""


class Gzip:
    """RFC 1952, several members in a row included; what follows the last one is ignored, as browsers do."""

    def __init__(self) -> None:
        self._stream = zlib.decompressobj(31)

    def feed(self, data: bytes) -> Iterator[bytes]:
        while data:
            if self._stream.eof:
                if not data.startswith(b"\x1f"):
                    return
                self._stream = zlib.decompressobj(31)
            yield from _inflate(self._stream, data)
            data = self._stream.unused_data

    def complete(self) -> bool:
        return self._stream.eof


class Deflate:
    """RFC 1950 as the standard wants it, or the bare RFC 1951 that some servers send."""

    def __init__(self) -> None:
        self._stream = zlib.decompressobj(15)
        self._start = b""
        self._decided = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        if not self._decided:
            data = self._start = self._start + data
            if len(data) < 2:
                return
            self._decided = True
            wrapped = data[0] & 0x0F == 8 and int.from_bytes(data[:2]) % 31 == 0
            self._stream = zlib.decompressobj(15 if wrapped else -15)
        if not self._stream.eof:
            yield from _inflate(self._stream, data)

    def complete(self) -> bool:
        return self._stream.eof


def _inflate(stream: zlib._Decompress, data: bytes) -> Iterator[bytes]:
    piece = b""
    # A full piece may leave output behind in zlib even when all input is eaten.
    while (data or len(piece) == PIECE) and not stream.eof:
        piece = stream.decompress(data, PIECE)
        data = stream.unconsumed_tail
        if piece:
            yield piece


class Brotli:
    """RFC 7932."""

    def __init__(self) -> None:
        self._stream = brotli.Decompressor()

    def feed(self, data: bytes) -> Iterator[bytes]:
        piece = b""
        # As with zlib: a full piece may leave output behind although the decoder would take more input.
        while data or len(piece) >= PIECE or not self._stream.can_accept_more_data():
            piece = self._stream.process(data, output_buffer_limit=PIECE)
            data = b""
            if piece:
                yield piece

    def complete(self) -> bool:
        return bool(self._stream.is_finished())


class Zstd:
    """RFC 8878, several frames in a row included."""

    def __init__(self) -> None:
        self._context = zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW)
        self._frame = self._context.decompressobj()

    def feed(self, data: bytes) -> Iterator[bytes]:
        for start in range(0, len(data), _ZSTD_CRUMB):
            crumb = data[start : start + _ZSTD_CRUMB]
            while crumb:
                if self._frame.eof:
                    self._frame = self._context.decompressobj()
                piece = self._frame.decompress(crumb)
                crumb = self._frame.unused_data
                if piece:
                    yield piece

    def complete(self) -> bool:
        return bool(self._frame.eof)


_STAGES: dict[str, type[Gzip] | type[Deflate] | type[Brotli] | type[Zstd]] = {
    "gzip": Gzip,
    "x-gzip": Gzip,
    "deflate": Deflate,
    "br": Brotli,
    "zstd": Zstd,
}


class Decoder:
    """A stack of codings; neither the body nor anything between two codings may outgrow the cap."""

    def __init__(self, stages: list[Stage], cap: int) -> None:
        self._stages = stages
        self._cap = cap
        self._sizes = [0] * len(stages)
        self._fed = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Decoded pieces of the next bytes from the wire; raises BadEncoding or TooLarge."""
        self._fed = True
        try:
            yield from self._through(0, data)
        except (zlib.error, brotli.error, zstandard.ZstdError, MemoryError) as error:
            raise BadEncoding(f"the body cannot be decoded ({error})") from None

    def finish(self) -> None:
        """Raise BadEncoding when the coded stream was cut short; an empty body is just empty."""
        if self._fed and not all(stage.complete() for stage in self._stages):
            raise BadEncoding("the coded body ends too early")

    def _through(self, level: int, data: bytes) -> Iterator[bytes]:
        if level == len(self._stages):
            yield data
            return
        for piece in self._stages[level].feed(data):
            self._sizes[level] += len(piece)
            # The last stage's output is the body, which is counted where it is kept.
            if self._sizes[level] > self._cap and level + 1 < len(self._stages):
                raise TooLarge
            yield from self._through(level + 1, piece)


def decoder_for(content_encoding: str, cap: int) -> Decoder | None:
    """What undoes a Content-Encoding, None when nothing has to be; an unknown coding leaves the bytes as they came."""
    codings = [word.strip().lower() for word in content_encoding.split(",")]
    codings = [word for word in codings if word]
    if len(codings) > MOST_CODINGS:
        raise BadEncoding(f"{len(codings)} stacked codings, more than the {MOST_CODINGS} that are undone")
    codings = [word for word in codings if word != "identity"]
    if not codings or any(word not in _STAGES for word in codings):
        return None
    return Decoder([_STAGES[word]() for word in reversed(codings)], cap)
