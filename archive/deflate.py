"""zlib's format, written by ISA-L where there is one for the processor: as small at level 1, in a third of the time."""

from __future__ import annotations

import zlib
from typing import Protocol

try:
    from isal import isal_zlib as _library
except ImportError:
    _library = zlib  # type: ignore[misc]

_LEVEL = 1


class Stream(Protocol):
    """A compression in pieces."""

    def compress(self, data: bytes, /) -> bytes:
        """The next part of the output, which may be empty."""

    def flush(self) -> bytes:
        """The last part."""


def deflated(data: bytes | memoryview) -> bytes:
    """Bytes, compressed."""
    return _library.compress(data, _LEVEL)


def deflating() -> Stream:
    """A compression in pieces."""
    return _library.compressobj(_LEVEL)
