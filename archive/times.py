"""Times as the archive writes them: strings in CET, fixed at UTC+1 so that they sort and never repeat."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone
from functools import lru_cache

CET = timezone(timedelta(hours=1), "CET")
_FOURTEEN_DIGITS = re.compile(r"\d{14}")
_EARLIEST_WEB_PAGE = datetime(1990, 1, 1, tzinfo=UTC)


def now() -> datetime:
    """The current time in CET, without fractions of a second."""
    return datetime.now(CET).replace(microsecond=0)


def text(moment: datetime) -> str:
    """`2026-11-15 23:50:00`, as the database and people see it."""
    return moment.astimezone(CET).replace(tzinfo=None).isoformat(" ", "seconds")


def xml(moment: datetime) -> str:
    """`2026-11-15T23:50:00`, as XML and commitTags have it."""
    return moment.astimezone(CET).replace(tzinfo=None).isoformat("T", "seconds")


def parse(value: str) -> datetime:
    """A stored or typed time; 14 digits are UTC, a zone is believed, no zone means CET."""
    value = value.strip()
    if _FOURTEEN_DIGITS.fullmatch(value):
        return datetime.strptime(value, "%Y%m%d%H%M%S").replace(tzinfo=UTC).astimezone(CET)
    moment = datetime.fromisoformat(value)
    return (moment if moment.tzinfo else moment.replace(tzinfo=CET)).astimezone(CET)


def created(last_modified: str, received: datetime) -> datetime:
    """A document's own time: Last-Modified if it can be believed, else the time it was received."""
    moment = _http_date(last_modified) if last_modified else None
    believable = moment is not None and _EARLIEST_WEB_PAGE <= moment <= received + timedelta(days=1)
    return moment if believable and moment else received


@lru_cache(4096)
def _http_date(value: str) -> datetime | None:
    """The time that a header tells; the files of a site often share one."""
    from email.utils import parsedate_to_datetime  # loads much, and only crawls need it

    try:
        moment = parsedate_to_datetime(value)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(CET)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
