"""Very many texts that begin alike, offered as few: all of them, or as far as each next character leads.

A shell completes as far as all that it is offered agrees, so the first hundred of a thousand would mislead it.
"""

from __future__ import annotations

from bisect import bisect_left
from os.path import commonprefix
from typing import NamedTuple, Protocol

_MOST = 100
_LAST = "\U0010ffff"


class Beginning(NamedTuple):
    """A text, or as much of one as several have in common."""

    text: str
    is_whole: bool


class Sorted(Protocol):
    """Texts in order that can be asked for."""

    def first(self, start: str, stop: str, count: int) -> list[str]:
        """The first ones from a text on and before another."""

    def last(self, start: str, stop: str) -> str:
        """The last one; there must be one."""


class SortedList:
    """Texts in a list."""

    def __init__(self, texts: list[str]) -> None:
        self._texts = sorted(texts)

    def first(self, start: str, stop: str, count: int) -> list[str]:
        """The first ones from a text on and before another."""
        begin, end = bisect_left(self._texts, start), bisect_left(self._texts, stop)
        return self._texts[begin : min(end, begin + count)]

    def last(self, start: str, stop: str) -> str:
        """The last one; there must be one."""
        return self._texts[bisect_left(self._texts, stop) - 1]


def beginnings(texts: Sorted, start: str) -> list[Beginning]:
    """All that begin with a text if they are a hundred at most, else one for every character that follows it."""
    stop = start + _LAST
    found = texts.first(start, stop, _MOST + 1)
    if len(found) <= _MOST:
        return [Beginning(text, True) for text in found]
    offered, place = [], start
    while following := texts.first(place, stop, 1):
        head = following[0][: len(start) + 1]
        place = head + _LAST if len(head) > len(start) else start + "\0"
        # What two texts begin with, all between them in order begin with, too.
        last = texts.last(following[0], place)
        common = commonprefix([following[0], last])  # noqa: RUF071  it is of characters that it is wanted
        offered.append(Beginning(common, following[0] == last))
    return offered
