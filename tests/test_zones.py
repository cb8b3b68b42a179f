"""Times as people see them: with their zone, in a zone of their choice, and understood the same when pasted back."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import available_timezones

import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from tests.crawls import Webarc
from tests.histories import History, Page
from webarc.archive import times
from webarc.archive.instants import instant, span
from webarc.archive.store import Archive
from webarc.archive.zones import shown, using
from webarc.cli.main import cli
from webarc.config.settings import load

# With half hours, a date line that was crossed, a summer time at midnight and one of half an hour, and none at all.
NAMES = (
    *("CET", "UTC", "Europe/Berlin", "Europe/London", "America/New_York", "Asia/Kolkata", "Pacific/Apia"),
    *("America/Sao_Paulo", "America/Havana", "Australia/Lord_Howe", "Africa/Casablanca", "Asia/Kathmandu"),
)
SECONDS = st.datetimes(datetime(1990, 1, 1), datetime(2037, 12, 31)).map(lambda moment: moment.replace(microsecond=0))


@contextmanager
def zone(name: str) -> Iterator[None]:
    with using(lambda: name):
        yield


@contextmanager
def clock_of(name: str) -> Iterator[None]:
    """The zone of the machine."""
    before = os.environ.get("TZ")
    os.environ["TZ"] = name
    time.tzset()
    try:
        yield
    finally:
        os.environ.pop("TZ")
        os.environ.update({"TZ": before} if before is not None else {})
        time.tzset()


@pytest.mark.parametrize(
    ("name", "stored", "seen"),
    [
        ("CET", "2026-07-15 23:50:00", "2026-07-15 23:50:00 CET"),
        ("UTC", "2026-11-15 23:50:00", "2026-11-15 22:50:00 UTC"),
        ("Europe/Berlin", "2026-11-15 23:50:00", "2026-11-15 23:50:00 CET"),
        ("Europe/Berlin", "2026-07-15 23:50:00", "2026-07-16 00:50:00 CEST"),
        ("Europe/London", "2026-11-15 23:50:00", "2026-11-15 22:50:00 GMT"),
        ("Europe/London", "2026-07-15 23:50:00", "2026-07-15 23:50:00 +01:00"),
        ("America/New_York", "2026-11-15 23:50:00", "2026-11-15 17:50:00 -05:00"),
        # The hour that comes twice.
        ("Europe/Berlin", "2026-10-25 01:30:00", "2026-10-25 02:30:00 CEST"),
        ("Europe/Berlin", "2026-10-25 02:30:00", "2026-10-25 02:30:00 CET"),
        # What is no time, or is none in that zone, is not made into something else.
        ("Europe/Berlin", "yesterday", "yesterday"),
        ("Europe/Berlin", "", ""),
        ("Europe/Berlin", "2026-13-45 99:99:99", "2026-13-45 99:99:99 CET"),
        ("Pacific/Kiritimati", "9999-12-31 23:59:59", "9999-12-31 23:59:59 CET"),
        ("America/New_York", "0001-01-01 00:00:00", "0001-01-01 00:00:00 CET"),
    ],
)
def test_a_time_is_shown_with_its_zone(name: str, stored: str, seen: str) -> None:
    with zone(name):
        assert shown(stored) == seen


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("2026-07-15 12:00", "2026-07-15 11:00:00", "2026-07-15 11:00:59"),
        ("2026-07-15 12:00 CET", "2026-07-15 12:00:00", "2026-07-15 12:00:59"),
        ("2026-07-15 12:00 CEST", "2026-07-15 11:00:00", "2026-07-15 11:00:59"),
        ("2026-07-15T12:00:00Z", "2026-07-15 13:00:00", "2026-07-15 13:00:00"),
        ("20260715120000", "2026-07-15 13:00:00", "2026-07-15 13:00:00"),
        ("2026-07-15", "2026-07-14 23:00:00", "2026-07-15 22:59:59"),
        # Days of 23 and 25 hours; the hour that is skipped, and the one that comes twice.
        ("2026-03-29", "2026-03-29 00:00:00", "2026-03-29 22:59:59"),
        ("2026-10-25", "2026-10-24 23:00:00", "2026-10-25 23:59:59"),
        ("2026-03-29 02:30", "2026-03-29 02:30:00", "2026-03-29 02:30:59"),
        ("2026-10-25 02:30", "2026-10-25 01:30:00", "2026-10-25 02:30:59"),
        ("yesterday", "2026-03-28 00:00:00", "2026-03-28 23:59:59"),
        ("today", "2026-03-29 00:00:00", "2026-03-29 22:59:59"),
        ("saturday 23:30", "2026-03-28 23:30:00", "2026-03-28 23:30:59"),
        ("3 hours ago", "2026-03-29 20:30:00", "2026-03-29 20:30:00"),
        ("last month", "2026-02-28 00:30:00", "2026-02-28 00:30:00"),
    ],
)
def test_a_time_without_a_zone_is_in_that_of_the_setting(text: str, first: str, last: str) -> None:
    now = times.parse("2026-03-29 23:30:00") if text != "last month" else times.parse("2026-03-28 00:30:00")
    if text in ("yesterday", "today", "saturday 23:30"):
        now = times.parse("2026-03-29 22:30:00")  # 23:30 in Berlin, where it is summer since that day
    with zone("Europe/Berlin"):
        assert times.text(instant(text, now=now)) == first
        assert times.text(instant(text, end=True, now=now)) == last


@given(SECONDS, st.sampled_from(NAMES), st.sampled_from(NAMES))
def test_what_is_shown_is_understood_the_same_whatever_the_zone(moment: datetime, name: str, other: str) -> None:
    stored = times.text(moment.replace(tzinfo=times.CET))
    with zone(name):
        seen = shown(stored)
        assert span(seen) == (stored, stored)
    with zone(other):
        assert span(seen) == (stored, stored)


@given(SECONDS, st.sampled_from(["Europe/Berlin", "America/New_York", "Asia/Kolkata", "<-03>3"]))
def test_what_is_shown_in_the_zone_of_the_machine_is_understood(moment: datetime, name: str) -> None:
    stored = times.text(moment.replace(tzinfo=times.CET))
    with clock_of(name), zone("local"):
        assert span(shown(stored)) == (stored, stored)


@given(SECONDS, st.sampled_from(NAMES))
def test_what_a_clock_shows_lies_within_what_it_means(moment: datetime, name: str) -> None:
    with zone(name):
        seen = shown(times.text(moment.replace(tzinfo=times.CET)))[:19]
        for text in (seen, seen[:16], seen[:13], seen[:10], seen[:7]):
            first, last = span(text)
            assert first <= times.text(moment.replace(tzinfo=times.CET)) <= last, text


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(available_timezones()))
def test_every_change_of_every_clock(name: str) -> None:
    """Each half hour around each change of the clock since 1970."""
    with zone(name):
        for stored in _around_changes(name):
            assert span(shown(stored)) == (stored, stored)
            first, last = span(shown(stored)[:16])
            assert first <= stored <= last


def _around_changes(name: str) -> Iterator[str]:
    from zoneinfo import ZoneInfo

    moment, there = datetime(1970, 1, 1, tzinfo=UTC), ZoneInfo(name)
    while moment.year < 2030:
        later = moment + timedelta(days=1)
        if moment.astimezone(there).utcoffset() != later.astimezone(there).utcoffset():
            yield from (times.text(moment + timedelta(minutes=30 * step)) for step in range(-4, 52))
        moment = later


@pytest.mark.parametrize("name", ["Europe/Nowhere", "../../etc/passwd", "Europe", "CEST", "", "a\nb", 5, "x" * 300])
def test_what_is_no_zone_is_named(tmp_path: Path, name: object) -> None:
    file = tmp_path / "c.toml"
    file.write_text(f"[times]\nzone = {name!r}\n" if isinstance(name, int) else f"[times]\nzone = {_toml(name)}\n")
    settings = load(file, {}, {})
    (warning,) = settings.warnings
    assert 'times.zone must be CET, local or a name such as "Europe/Berlin"' in warning
    assert settings["times.zone"] == "CET"


def _toml(text: object) -> str:
    return '"' + str(text).replace("\n", "\\n") + '"'


# -- the commands -------------------------------------------------------------------------------------------------

DOMAIN = "example.org"
# Before, in and after the hours that a clock in Berlin skips and shows twice.
CRAWLS = (
    *("2026-03-29 01:59:59", "2026-03-29 02:00:00", "2026-07-01 12:00:00"),
    *("2026-10-25 01:30:00", "2026-10-25 02:30:00", "2026-12-01 00:00:00"),
)


class Dated(History):
    """Crawls at those times."""

    def _next(self) -> str:
        self.hours += 1
        return CRAWLS[self.hours - 1]


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Archive:
    """A page with six versions, and one that is gone after four."""
    archive = Archive.create(tmp_path_factory.mktemp("zones") / "archive")
    site = Dated(archive, DOMAIN)
    for number in range(1, len(CRAWLS) + 1):
        pages: dict[str, Page | str] = {"": Page(f"<p>version {number} of this page", title="Home")}
        old: dict[str, Page | str] = {"old": Page(f"<p>something old, {number}")} if number < 5 else {}
        site.crawl(pages | old, ("old",) if number == 5 else ())
    return archive


def webarc(archive: Archive, *arguments: str, **environ: str) -> Result:
    """Run webarc as a user with nothing set up."""
    clean: dict[str, str | None] = dict.fromkeys(name for name in os.environ if name.startswith("WEBARC_"))
    settings = clean | {"HOME": "/nonexistent", "WEBARC_ARCHIVE": str(archive.root)} | environ
    return CliRunner().invoke(cli, arguments, env=settings)


def numbers(result: Result) -> list[int]:
    """The versions of the first page among the objects that were printed."""
    found = map(json.loads, result.stdout.splitlines())
    return [each["number"] for each in found if each["url"].endswith("/")]


@pytest.mark.parametrize("name", ["CET", "Europe/Berlin", "America/New_York"])
def test_a_printed_time_finds_its_version(archive: Archive, name: str) -> None:
    _, *rows = webarc(archive, "--zone", name, "log", f"{DOMAIN}/").stdout.splitlines()
    assert len(rows) == len(CRAWLS)
    for row in rows:
        number, *parts = row.split()[:4]
        moment = " ".join(parts)
        got = webarc(archive, "--zone", name, "get", f"{DOMAIN}/", "--at", moment)
        assert f"version {number} of" in got.stdout
        where = ("list", DOMAIN, "--where", f"crawlTime = '{moment}'", "--json")
        assert numbers(webarc(archive, *where, WEBARC_TIMES_ZONE=name)) == [int(number)]


def test_the_setting_rules_reading_and_printing_and_not_json(archive: Archive) -> None:
    berlin = {"WEBARC_TIMES_ZONE": "Europe/Berlin"}
    assert "2026-07-01 13:00:00 CEST" in webarc(archive, "log", f"{DOMAIN}/", **berlin).stdout
    assert "2026-07-01 12:00:00 CET" in webarc(archive, "log", f"{DOMAIN}/").stdout
    there, here = (webarc(archive, "log", f"{DOMAIN}/", "--json", **zone).stdout for zone in (berlin, {}))
    assert there == here and '"crawlTime": "2026-07-01 12:00:00"' in there
    # 12:30 is after the crawl on a clock that shows CET, and before it in Berlin.
    at = ("get", f"{DOMAIN}/", "--at", "2026-07-01 12:30")
    assert "version 3" in webarc(archive, *at).stdout
    assert "version 2" in webarc(archive, *at, **berlin).stdout
    assert "version 3" in webarc(archive, "--zone", "CET", *at, **berlin).stdout
    since = ("log", f"{DOMAIN}/", "--since", "2026-07-01 12:30", "--until", "2026-07-02", "--json")
    assert (numbers(webarc(archive, *since)), numbers(webarc(archive, *since, **berlin))) == ([], [3])
    where = ("list", DOMAIN, "--where", "crawlTime BETWEEN '2026-07-01 12:30' AND '2026-07-02'", "--json")
    assert (numbers(webarc(archive, *where)), numbers(webarc(archive, *where, **berlin))) == ([], [3])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["get", f"{DOMAIN}/", "--at", "2020"], "2021-01-01 00:59:59 CET"),
        (["get", f"{DOMAIN}/", "--at", "2026-03-01"], "not archived yet at 2026-03-01 23:59:59 CET"),
        (["get", f"{DOMAIN}/old"], "was removed at 2026-10-25 02:30:00 CET"),
        (["log", f"{DOMAIN}/", "--until", "2026-03-28"], "is of 2026-12-01 00:00:00 CET"),
        (["diff", f"{DOMAIN}/", "3", "4"], "version 3, 2026-07-01 13:00:00 CEST"),
        (["when", DOMAIN, "something old"], "appeared 2026-03-29 01:59:59 CET in version 1"),
        (["when", DOMAIN, "something old"], "page removed 2026-10-25 02:30:00 CET"),
        (["when", "version 3"], f"{DOMAIN}  1      0            2026-07-01 13:00:00 CEST\n"),
        (["when", "version 3", "--json"], '"commitTag": "2026-07-01T12:00:00@example.org"'),
        # Crawls are named by their commitTags, which are in CET.
        (["changes"], "2026-10-25T02:30:00@example.org  2026-12-01T00:00:00@example.org\n"),
        (["list"], "2026-12-01 00:00:00 CET"),
        (["list", DOMAIN], "2026-12-01 00:00:00 CET"),
        (["list", "--where", "number = 3"], "2026-07-01 13:00:00 CEST"),
        (["log", DOMAIN], "2026-07-01 13:00:00 CEST"),
        (["changes", DOMAIN, "2026-07-01 12:30", "-1"], "2026-03-29T02:00:00@example.org -> "),
        (["changes", DOMAIN, "2020-01-01", "-1"], "2020-01-01 23:59:59 CET"),
        (["changes", DOMAIN, "-4", "-3", "--html", "-"], "version 3 of 2026-07-01 13:00:00 CEST to version 4 of"),
        (["checkout", DOMAIN, "{new}", "--at", "2026-07-01"], "at 2026-07-01 23:59:59 CEST:"),
        (["checkout", DOMAIN, "{new}", "--at", "2020-07-01"], "at 2020-07-01 23:59:59 CEST; its first"),
        (["forget", f"{DOMAIN}/old", "--reason", "x"], "2026-10-25 02:30:00 CEST"),
    ],
)
def test_every_command_shows_the_zone(archive: Archive, tmp_path: Path, arguments: list[str], said: str) -> None:
    words = [word.replace("{new}", str(tmp_path / "new")) for word in arguments]
    assert said in webarc(archive, "--zone", "Europe/Berlin", *words).output


def test_a_zone_that_is_none_is_a_mistake(archive: Archive) -> None:
    ran = webarc(archive, "--zone", "Europe/Nowhere", "list")
    assert ran.exit_code == 2 and ran.stderr.count("\n") == 1 and "--zone must be CET, local or" in ran.stderr


def test_the_processes_of_a_crawl_know_the_zone(archive: Archive) -> None:
    india = {"WEBARC_TIMES_ZONE": "Asia/Kolkata"}
    with archive.lock_crawl("127.0.0.1:9"):
        ran = Webarc(archive.root).run("crawl", "--lock-wait", "0s", "http://127.0.0.1:9/", **india)
        assert ran.code == 12 and re.search(r"since \d{4}-\d\d-\d\d \d\d:\d\d:\d\d \+05:30\)", ran.out), ran.out
        assert "+05:30)" in webarc(archive, "status", **india).stdout
        assert " CET)" in webarc(archive, "status").stdout
