"""Times as people type them: dates, ISO, digits as in archive URLs, `yesterday`, `3 days ago`.

Without a zone they are meant in the one that times are shown in (webarc.archive.zones).
"""

from __future__ import annotations

import re
from calendar import monthrange
from datetime import UTC, datetime, timedelta, timezone, tzinfo

from webarc.archive import times, zones
from webarc.archive.times import CET
from webarc.errors import BadTime

_HINT = "write it like 2026-11-15, '2026-11-15 23:50', 20261115235000, yesterday or '3 days ago'"
_DIGITS = re.compile(r"\d{4}(?:\d{2}){0,5}", re.ASCII)
_CLOCK = r"(\d{1,2})(?::(\d{2})(?::(\d{2})(?:[.,]\d+)?)?)?"
_ZONE = rf"(z|{'|'.join(zones.NAMES).lower()}|[+-]\d{{2}}:?(?:\d{{2}}(?::?\d{{2}})?)?)"
_DATE = re.compile(rf"(\d{{4}})[-/](\d{{1,2}})(?:[-/](\d{{1,2}})(?:(?:t| (?:at )?){_CLOCK} ?{_ZONE}?)?)?", re.ASCII)
_DAY = re.compile(rf"(?:last )?([a-z]+)(?: (?:at )?{_CLOCK})?", re.ASCII)
_TOKEN = re.compile(r"[0-9]{1,9}|[a-z]+|[^ ]")
_LAST = re.compile(r"last ([a-z]+)", re.ASCII)
_NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_COUNTS = {"a": 1, "an": 1} | {name: number for number, name in enumerate(_NUMBERS, 1)}
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_DAYS_BACK = {"today": 0, "yesterday": 1}
_SECONDS = {"second": 1, "minute": 60, "hour": 3600, "day": 86_400, "week": 604_800, "fortnight": 1_209_600}
_MONTHS = {"month": 1, "quarter": 3, "year": 12}
_SHORT = {"s": "second", "sec": "second", "m": "minute", "min": "minute", "h": "hour", "hr": "hour"}
_SHORT |= {"d": "day", "w": "week", "y": "year", "yr": "year"}
# What a part left out stands for, and how much time the shorter text covers: year, month, day, hour, minute, second.
_FIRST = (1, 1, 1, 0, 0, 0)
_SPANS = {3: timedelta(days=1), 4: timedelta(hours=1), 5: timedelta(minutes=1), 6: timedelta(seconds=1)}
_SECOND = timedelta(seconds=1)


def instant(text: str, *, end: bool = False, now: datetime | None = None) -> datetime:
    """The moment that a text means, in CET; digits alone are UTC; raises BadTime.

    A text that leaves out the clock, or part of it, means the first second of that day, hour or minute; with `end`
    its last one.
    """
    words = " ".join(text.lower().split())
    current = (now or times.now()).astimezone(CET).replace(microsecond=0)
    try:
        found = _plain(words, end) or _named(words, end, current) or _ago(words, current)
        here = found.astimezone(CET) if found is not None else None
    except (ValueError, OverflowError, OSError):
        # In another zone a time may be before the year 1 or behind the year 9999.
        here = None
    if here is None:
        raise BadTime(f"{text[:80]!r} is not a time; {_HINT}.")
    return here


def span(text: str) -> tuple[str, str]:
    """The first and the last second that a text means, as they are stored."""
    return times.text(instant(text)), times.text(instant(text, end=True))


def _plain(words: str, end: bool) -> datetime | None:
    """A date, with or without a clock, or 4 to 14 digits."""
    if _DIGITS.fullmatch(words):
        numbers = [words[:4], *re.findall("..", words[4:])]
        return _moment([int(number) for number in numbers], UTC, end)
    if match := _DATE.fullmatch(words):
        *numbers, zone = match.groups()
        return _moment([int(number) for number in numbers if number is not None], _zone(zone), end)
    return None


def _moment(numbers: list[int], zone: tzinfo | None, end: bool) -> datetime:
    year, month, day, hour, minute, second = [*numbers, *_FIRST[len(numbers) :]]
    clock = datetime(year, month, day, hour, minute, second)
    if end:
        clock += _span(clock, len(numbers)) - _SECOND
    return clock.replace(tzinfo=zone) if zone else zones.placed(clock, end=end)


def _span(start: datetime, given: int) -> timedelta:
    if given >= 3:
        return _SPANS[given]
    months = range(1, 13) if given == 1 else (start.month,)
    return timedelta(days=sum(monthrange(start.year, month)[1] for month in months))


def _zone(text: str | None) -> tzinfo | None:
    if text is None or text == "z":
        return UTC if text else None
    if text[0] not in "+-":
        return timezone(zones.NAMES[text.upper()])
    digits = text[1:].replace(":", "")
    offset = timedelta(hours=int(digits[:2]), minutes=int(digits[2:4] or 0), seconds=int(digits[4:] or 0))
    return timezone(-offset if text[0] == "-" else offset)


def _named(words: str, end: bool, now: datetime) -> datetime | None:
    """`now`, `today`, `yesterday 14:30`, `monday`: a weekday is the last one before today."""
    if words == "now":
        return now
    match = _DAY.fullmatch(words)
    if match is None:
        return None
    name, *clock = match.groups()
    if name in _WEEKDAYS:
        back = (zones.wall(now).weekday() - _WEEKDAYS.index(name) - 1) % 7 + 1
    elif name in _DAYS_BACK and not words.startswith("last"):
        back = _DAYS_BACK[name]
    else:
        return None
    day = zones.wall(now) - timedelta(days=back)
    return _moment([day.year, day.month, day.day, *[int(part) for part in clock if part is not None]], None, end)


def _ago(words: str, now: datetime) -> datetime | None:
    """`3 days ago`, `a week ago`, `1 day and 2 hours ago`, `last month`."""
    if match := _LAST.fullmatch(words):
        return _earlier(now, 1, match.group(1))
    tokens = [token for token in _TOKEN.findall(words) if token not in ("and", ",")]
    if len(tokens) < 3 or tokens.pop() != "ago" or len(tokens) % 2:
        return None
    for count, unit in zip(tokens[::2], tokens[1::2], strict=True):
        now = _earlier(now, _COUNTS.get(count) or int(count), unit)
    return now


def _earlier(moment: datetime, count: int, unit: str) -> datetime:
    unit = _SHORT.get(unit.removesuffix("s") or unit, unit.removesuffix("s"))
    if unit in _SECONDS:
        return moment - timedelta(seconds=count * _SECONDS[unit])
    if unit not in _MONTHS:
        raise ValueError(unit)
    clock = zones.wall(moment)
    year, month = divmod(clock.year * 12 + clock.month - 1 - count * _MONTHS[unit], 12)
    # A month that has no such day gives its last one.
    day = min(clock.day, monthrange(max(year, 1), month + 1)[1])
    return zones.placed(clock.replace(year=year, month=month + 1, day=day))
