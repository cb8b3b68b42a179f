"""Times as people type them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webarc.archive import times
from webarc.archive.instants import instant
from webarc.errors import BadTime

NOW = times.parse("2026-11-18 10:20:30")  # a Wednesday


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("2026-11-15", "2026-11-15 00:00:00", "2026-11-15 23:59:59"),
        ("2026/11/5", "2026-11-05 00:00:00", "2026-11-05 23:59:59"),
        ("2026-02", "2026-02-01 00:00:00", "2026-02-28 23:59:59"),
        ("2026-11-15 23:50", "2026-11-15 23:50:00", "2026-11-15 23:50:59"),
        ("2026-11-15 at 23:50", "2026-11-15 23:50:00", "2026-11-15 23:50:59"),
        ("2026-11-15 23", "2026-11-15 23:00:00", "2026-11-15 23:59:59"),
        ("  2026-11-15T23:50:07  ", "2026-11-15 23:50:07", "2026-11-15 23:50:07"),
        ("2026-11-15T23:50:07.999", "2026-11-15 23:50:07", "2026-11-15 23:50:07"),
        ("2026-11-15T23:50:00Z", "2026-11-16 00:50:00", "2026-11-16 00:50:00"),
        ("2026-11-15 23:50 UTC", "2026-11-16 00:50:00", "2026-11-16 00:50:59"),
        ("2026-11-15T23:50:00+02:00", "2026-11-15 22:50:00", "2026-11-15 22:50:00"),
        ("2026-11-15T23:50:00-0530", "2026-11-16 06:20:00", "2026-11-16 06:20:00"),
        ("2026-11-15T23:50:00 CET", "2026-11-15 23:50:00", "2026-11-15 23:50:00"),
        ("20261115235000", "2026-11-16 00:50:00", "2026-11-16 00:50:00"),
        ("202611152350", "2026-11-16 00:50:00", "2026-11-16 00:50:59"),
        ("20261115", "2026-11-15 01:00:00", "2026-11-16 00:59:59"),
        ("202602", "2026-02-01 01:00:00", "2026-03-01 00:59:59"),
        ("2024", "2024-01-01 01:00:00", "2025-01-01 00:59:59"),
        ("now", "2026-11-18 10:20:30", "2026-11-18 10:20:30"),
        ("Today", "2026-11-18 00:00:00", "2026-11-18 23:59:59"),
        ("yesterday", "2026-11-17 00:00:00", "2026-11-17 23:59:59"),
        ("yesterday 14:30", "2026-11-17 14:30:00", "2026-11-17 14:30:59"),
        ("today at 9:00", "2026-11-18 09:00:00", "2026-11-18 09:00:59"),
        ("monday", "2026-11-16 00:00:00", "2026-11-16 23:59:59"),
        ("last wednesday", "2026-11-11 00:00:00", "2026-11-11 23:59:59"),
        ("3 days ago", "2026-11-15 10:20:30", "2026-11-15 10:20:30"),
        ("3  DAYS  ago", "2026-11-15 10:20:30", "2026-11-15 10:20:30"),
        ("1 day ago", "2026-11-17 10:20:30", "2026-11-17 10:20:30"),
        ("2 hours ago", "2026-11-18 08:20:30", "2026-11-18 08:20:30"),
        ("90 min ago", "2026-11-18 08:50:30", "2026-11-18 08:50:30"),
        ("5s ago", "2026-11-18 10:20:25", "2026-11-18 10:20:25"),
        ("a week ago", "2026-11-11 10:20:30", "2026-11-11 10:20:30"),
        ("an hour ago", "2026-11-18 09:20:30", "2026-11-18 09:20:30"),
        ("1 day and 2 hours ago", "2026-11-17 08:20:30", "2026-11-17 08:20:30"),
        ("last month", "2026-10-18 10:20:30", "2026-10-18 10:20:30"),
        ("9 months ago", "2026-02-18 10:20:30", "2026-02-18 10:20:30"),
        ("two years ago", "2024-11-18 10:20:30", "2024-11-18 10:20:30"),
    ],
)
def test_what_a_text_means(text: str, first: str, last: str) -> None:
    assert times.text(instant(text, now=NOW)) == first
    assert times.text(instant(text, end=True, now=NOW)) == last
    assert instant(text, now=NOW).utcoffset() == times.CET.utcoffset(None)


def test_a_month_that_has_no_such_day_gives_its_last_one() -> None:
    assert times.text(instant("last month", now=times.parse("2026-03-31 12:00:00"))) == "2026-02-28 12:00:00"
    assert times.text(instant("a year ago", now=times.parse("2024-02-29 12:00:00"))) == "2023-02-28 12:00:00"


NO_TIMES = """
    soon|2026-13-01|2026-02-30|2026-11-15 25:00|2026-11-15 10:61|20261|20261315|2026111523500|3 days|ago|3 moons ago
    |0x7e8|last tuesdays|15.11.2026|last today|²⁰²⁶|99999999 years ago|999999999 days ago|0000-01-01
    |0001-01-01T00:00:00+14:00|9999-12-31T23:59:59-14:00
    |2026-11-15T10:00+99:00|-1|1e3|٢٠٢٦-11-15|a|a ago|3 3 days ago|and ago|-3 days ago|3.5 days ago| |
"""


@pytest.mark.parametrize("text", NO_TIMES.split("|"))
def test_what_is_no_time_is_said_in_one_sentence(text: str) -> None:
    with pytest.raises(BadTime, match=r"^'.*' is not a time; write it like .*\.$"):
        instant(text, now=NOW)


@given(st.datetimes(datetime(1990, 1, 1), datetime(2099, 12, 31)).map(lambda moment: moment.replace(microsecond=0)))
def test_every_spelling_of_a_moment_is_that_moment(moment: datetime) -> None:
    here = moment.replace(tzinfo=times.CET)
    there = here.astimezone(UTC)
    for text in (
        times.text(here),
        times.xml(here),
        here.isoformat(),
        f"{there:%Y%m%d%H%M%S}",
        f"{there:%Y-%m-%dT%H:%M:%SZ}",
    ):
        assert instant(text) == instant(text, end=True) == here


@given(st.text(max_size=40))
def test_any_text_is_a_time_or_a_bad_time(text: str) -> None:
    try:
        assert instant(text, now=NOW) <= instant(text, end=True, now=NOW)
    except BadTime as problem:
        assert "\n" not in str(problem)
