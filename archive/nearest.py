"""What somebody may have meant: the names nearest to one that the archive does not have."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import SequenceMatcher, get_close_matches
from heapq import nlargest
from itertools import islice, takewhile

_SHOWN = 3
_LOOKED_AT = 100_000
_COMPARED = 30
_LONGEST = 300
_GRAMS = 40


def nearest_domains(name: str, domains: Iterable[str]) -> list[str]:
    """The domains spelt most like a name."""
    return get_close_matches(name, list(islice(domains, _LOOKED_AT)), _SHOWN, 0.6)


def nearest_arcs(arc: str, arcs: Iterable[str]) -> list[str]:
    """The ARC folders most like one; a glance at each of very many, a close look at the few best."""
    wanted = arc[:_LONGEST]
    grams = _grams(wanted)
    looked_at = islice(arcs, _LOOKED_AT)
    best = nlargest(_COMPARED, looked_at, key=lambda other: _shared(grams, other) - abs(len(other) - len(arc)) / 100)
    return nlargest(_SHOWN, best, key=lambda other: _likeness(wanted, other[:_LONGEST]))


def _likeness(wanted: str, other: str) -> tuple[float, int]:
    """Of two names that are as like, the one that begins like the wanted one is nearer."""
    alike = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(wanted, other, strict=False)))
    return SequenceMatcher(None, wanted, other, False).ratio(), alike


def _grams(text: str) -> list[str]:
    """Some of the three-letter pieces of a text, spread over all of it."""
    pieces = list(dict.fromkeys(text[start : start + 3] for start in range(max(len(text) - 2, 1))))
    return pieces[:: len(pieces) // _GRAMS + 1]


def _shared(grams: list[str], text: str) -> int:
    return sum([gram in text for gram in grams])
