"""Shares between 0 and 1 as they are shown."""

from __future__ import annotations


def rounded(share: float, places: int = 6) -> float:
    """A share with so many places; 0 and 1 are only said of what is exactly that."""
    if not 0 < share < 1:
        return share
    least = 10.0**-places
    return min(max(round(share, places), least), round(1 - least, places))


def written(share: float, places: int = 3) -> str:
    """The same as a text of that length."""
    return f"{rounded(share, places):.{places}f}"
