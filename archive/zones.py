"""The zone that people see and write times in; what is stored stays in CET, whatever that zone is.

A time is shown with its zone, so that it means the same to whoever reads it, and to webarc when it is pasted back: by
a name that stands for one offset only, else by the offset itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta, tzinfo
from functools import lru_cache

from webarc.archive import times
from webarc.archive.times import CET

ARCHIVE, LOCAL = "CET", "local"
# Other short names, such as IST or CST, mean different offsets to different people.
NAMES = {"CET": timedelta(hours=1), "CEST": timedelta(hours=2), "UTC": timedelta(0), "GMT": timedelta(0)}
_STORED = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", re.ASCII)


def _cet() -> str:
    return ARCHIVE


_wanted: Callable[[], str] = _cet


@contextmanager
def using(wanted: Callable[[], str]) -> Iterator[None]:
    """Have times read and shown in a zone: CET, `local` or an IANA name, asked for when it is first needed."""
    global _wanted
    before = _wanted
    _wanted = lru_cache(1)(wanted)
    try:
        yield
    finally:
        _wanted = before


def use(name: str) -> None:
    """Have times read and shown in a zone for as long as this process lives."""
    global _wanted
    _wanted = lru_cache(1)(lambda: name)


def shown(stored: str, zone: str | None = None) -> str:
    """A time as it is stored, for people: `2026-11-15 23:50:00 CET`; what is no time stays as it is."""
    if not _STORED.fullmatch(stored):
        return stored
    name = zone or _wanted()
    if name == ARCHIVE:
        return f"{stored} {ARCHIVE}"
    try:
        return _written(_there(times.parse(stored), name))
    except (ValueError, OverflowError, OSError):
        # In another zone it may be before the year 1, or be no date at all.
        return f"{stored} {ARCHIVE}"


def wall(moment: datetime) -> datetime:
    """What clocks in the zone show at a moment, as a date and time without a zone."""
    return _there(moment, _wanted()).replace(tzinfo=None)


def placed(clock: datetime, *, end: bool = False) -> datetime:
    """The moment at which clocks in the zone show this.

    What is shown twice, as clocks go back, means the first time, with `end` the second; what is skipped, as they go
    forward, is as much later.
    """
    first, second = (_at(clock.replace(fold=fold), _wanted()).astimezone(CET) for fold in (0, 1))
    return max(first, second) if end else first


def _there(moment: datetime, name: str) -> datetime:
    return moment.astimezone() if name == LOCAL else moment.astimezone(_zone(name))


def _at(clock: datetime, name: str) -> datetime:
    return clock.astimezone() if name == LOCAL else clock.replace(tzinfo=_zone(name))


@lru_cache(8)
def _zone(name: str) -> tzinfo:
    if name == ARCHIVE:
        return CET
    from zoneinfo import ZoneInfo

    return ZoneInfo(name)


def _written(moment: datetime) -> str:
    name, offset = moment.tzname() or "", moment.utcoffset()
    clock = moment.replace(tzinfo=None).isoformat(" ", "seconds")
    if name in NAMES and NAMES[name] == offset:
        return f"{clock} {name}"
    # An offset as in ISO 8601, which a clock and a blank before it do not change.
    return f"{clock} {moment.isoformat()[19:]}" if offset else f"{clock} {UTC}"
