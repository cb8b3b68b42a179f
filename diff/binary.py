"""How much of the bytes of two files is the same, wherever it stands in them."""

from __future__ import annotations

import re
from array import array
from collections import Counter
from hashlib import blake2b

# Of a larger file only so much is compared.
LARGEST_COMPARED = 16 * 1024 * 1024
_SHORTEST, _LONGEST = 32, 1024
# A chunk ends after two bytes that are in a pair of classes: one place in 256, in random bytes and in English alike.
# So a byte more or less moves the ends near it and no others.
_FIRST = bytes(range(0x05, 0x100, 0x10))
_SECOND = bytes(range(0x00, 0x100, 0x10))
_CHUNK = re.compile(
    rb"(?s:.{%d,%d}?[%s][%s]|.{1,%d})" % (_SHORTEST - 2, _LONGEST - 2, re.escape(_FIRST), re.escape(_SECOND), _LONGEST)
)
_LENGTH_BITS = 16
_LENGTH = (1 << _LENGTH_BITS) - 1


def chunks(data: bytes) -> array[int]:
    """The names of the chunks of a file; a name tells the length of its chunk in the lowest 16 bits."""
    return array("Q", [_name(chunk) for chunk in _CHUNK.findall(data[:LARGEST_COMPARED])])


def shared(a: array[int], b: array[int]) -> float:
    """The share of bytes in chunks that both files have: 2 * shared / (bytes of a + bytes of b)."""
    counts_a, counts_b = Counter(a), Counter(b)
    total = _bytes(counts_a) + _bytes(counts_b)
    return 2 * _bytes(counts_a & counts_b) / total if total else 1.0


def binary_similarity(a: bytes, b: bytes) -> float:
    """The share of bytes that two files have in common, from 0 to 1; linear in time, the same for (b, a)."""
    return 1.0 if a == b else shared(chunks(a), chunks(b))


def _name(chunk: bytes) -> int:
    digest = int.from_bytes(blake2b(chunk, digest_size=6).digest(), "big")
    return digest << _LENGTH_BITS | len(chunk)


def _bytes(counts: Counter[int]) -> int:
    return sum(count * (name & _LENGTH) for name, count in counts.items())
