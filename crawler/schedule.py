"""When a schedule is due: by a cron expression in local time, or every so often."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from webarc.config import units
from webarc.errors import UsageProblem

CRON = "cron"
EVERY = "every"
_ALIASES = ("@hourly", "@daily", "@midnight", "@weekly", "@monthly", "@yearly", "@annually")
_VALUE = r"(?:\*|\d{1,2}|[a-z]{3})(?:-(?:\d{1,2}|[a-z]{3}))?(?:/\d{1,2})?"
_FIELD = re.compile(rf"{_VALUE}(?:,{_VALUE})*", re.IGNORECASE | re.ASCII)
_LONGEST = timedelta(days=3660).total_seconds()


def checked(kind: str, spec: str) -> str:
    """The expression, tidied; raises UsageProblem for one that says nothing or that crontab would not take."""
    if kind == EVERY:
        return units.shown_duration(_seconds(spec))
    spec = " ".join(spec.split())
    fields = spec.split()
    if spec.lower() not in _ALIASES and not (len(fields) == 5 and all(map(_FIELD.fullmatch, fields))):
        raise UsageProblem(f"{spec!r} is not a cron expression; write five fields, as in '0 3 * * *'.")
    following(kind, spec, datetime.now().astimezone())
    return spec


def following(kind: str, spec: str, after: datetime) -> datetime:
    """The first time after this one at which a schedule is due."""
    if kind == EVERY:
        return after + timedelta(seconds=_seconds(spec))
    from croniter import CroniterError, croniter

    try:
        # People write cron expressions in local time, so it is asked without a zone and placed on the clock below.
        times = croniter(spec, after.astimezone().replace(tzinfo=None))
        while True:
            moment = _after(times.get_next(datetime), after)
            if moment:
                return moment
    except (CroniterError, ValueError, KeyError):
        raise UsageProblem(f"{spec!r} is not a cron expression that is ever due; see `man 5 crontab`.") from None


def _after(local: datetime, after: datetime) -> datetime | None:
    """A local time as a moment after another one, or None if it is past.

    When clocks go back, an hour comes twice and either may be it; when they go forward, an hour is missing and what is
    due in it is due once, after the change.
    """
    moments = sorted(local.replace(fold=fold).astimezone() for fold in (0, 1))
    real = [moment for moment in moments if moment.replace(tzinfo=None) == local] or moments[-1:]
    ahead = [moment for moment in real if moment > after]
    return ahead[0].astimezone(after.tzinfo) if ahead else None


def _seconds(spec: str) -> float:
    try:
        seconds = units.duration(spec)
    except ValueError as error:
        raise UsageProblem(str(error)) from None
    if not 1 <= seconds <= _LONGEST:
        raise UsageProblem(f"{spec!r} is not a time between two crawls; choose at least 1s and at most ten years.")
    return seconds
