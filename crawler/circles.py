"""Redirects that lead round and round."""

from __future__ import annotations

from collections.abc import Mapping


def endless(ways: Mapping[int, int]) -> set[int]:
    """Of places that lead to one other place each, those from which nobody ever arrives anywhere."""
    found: set[int] = set()
    ended: set[int] = set()
    for start in ways:
        path: dict[int, None] = {}
        place = start
        while place in ways and place not in path and place not in found and place not in ended:
            path[place] = None
            place = ways[place]
        (found if place in path or place in found else ended).update(path)
    return found
