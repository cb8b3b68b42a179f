"""Sizes such as `100M` and durations such as `6h`, as people write them in config files and on the command line."""

from __future__ import annotations

import re
from decimal import Decimal

_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?", re.IGNORECASE | re.ASCII)
_DURATION = re.compile(r"(?:\d+(?:\.\d+)?\s*(?:ms|[smhdw])\s*)+", re.IGNORECASE | re.ASCII)
_PART = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|[smhdw])", re.IGNORECASE | re.ASCII)
_PLAIN = re.compile(r"\d+(?:\.\d+)?", re.ASCII)
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}


def size(text: str) -> int:
    """Bytes in `4096`, `100M`, `1.5 GiB`; a K is 1024 bytes, as for wget and curl."""
    match = _SIZE.fullmatch(text.strip())
    if not match:
        raise ValueError(f"{text!r} is not a size; write it like 500K, 100M or 2G.")
    return int(Decimal(match[1]) * 1024 ** _POWERS[match[2].lower()])


def duration(text: str) -> float:
    """Seconds in `90`, `250ms`, `6h`, `1h30m`, `2w`."""
    text = text.strip()
    if _PLAIN.fullmatch(text):
        return float(text)
    if not _DURATION.fullmatch(text):
        raise ValueError(f"{text!r} is not a duration; write it like 30s, 15m, 6h or 1d12h.")
    return float(sum(float(number) * _SECONDS[unit.lower()] for number, unit in _PART.findall(text)))


def shown_size(count: int) -> str:
    """The shortest spelling that `size` reads back to the same number."""
    for letter, power in (("T", 4), ("G", 3), ("M", 2), ("K", 1)):
        if count and count % 1024**power == 0:
            return f"{count // 1024**power}{letter}"
    return str(count)


def shown_duration(seconds: float) -> str:
    """The usual spelling that `duration` reads back to the same time, down to milliseconds."""
    thousandths = round(seconds * 1000)
    if thousandths <= 0:
        return "0s"
    parts = []
    for unit, worth in (("w", 604_800_000), ("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1)):
        count, thousandths = divmod(thousandths, worth)
        if count:
            parts.append(f"{count}{unit}")
    return "".join(parts)


def rough_size(count: float) -> str:
    """A size for people, as in `1.4 MB`."""
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "B" or count >= 100 else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} TB"
