"""The shortest way from one sequence to another, as long as it is short: Myers' algorithm with a limit."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    _Items = array[int] | list[str]

# Items that are equal in both sequences: where they begin in the one and in the other, and how many they are.
# A plain tuple, since there may be a million of them.
Block = tuple[int, int, int]
# Slices of this length are compared first, of twice as many items each time they are equal.
_FIRST_SLICE = 8


class Path(NamedTuple):
    """The equal blocks from the beginnings up to (a, b), whether these are the ends, and how many steps it took."""

    blocks: list[Block]
    a: int
    b: int
    complete: bool
    steps: int


def common_start(a: _Items, b: _Items, x: int = 0, y: int = 0) -> int:
    """How many items from x and y on are equal; whole slices are compared, which costs next to nothing."""
    most = min(len(a) - x, len(b) - y)
    equal, step = 0, _FIRST_SLICE
    while equal < most and a[x + equal : (end := min(x + equal + step, x + most))] == b[y + equal : y - x + end]:
        equal, step = end - x, step * 2
    while step := step // 2:
        end = equal + step
        if end <= most and a[x + equal : x + end] == b[y + equal : y + end]:
            equal = end
    return equal


def common_end(a: _Items, b: _Items, most: int) -> int:
    """How many items at the end of both are equal, `most` at most."""
    first_a, first_b = len(a) - most, len(b) - most
    low, high = 0, most
    # Found by halving: what is equal from one place on is equal from every later one.
    while low < high:
        middle = (low + high) // 2
        if a[first_a + middle : first_a + high] == b[first_b + middle : first_b + high]:
            high = middle
        else:
            low = middle + 1
    return most - low


def shortest_path(a: array[int], b: array[int], limit: int) -> Path:
    """The path with the fewest removed and added items; with more than `limit` of them, the part that got furthest."""
    end_a, end_b = len(a), len(b)
    rows: list[list[int]] = [[common_start(a, b)]]
    for cost in range(limit + 1):
        if cost:
            rows.append(_furthest(a, b, rows[-1]))
        # The end lies on the diagonal end_a - end_b; its place in a row is where it is reached.
        place, odd = divmod(end_a - end_b + cost, 2)
        if not odd and 0 <= place <= cost and rows[-1][place] >= end_a:
            return _path(rows, place, True)
    return _path(rows, _furthest_place(rows[-1], end_a, end_b), False)


def _furthest(a: array[int], b: array[int], before: list[int]) -> list[int]:
    """How far each diagonal is reached with one more removed or added item than before.

    The place p of a row for the cost c is the diagonal x - y = 2p - c; the value is x.
    """
    end_a, end_b = len(a), len(b)
    row = []
    diagonal = -len(before)
    for left, right in zip([-2, *before], [*before, -1], strict=True):
        x = right if right > left else left + 1
        y = x - diagonal
        if x < end_a and y < end_b and a[x] == b[y]:
            x += common_start(a, b, x, y)
        row.append(x)
        diagonal += 2
    return row


def _furthest_place(row: list[int], end_a: int, end_b: int) -> int:
    cost = len(row) - 1
    reached = ((x, x - 2 * place + cost, place) for place, x in enumerate(row))
    return max((x + y, place) for x, y, place in reached if x <= end_a and y <= end_b)[1]


def _path(rows: list[list[int]], place: int, complete: bool) -> Path:
    """The way that ends at a place of the last row, found going back."""
    cost = len(rows) - 1
    end, end_b = rows[cost][place], rows[cost][place] - 2 * place + cost
    blocks = []
    for number in range(cost, 0, -1):
        before, x = rows[number - 1], rows[number][place]
        # Either an item of b was added, or one of a was removed, whichever led further.
        is_added = place == 0 or (place < number and before[place] > before[place - 1])
        start = before[place] if is_added else before[place - 1] + 1
        blocks.append((start, start - 2 * place + number, x - start))
        place -= not is_added
    blocks.append((0, 0, rows[0][0]))
    return Path(blocks[::-1], end, end_b, complete, (cost + 1) * (cost + 2) // 2)
