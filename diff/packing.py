"""Texts that are much alike, kept in little space: every line that occurs in any of them is there once."""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterable, Iterator
from itertools import chain

import zstandard

from webarc.diff.phrases import END, Phrase

# So many bytes are enough to make use of what texts have in common.
FULL_PART = 512_000
_LEVEL = 3
# How the number of a line is written.
NUMBER = "I"
_compress = zstandard.ZstdCompressor(level=_LEVEL, write_checksum=True).compress
_decompress = zstandard.ZstdDecompressor().decompress


class Unreadable(Exception):
    """These bytes are not what was packed."""


def key_of(blob: str, kind: str, charset: str) -> str:
    """What a text depends on: the same bytes, read in the same way, always give it."""
    return f"{blob} {kind} {charset}"


class Texts:
    """Texts as the numbers of their lines, and for each of them the keys of all documents that have it."""

    def __init__(self) -> None:
        self._keys: dict[bytes, list[str]] = {}
        self._lines = b""
        self._new_lines: list[bytes] = []
        self._places: dict[str, int] | None = None
        self.size = 0

    @classmethod
    def unpacked(cls, data: bytes) -> Texts:
        """What `packed` gave; raises Unreadable."""
        texts = cls()
        try:
            head, _, rest = _decompress(data).partition(b"\n")
            keys, sizes, length = json.loads(head)
        except (zstandard.ZstdError, ValueError) as problem:
            raise Unreadable from problem
        texts._lines, texts.size = rest[:length], len(rest)
        for size, each in zip(sizes, keys, strict=True):
            texts._keys[rest[length : length + size]] = each
            length += size
        return texts

    def packed(self) -> bytes:
        """All of it, with a sum that tells if a bit was lost."""
        lines = self._all_lines()
        head = json.dumps([list(self._keys.values()), list(map(len, self._keys)), len(lines)])
        return _compress(b"".join((head.encode(), b"\n", lines, *self._keys)))

    def documents(self) -> Iterator[str]:
        """The keys of all documents."""
        return chain.from_iterable(self._keys.values())

    def blobs(self) -> Iterator[str]:
        """The blobs of all documents."""
        return (key.partition(" ")[0] for key in self.documents())

    def add(self, key: str, text: bytes) -> None:
        """Keep the text of one more document, given as the numbers of its lines."""
        if text not in self._keys:
            self._keys[text] = []
            self.size += len(text)
        self._keys[text].append(key)

    def holding(self, phrase: Phrase) -> Iterator[str]:
        """The keys of the documents whose text holds a phrase."""
        lines = self._all_lines()
        within, before = phrase.lines_with(lines), phrase.lines_before(lines)
        if not within and not before:
            return
        apart = lines.split(END)
        for text, keys in self._keys.items():
            numbers = array(NUMBER, text)
            if not within.isdisjoint(numbers) or (
                not before.isdisjoint(numbers) and phrase.is_in(b" ".join(apart[number] for number in numbers))
            ):
                yield from keys

    def numbers(self, lines: Iterable[str]) -> bytes:
        """The numbers of folded lines."""
        return array(NUMBER, map(self.place, lines)).tobytes()

    def place(self, line: str) -> int:
        """The number of a folded line, which is kept if it is new."""
        if self._places is None:
            known = self._lines.decode("utf-8", "surrogatepass").split(END.decode())[:-1]
            self._places = {each: number for number, each in enumerate(known)}
        if line not in self._places:
            self._places[line] = len(self._places)
            written = line.encode("utf-8", "surrogatepass") + END
            self._new_lines.append(written)
            self.size += len(written)
        return self._places[line]

    def _all_lines(self) -> bytes:
        self._lines = b"".join((self._lines, *self._new_lines))
        self._new_lines.clear()
        return self._lines
