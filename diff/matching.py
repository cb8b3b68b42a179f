"""What two sequences have in common, in bounded time whatever they are.

Equal beginnings and ends go first, then items that only one sequence has. The rest is solved exactly where few items
differ (`edits`) or it is short (`subsequence`); it is cut at fixed points where it is long (`anchors`), and into
stretches of the same share of both where there are none. All of this is counted; when the count is used up, what is
left over is taken as different. So the blocks are always common to both, they are the most there can be for short or
similar sequences, and the time grows with the length only.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from webarc.diff import subsequence
from webarc.diff.anchors import ENOUGH, places, single_items, single_runs
from webarc.diff.edits import Block, common_end, common_start, shortest_path

# So many removed and added items are found in the best way without looking for anchors: 150 steps.
_FEW = 16
# So many are in long ones that have no anchors: 8,000 steps, a few milliseconds.
_MANY = 128
# Items on both sides of a range for which the exact solution is quicker than trying.
_SHORT = 100
# All steps of one comparison: for any, for each item, at most; a million take about a quarter of a second.
_STEPS, _STEPS_AN_ITEM, _MOST_STEPS = 500_000, 8, 6_000_000
_Anchors = Callable[["array[int]", "array[int]"], list[Block]]


class Effort:
    """How many steps may still be taken; several comparisons can share it."""

    def __init__(self, items: int) -> None:
        self.left = self._all = min(_STEPS + _STEPS_AN_ITEM * items, _MOST_STEPS)

    @property
    def taken(self) -> int:
        """How many steps have been taken."""
        return self._all - self.left


def matching(a: Sequence[str], b: Sequence[str], effort: Effort | None = None) -> list[Block]:
    """The equal blocks, rising in both and as long as they go; those of (b, a) are the same, turned round."""
    a, b = list(a), list(b)
    # One of the two orders is always the one that is worked on, which is why turning the arguments changes nothing.
    if b < a:
        return [(left, right, size) for right, left, size in matching(b, a, effort)]
    start = common_start(a, b)
    end = common_end(a, b, min(len(a), len(b)) - start)
    inner = _between(a[start : len(a) - end], b[start : len(b) - end], effort)
    moved = [(start + x, start + y, size) for x, y, size in inner]
    return _joined([(0, 0, start), *moved, (len(a) - end, len(b) - end, end)])


def _between(a: list[str], b: list[str], effort: Effort | None) -> list[Block]:
    """The equal blocks of what is not equal at its ends; items that only one side has are left out at first."""
    names: dict[str, int] = {}
    all_a = [names.setdefault(word, len(names)) for word in a]
    # -1 is a word that a does not have.
    all_b = [names.get(word, -1) for word in b]
    shared = set(all_b).intersection(all_a)
    short_a = array("I", [name for name in all_a if name in shared])
    short_b = array("I", [name for name in all_b if name in shared])
    blocks = _Search(short_a, short_b, effort or Effort(len(short_a) + len(short_b))).blocks()
    if len(short_a) == len(a) and len(short_b) == len(b):
        return blocks
    return list(_placed(blocks, places(all_a, shared), places(all_b, shared)))


class _Range(NamedTuple):
    """Parts of both sequences that are compared with each other, and where they begin."""

    a: array[int]
    b: array[int]
    low_a: int
    low_b: int

    @property
    def length(self) -> int:
        """How many items both have together."""
        return len(self.a) + len(self.b)


class _Search:
    """One comparison: what is still to be looked at, what was found, and how much it may cost."""

    def __init__(self, a: array[int], b: array[int], effort: Effort) -> None:
        self._a, self._b, self._effort = a, b, effort
        self._found: list[Block] = []
        self._open: list[tuple[int, int, int, int]] = [(0, len(a), 0, len(b))]

    def blocks(self) -> list[Block]:
        """The equal blocks, sorted."""
        while self._open:
            self._narrow(*self._open.pop())
        return _joined(sorted(self._found))

    def _narrow(self, low_a: int, high_a: int, low_b: int, high_b: int) -> None:
        """Take off the equal beginning and end of a range and solve what remains."""
        a, b = self._a[low_a:high_a], self._b[low_b:high_b]
        start = common_start(a, b)
        end = common_end(a, b, min(len(a), len(b)) - start)
        self._add(low_a, low_b, [(0, 0, start), (len(a) - end, len(b) - end, end)])
        a, b = a[start : len(a) - end], b[start : len(b) - end]
        if a and b and self._effort.left > 0:
            self._solve(_Range(a, b, low_a + start, low_b + start))

    def _solve(self, part: _Range) -> None:
        """What is quick and exact comes first, and the surest anchors before those that may be there by chance."""
        if part.length <= _SHORT:
            self._take_all(part)
            return
        if self._follow(part, _FEW) or self._thin_out(part) or self._take_all(part):
            return
        found = self._cut_at(single_items, part) or self._follow(part, _MANY)
        if not found and not self._cut_at(single_runs, part):
            self._divide(part)

    def _follow(self, part: _Range, limit: int) -> bool:
        """The shortest path, if it has no more differences than the limit."""
        path = shortest_path(part.a, part.b, limit)
        self._effort.left -= path.steps
        if path.complete:
            self._add(part.low_a, part.low_b, path.blocks)
        return path.complete

    def _take_all(self, part: _Range) -> bool:
        """The most that a short range has in common."""
        if max(len(part.a), len(part.b)) > subsequence.LONGEST:
            return False
        self._effort.left -= subsequence.steps(part.a, part.b)
        self._add(part.low_a, part.low_b, subsequence.longest_common(part.a, part.b))
        return True

    def _divide(self, part: _Range) -> None:
        """Look at short stretches of a range, each at the same share of the way through both sides of it."""
        count = max(len(part.a), len(part.b)) // subsequence.LONGEST + 1
        ends = [(len(part.a) * number // count, len(part.b) * number // count) for number in range(count + 1)]
        # The last ones are looked at first.
        for (a, b), (next_a, next_b) in reversed(list(pairwise(ends))):
            self._open.append((part.low_a + a, part.low_a + next_a, part.low_b + b, part.low_b + next_b))

    def _thin_out(self, part: _Range) -> bool:
        """Solve a range without the items that only one side of it has, if these are most of them."""
        self._effort.left -= part.length // 4
        shared = set(part.a).intersection(part.b)
        places_a, places_b = places(part.a, shared), places(part.b, shared)
        if 2 * (len(places_a) + len(places_b)) > part.length:
            return False
        thin_a = array("I", [part.a[place] for place in places_a])
        thin_b = array("I", [part.b[place] for place in places_b])
        inner = _Search(thin_a, thin_b, self._effort).blocks()
        self._add(part.low_a, part.low_b, _placed(inner, places_a, places_b))
        return True

    def _cut_at(self, anchors: _Anchors, part: _Range) -> bool:
        """Keep the anchors of a range, if it has any, and look at what lies between them later."""
        # Of a longer range only a sample is looked at.
        self._effort.left -= min(part.length, ENOUGH)
        blocks = anchors(part.a, part.b)
        if not blocks:
            return False
        self._add(part.low_a, part.low_b, blocks)
        a = b = 0
        for next_a, next_b, size in (*blocks, (len(part.a), len(part.b), 0)):
            if a < next_a and b < next_b:
                self._open.append((part.low_a + a, part.low_a + next_a, part.low_b + b, part.low_b + next_b))
            a, b = next_a + size, next_b + size
        return True

    def _add(self, low_a: int, low_b: int, blocks: Iterable[Block]) -> None:
        self._found += [(low_a + x, low_b + y, size) for x, y, size in blocks if size]


def _placed(blocks: Iterable[Block], places_a: list[int], places_b: list[int]) -> Iterator[Block]:
    """The blocks where they are in the whole sequences: a left out item between two that match parts their block."""
    breaks_a, breaks_b = _breaks(places_a), _breaks(places_b)
    for x, y, size in blocks:
        end = x + size
        while x < end:
            ahead_a = breaks_a[bisect_right(breaks_a, x)] - x
            ahead_b = breaks_b[bisect_right(breaks_b, y)] - y
            size = min(ahead_a, ahead_b, end - x)
            yield places_a[x], places_b[y], size
            x, y = x + size, y + size


def _breaks(places: list[int]) -> list[int]:
    """Where places do not follow the one before, and their end."""
    found = [number for number, (one, other) in enumerate(pairwise(places), 1) if other - one != 1]
    return [*found, len(places)]


def _joined(blocks: Iterable[Block]) -> list[Block]:
    """Blocks that follow each other without a gap in both sequences, as one; empty ones are dropped."""
    found: list[Block] = []
    end_a = end_b = 0
    for block in blocks:
        x, y, size = block
        if x == end_a and y == end_b and found:
            first_x, first_y, before = found[-1]
            found[-1] = (first_x, first_y, before + size)
        elif size:
            found.append(block)
        else:
            continue
        end_a, end_b = x + size, y + size
    return found
