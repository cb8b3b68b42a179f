"""Sizes and durations."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webarc.config import units


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("0", 0),
        ("4096", 4096),
        ("500K", 500 * 1024),
        ("500k", 500 * 1024),
        ("100M", 100 * 1024**2),
        ("1.5G", 1536 * 1024**2),
        ("2 GiB", 2 * 1024**3),
        ("3MB", 3 * 1024**2),
        (" 7b ", 7),
        ("1T", 1024**4),
    ],
)
def test_sizes(text: str, count: int) -> None:
    assert units.size(text) == count


@pytest.mark.parametrize("text", ["", "M", "-1", "1X", "1e3", "ten", "1..5M", "1M2K", "٣", "0x10"])
def test_what_is_no_size(text: str) -> None:
    with pytest.raises(ValueError, match="not a size"):
        units.size(text)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("0", 0),
        ("90", 90),
        ("2.5", 2.5),
        ("250ms", 0.25),
        ("30s", 30),
        ("15m", 900),
        ("6h", 21600),
        ("1h30m", 5400),
        ("1d 12h", 129600),
        ("2W", 1209600),
    ],
)
def test_durations(text: str, seconds: float) -> None:
    assert units.duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["", "h", "-5s", "6 hours", "1h30", "soon", "1y", "nan", "inf"])
def test_what_is_no_duration(text: str) -> None:
    with pytest.raises(ValueError, match="not a duration"):
        units.duration(text)


@given(st.integers(min_value=0, max_value=2**60))
def test_a_shown_size_reads_back(count: int) -> None:
    assert units.size(units.shown_size(count)) == count


@given(st.integers(min_value=0, max_value=10**12))
def test_a_shown_duration_reads_back(thousandths: int) -> None:
    assert units.duration(units.shown_duration(thousandths / 1000)) == pytest.approx(thousandths / 1000)


@pytest.mark.parametrize(
    ("count", "shown"), [(0, "0 B"), (999, "999 B"), (1400, "1.4 kB"), (250_000, "250 kB"), (3e13, "30.0 TB")]
)
def test_sizes_for_people(count: float, shown: str) -> None:
    assert units.rough_size(count) == shown
