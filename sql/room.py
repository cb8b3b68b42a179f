"""Room on the disk of a database: SQLite writes beside a file even to read it, and names the lack of room badly."""

from __future__ import annotations

import os
from pathlib import Path

_LEAST = 1 << 16


def has_room(folder: Path) -> bool:
    """Whether there is enough room for SQLite to work at all."""
    status = os.statvfs(folder)
    return status.f_bavail * status.f_frsize >= _LEAST
