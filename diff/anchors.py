"""Fixed points of two sequences: what occurs once in each, in the same order (patience), found in linear time."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from math import sqrt

from webarc.diff.edits import Block

# Where no item occurs once, runs of items may; they begin with the rarest items, at a share of all the places.
# The longer a run, the less it is there twice by chance.
_RUNS = (64, 16, 8)
_SHARE = 16
# Of longer sequences (both together) only a sample is looked at, the same items in both; the rest has its turn later.
ENOUGH = 500_000
_PROBES = 16
# The longest rising chain of so many pairs in no order is about twice their square root.
_RARE = 3
_Places = tuple[list[int], list[int]]


def single_items(a: array[int], b: array[int]) -> list[Block]:
    """The longest rising chain of items that occur once in each sequence."""
    every = _every(a, b)
    places_a = [place for place, item in enumerate(a) if not item % every]
    places_b = [place for place, item in enumerate(b) if not item % every]
    found = _chain(places_a, [a[place] for place in places_a], places_b, [b[place] for place in places_b])
    return _blocks(*found, 1) if found else []


def single_runs(a: array[int], b: array[int]) -> list[Block]:
    """The longest rising chain of runs of items that occur once in each sequence, of long runs if there are any."""
    if _every(a, b) > 1:
        return _probed(a, b)
    rarest = _rarest(a, b)
    places_a, places_b = places(a, rarest), places(b, rarest)
    for length in _RUNS:
        found = _chain(*_runs(a, places_a, length), *_runs(b, places_b, length), by_chance=False)
        if found:
            return _blocks(*found, length)
    return []


def places(items: Iterable[int], wanted: set[int]) -> list[int]:
    """Where the wanted items are."""
    return [place for place, item in enumerate(items) if item in wanted]


def _every(a: array[int], b: array[int]) -> int:
    return 1 + (len(a) + len(b)) // ENOUGH


def _chain(
    places_a: list[int],
    named_a: Sequence[Hashable],
    places_b: list[int],
    named_b: Sequence[Hashable],
    by_chance: bool = True,
) -> _Places | None:
    """The longest rising chain of places whose names occur once in each, if there is any."""
    counts_a, counts_b = Counter(named_a), Counter(named_b)
    single = {name for name, count in counts_a.items() if count == 1 and counts_b.get(name) == 1}
    if not single:
        return None
    place_of = {name: place for place, name in zip(places_b, named_b, strict=True) if name in single}
    xs = [place for place, name in zip(places_a, named_a, strict=True) if name in single]
    found = _rising(xs, [place_of[name] for name in named_a if name in single])
    return found if by_chance or len(found[0]) >= min(len(xs), _RARE * sqrt(len(xs))) else None


def _rarest(a: array[int], b: array[int]) -> set[int]:
    """The rarest items: as many as fill a share of all places, at least one."""
    counts = Counter(a)
    counts.update(b)
    left = (len(a) + len(b)) // _SHARE
    found: set[int] = set()
    for item, count in sorted(counts.items(), key=lambda entry: entry[1]):
        if found and count > left:
            break
        found.add(item)
        left -= count
    return found


def _runs(items: array[int], starts: list[int], length: int) -> tuple[list[int], list[bytes]]:
    """The whole runs that begin at some places, as bytes, which are quick to compare."""
    data, size = items.tobytes(), items.itemsize
    starts = starts[: bisect_left(starts, len(items) - length + 1)]
    return starts, [data[place * size : (place + length) * size] for place in starts]


def _probed(a: array[int], b: array[int]) -> list[Block]:
    """A few runs, evenly spread over very long sequences, that occur once in each."""
    data_a, data_b, size, length = a.tobytes(), b.tobytes(), a.itemsize, _RUNS[0]
    step = len(a) // _PROBES + 1
    starts, runs = _runs(a, list(range(step // 2, len(a), step)), length)
    xs, ys = [], []
    for x, run in zip(starts, runs, strict=True):
        y, odd = divmod(data_b.find(run), size)
        if not odd and y >= 0 and data_b.count(run) == 1 == data_a.count(run):
            xs.append(x)
            ys.append(y)
    return _blocks(*_rising(xs, ys), length) if xs else []


def _rising(xs: list[int], ys: list[int]) -> _Places:
    """The longest part of the pairs (x, y) whose y rise as the x do."""
    ends: list[int] = []
    last: list[int] = []
    before: list[int] = []
    for number, place in enumerate(ys):
        length = bisect_left(ends, place) if ends and place < ends[-1] else len(ends)
        before.append(last[length - 1] if length else -1)
        if length == len(ends):
            ends.append(place)
            last.append(number)
        else:
            ends[length], last[length] = place, number
    chain = []
    number = last[-1]
    while number >= 0:
        chain.append(number)
        number = before[number]
    chain.reverse()
    return [xs[number] for number in chain], [ys[number] for number in chain]


def _blocks(xs: list[int], ys: list[int], length: int) -> list[Block]:
    """Runs of a length as blocks: what overlaps or follows on is one, what is in the way of the next is shorter."""
    found = []
    first_x, first_y, size = xs[0], ys[0], 0
    for x, y in zip(xs, ys, strict=True):
        ahead = x - first_x
        if ahead <= size and ahead == y - first_y:
            size = ahead + length
        else:
            found.append((first_x, first_y, min(size, ahead, y - first_y)))
            first_x, first_y, size = x, y, length
    found.append((first_x, first_y, size))
    return found
