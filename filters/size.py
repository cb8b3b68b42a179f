"""Keeps files of a wanted size."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from webarc.filters.plugin import FilterSettings


class SizeFilter:
    """Keeps files of at least `min` and at most `max` bytes."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        given = FilterSettings("size", settings, ("min", "max"))
        self._min = given.size("min") or 0
        self._max = given.size("max")

    def keep(self, path: Path) -> bool:
        """Whether the size of this file is wanted."""
        size = path.stat().st_size
        return size >= self._min and (self._max is None or size <= self._max)
