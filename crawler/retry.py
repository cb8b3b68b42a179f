"""Whether and when to ask again."""

from __future__ import annotations

import random
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

from webarc.crawler.limits import FetchLimits

if TYPE_CHECKING:
    from webarc.crawler.exchange import Answer

LONGEST = 120.0
_STATUSES = frozenset((408, 429, 500, 502, 503, 504))
_ERRORS = frozenset(("timeout", "refused", "dns", "connection", "truncated"))


def delay(answer: Answer, attempt: int, limits: FetchLimits) -> float | None:
    """Seconds until the next try after `attempt` tries, None to give up."""
    if attempt >= limits.tries or not may_pass(answer):
        return None
    # Spread, so that many URLs that failed together do not come back together.
    wait = limits.backoff * 2.0 ** (attempt - 1) * random.uniform(0.75, 1.25)  # noqa: S311
    return min(max(wait, answer.retry_after or 0.0), LONGEST)


def may_pass(answer: Answer) -> bool:
    """Whether what went wrong may be better next time."""
    return answer.error in _ERRORS if answer.error else answer.status in _STATUSES


def retry_after(value: str, now: datetime | None = None) -> float | None:
    """Seconds that a Retry-After header asks for, None when it is not understood."""
    value = value.strip()
    if value.isascii() and value.isdigit():
        return float(value[:9])
    try:
        moment = parsedate_to_datetime(value)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, (moment - (now or datetime.now(UTC))).total_seconds())
