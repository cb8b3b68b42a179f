"""Which ARCs a crawl may remove: a bad crawl never destroys a good copy (architecture rule 3)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

_AT_LEAST = 10
_SHARE = 0.2


@dataclass(frozen=True, slots=True)
class Removals:
    """What is removed now, and what is held back until another crawl finds the same."""

    now: tuple[str, ...]
    held: tuple[str, ...]


def decide(candidates: Iterable[str], held_before: Iterable[str], arcs: int, *, allow: bool) -> Removals:
    """Remove what was found gone; an unusual number of removals waits until it is found twice or allowed."""
    wanted = sorted(set(candidates))
    confirmed = set(held_before)
    fresh = [url for url in wanted if url not in confirmed]
    if allow or len(fresh) <= max(_AT_LEAST, int(arcs * _SHARE)):
        return Removals(tuple(wanted), ())
    return Removals(tuple(url for url in wanted if url in confirmed), tuple(fresh))
