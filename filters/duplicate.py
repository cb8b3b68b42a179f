"""Drops files whose bytes another URL of this crawl already brought."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Any

from webarc.filters.plugin import FilterSettings


class DuplicateFilter:
    """Keeps the first URL of equal bytes; files below `min` bytes are too small to bother."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._min = FilterSettings("duplicate", settings, ("min",)).size("min") or 0
        # Half a digest and half a name are enough to tell 10^6 files apart, and small enough to remember them all.
        self._owners: dict[bytes, bytes] = {}

    def keep(self, path: Path) -> bool:
        """Whether no other ARC has brought these bytes before; the same ARC may come twice."""
        if path.stat().st_size < self._min:
            return True
        with path.open("rb") as file:
            digest = file_digest(file, "sha256").digest()[:16]
        arc = sha256(str(path.parent).encode("utf-8", "surrogateescape")).digest()[:16]
        return self._owners.setdefault(digest, arc) == arc
