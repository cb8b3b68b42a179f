"""When to ask again."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from tests.servers import Page, Site
from webarc.archive.times import now
from webarc.crawler.addresses import AddressPolicy
from webarc.crawler.fetcher import ERRORS, Answer, Fetcher, FetchLimits, Request
from webarc.crawler.retry import LONGEST, delay, retry_after

LIMITS = FetchLimits(tries=4, backoff=1.0)
AGAIN = {"timeout", "refused", "dns", "connection", "truncated"}


def answer(status: int = 200, error: str = "", wait: float | None = None) -> Answer:
    request = Request("http://h/")
    return Answer(request, "http://h/", status, "1.1", [], {}, b"", 0, "", error, "", 0.0, now(), "", wait, False)


@pytest.mark.parametrize("error", ERRORS)
def test_only_what_may_pass_is_tried_again(error: str) -> None:
    assert (delay(answer(0, error), 1, LIMITS) is not None) == (error in AGAIN)


@pytest.mark.parametrize("status", [200, 304, 403, 404, 408, 410, 429, 500, 501, 502, 503, 504])
def test_only_passing_statuses_are_tried_again(status: int) -> None:
    assert (delay(answer(status), 1, LIMITS) is not None) == (status in {408, 429, 500, 502, 503, 504})


def test_waits_double_with_some_spread_until_the_tries_are_used_up() -> None:
    for attempt, middle in ((1, 1.0), (2, 2.0), (3, 4.0)):
        waits = {delay(answer(503), attempt, LIMITS) for _ in range(50)}
        assert len(waits) > 10
        assert all(wait is not None and 0.75 * middle <= wait <= 1.25 * middle for wait in waits)
    assert delay(answer(503), 4, LIMITS) is None
    assert delay(answer(0, "timeout"), 1, FetchLimits(tries=1)) is None


def test_retry_after_is_honoured_up_to_a_bound() -> None:
    assert delay(answer(503, wait=17.0), 1, LIMITS) == 17.0
    assert delay(answer(503, wait=86400.0), 1, LIMITS) == LONGEST


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("5", 5.0),
        (" 120 ", 120.0),
        ("Tue, 17 Nov 2026 10:00:30 GMT", 30.0),
        ("Tue, 17 Nov 2026 09:00:00 GMT", 0.0),
        ("soon", None),
        ("-5", None),
        ("", None),
        ("²", None),
        ("9" * 400, 999999999.0),
    ],
)
def test_retry_after_is_read_as_seconds_or_date(value: str, seconds: float | None) -> None:
    assert retry_after(value, datetime(2026, 11, 17, 10, 0, 0, tzinfo=UTC)) == seconds


def test_the_fetcher_passes_the_header_on() -> None:
    busy = Page("busy", 503, {"Retry-After": "7"})
    with Site({"/": busy}) as site, Fetcher(policy=AddressPolicy.build([site.url()])) as fetcher:
        fetcher.submit(Request(site.url()))
        assert fetcher.collect(5)[0].retry_after == 7.0
