"""The database URL among the settings: where a relative file is, and whether a password stands in it."""

from __future__ import annotations

import re
from pathlib import Path

_SQLITE = "sqlite:///"
_PASSWORD = re.compile(r"(?i)://[^:/]*:[^@]*@|[?&]\w*password=")


def absolute(url: str, folder: Path) -> str:
    """The URL with the full path of its SQLite file, so that it means the same wherever webarc is started."""
    file = url.removeprefix(_SQLITE)
    return f"{_SQLITE}{folder / file}" if file and file != url else url


def has_password(url: str) -> bool:
    """Whether it may not be shown, nor stand on a command line."""
    return _PASSWORD.search(url) is not None
