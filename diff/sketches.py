"""Documents in so little space that thousands can be compared with thousands."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable
from hashlib import blake2b
from heapq import nsmallest
from zlib import compress, crc32, decompress

from webarc.diff.binary import chunks, shared
from webarc.diff.matching import matching
from webarc.diff.text import TextReader
from webarc.diff.wording import words_of
from webarc.sql.rows import VersionRow

# Of shorter texts, such as "Not found", the bytes must be alike.
_FEWEST_WORDS = 20
_SHINGLE = 4
_FEATURES = 64


class Sketch:
    """A document as features, the same for the same passages, and as what is needed to compare it exactly.

    The features are the smallest hashes of all runs of four words, or of all chunks of bytes: documents that are alike
    have many of them in common.
    """

    def __init__(self, row: VersionRow, data: bytes, reader: TextReader) -> None:
        self.row = row
        text = reader.text(data, row.mime_type, row.charset)
        words = words_of(text) if text else []
        self.is_text = len(words) >= _FEWEST_WORDS
        if self.is_text:
            joined = "\n".join(words).encode("utf-8", "surrogatepass")
            self.size, self._kept = len(words), compress(joined, 1)
            self.features = _smallest(map(crc32, _shingles(words)))
            self.identity = blake2b(joined).digest()
        else:
            self._chunks = chunks(data)
            self.size, self._kept = len(data), b""
            self.features = _smallest(set(self._chunks))
            self.identity = blake2b(self._chunks.tobytes()).digest()

    @property
    def bytes_kept(self) -> int:
        """How much memory it takes."""
        return len(self._kept) if self.is_text else 8 * len(self._chunks)

    def may_be_like(self, other: Sketch, least: float) -> bool:
        """Whether the sizes allow a similarity."""
        return self.is_text == other.is_text and 2 * min(self.size, other.size) >= least * (self.size + other.size)

    def similarity(self, other: Sketch, least: float) -> float:
        """How alike two documents of one kind are; 0.0 if it is quick to see that it is less than `least`."""
        if not self.is_text:
            return shared(self._chunks, other._chunks)
        mine, theirs = self._words(), other._words()
        total = len(mine) + len(theirs)
        if 2 * (Counter(mine) & Counter(theirs)).total() < least * total:
            return 0.0
        return 2 * sum(size for _, _, size in matching(mine, theirs)) / total

    def _words(self) -> list[str]:
        return decompress(self._kept).decode("utf-8", "surrogatepass").split("\n")


def _shingles(words: list[str]) -> Iterable[bytes]:
    runs = zip(*(words[start:] for start in range(_SHINGLE)), strict=False)
    return {" ".join(run).encode("utf-8", "surrogatepass") for run in runs}


def _smallest(hashes: Iterable[int]) -> array[int]:
    return array("Q", nsmallest(_FEATURES, hashes))
