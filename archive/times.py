"""Times as the archive writes them: strings in CET, fixed at UTC+1 so that they sort and never repeat."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone
from email.utils import parsedate_to_datetime

CET = timezone(timedelta(hours=1), "CET")
_FOURTEEN_DIGITS = re.compile(r"\d{14}")
_EARLIEST_WEB_PAGE = datetime(1990, 1, 1, tzinfo=UTC)


def now() -> datetime:
    """The current time in CET, without fractions of a second."""
    return datetime.now(CET).replace(microsecond=0)


def text(moment: datetime) -> str:
    """`2026-11-15 23:50:00`, as the database and people see it."""
    return moment.astimezone(CET).strftime("%Y-%m-%d %H:%M:%S")


def xml(moment: datetime) -> str:
    """`2026-11-15T23:50:00`, as XML and commitTags have it."""
    return moment.astimezone(CET).strftime("%Y-%m-%dT%H:%M:%S")


def parse(value: str) -> datetime:
    """A stored or typed time; 14 digits are UTC, a zone is believed, no zone means CET."""
    value = value.strip()
    if _FOURTEEN_DIGITS.fullmatch(value):
        return datetime.strptime(value, "%Y%m%d%H%M%S").replace(tzinfo=UTC).astimezone(CET)
    moment = datetime.fromisoformat(value)
    return (moment if moment.tzinfo else moment.replace(tzinfo=CET)).astimezone(CET)


def created(last_modified: str, received: datetime) -> datetime:
    """A document's own time: Last-Modified if it can be believed, else the time it was received."""
    try:
        moment = parsedate_to_datetime(last_modified)
    except (ValueError, TypeError, IndexError, OverflowError):
        return received
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    believable = _EARLIEST_WEB_PAGE <= moment <= received + timedelta(days=1)
    return moment.astimezone(CET) if believable else received
