"""zlib's format, written by ISA-L where there is one for the processor: as small at level 1, in a third of the time."""

from __future__ import annotations

import zlib
from typing import Protocol

try:
    from isal import isal_zlib as _library

    _HASTY = 0
except ImportError:
    _library = zlib  # type: ignore[misc]
    _HASTY = 1  # where 0 would not compress at all


_LEVEL = 1


class Stream(Protocol):
    """A compression in pieces."""

    def compress(self, data: bytes, /) -> bytes:
        """The next part of the output, which may be empty."""

    def flush(self) -> bytes:
        """The last part."""


def deflated(data: bytes | memoryview, *, in_haste: bool = False) -> bytes:
    """Bytes, compressed; in haste, a third larger in a third of the time."""
    return _library.compress(data, _HASTY if in_haste else _LEVEL)


def deflating() -> Stream:
    """A compression in pieces."""
    return _library.compressobj(_LEVEL)
