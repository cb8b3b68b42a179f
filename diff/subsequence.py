"""The longest common subsequence of two sequences of some thousand items, exactly, a whole row of the table at a time.

A row of the textbook's table is one number of as many bits as the first sequence has items: a bit is 0 where the length
found so far grows. A few operations on such numbers make the next row, whatever the sequences are.
"""

from __future__ import annotations

from array import array

from webarc.diff.edits import Block

# Items on either side, so that the table takes no more than 2 MB.
LONGEST = 4096
# What one comparison costs, in steps of the shortest path: for an item, and one for so many cells of the table.
_STEPS_AN_ITEM, _CELLS_A_STEP = 2, 5000


def steps(a: array[int], b: array[int]) -> int:
    """How much work it is."""
    return _STEPS_AN_ITEM * (len(a) + len(b)) + len(a) * len(b) // _CELLS_A_STEP


def longest_common(a: array[int], b: array[int]) -> list[Block]:
    """The equal blocks, rising in both, that cover as many items as can be."""
    rows = _rows(a, b)
    pairs: list[Block] = []
    x, y = len(a), len(b)
    while x and y:
        if rows[y] >> x - 1 & 1:
            x -= 1
            continue
        y -= 1
        # The length grows here already without the last item of b, so another one is not needed.
        if y and not rows[y] >> x - 1 & 1:
            continue
        x -= 1
        pairs.append((x, y, 1))
    return pairs[::-1]


def _rows(a: array[int], b: array[int]) -> list[int]:
    """The table: its row y stands for the first y items of b."""
    places: dict[int, int] = {}
    for place, item in enumerate(a):
        places[item] = places.get(item, 0) | 1 << place
    row = every = (1 << len(a)) - 1
    rows = [row]
    for item in b:
        if matches := places.get(item, 0) & row:
            row = (row + matches | row - matches) & every
        rows.append(row)
    return rows
