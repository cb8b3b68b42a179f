"""Retention: old versions are thinned out by rules, and nothing else changes."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from tests.archives import user_git
from tests.crawls import Webarc
from tests.histories import START, History, Page, metadata
from webarc.archive import times
from webarc.archive.document import render
from webarc.archive.retention import parse_keep
from webarc.archive.store import Archive
from webarc.archive.tombstones import tombstones
from webarc.archive.worktree import mend
from webarc.errors import UsageProblem
from webarc.sql.rows import VersionRow

# Two versions a day for ten days of January, then one a week, the last ones in March; a Monday is 2026-01-05.
MOMENTS = [f"2026-01-{day:02} {hour}:00:00" for day in range(1, 11) for hour in ("08", "20")]
MOMENTS += [f"2026-{month_day} 12:00:00" for month_day in ("01-20", "01-27", "02-03", "02-10", "03-01", "03-02")]


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    return Archive.create(tmp_path / "archive")


def site_of(archive: Archive, moments: list[str], domain: str = "example.org") -> History:
    """A page `a` with a version for each moment, and a page `b` that never changed."""
    site = History(archive, domain)
    for number, moment in enumerate(moments, 1):
        site.hours = int((times.parse(moment) - START) / timedelta(hours=1)) - 1
        site.crawl({"a": f"a{number}", **({"b": "b1"} if number == 1 else {})})
    with archive.lock_tree(domain):
        mend(site.repo)
    return site


def rows(moments: list[str], removed: int | None = None) -> list[VersionRow]:
    """Rows of one page as the index has them."""
    found = []
    for number, moment in enumerate(moments, 1):
        values = dict.fromkeys(VersionRow._fields, "")
        row = VersionRow(**values)._replace(number=number, crawl_time=moment, commit_tag=moment, removed_tag=None)
        found.append(row._replace(removed_tag="tag") if number == removed else row)
    return found


def numbers(webarc: Webarc, url: str) -> list[int]:
    found = webarc.run("log", "--json", url).objects()
    return sorted(row["number"] for row in found if "number" in row and "url" in row and "event" not in row)


# (rules, the numbers that stay)
RULES = [
    ("last=3", {24, 25, 26}),
    ("daily=3", {24, 25, 26}),
    ("daily=8", {18, 20, 21, 22, 23, 24, 25, 26}),
    ("hourly=7", {20, 21, 22, 23, 24, 25, 26}),
    ("weekly=4", {23, 24, 25, 26}),
    ("weekly=all", {8, 20, 21, 22, 23, 24, 25, 26}),
    ("monthly=2", {24, 26}),
    ("monthly=12", {22, 24, 26}),
    ("yearly=5", {26}),
    ("last=1,monthly=3", {22, 24, 26}),
    ("monthly=3,daily=1,last=2", {22, 24, 25, 26}),
]


@pytest.mark.parametrize(("rules", "staying"), RULES)
def test_the_newest_version_of_each_of_the_last_periods_stays(rules: str, staying: set[int]) -> None:
    assert parse_keep(rules).numbers(rows(MOMENTS)) == staying


def test_the_last_version_before_a_removal_stays() -> None:
    assert parse_keep("yearly=1").numbers(rows(MOMENTS, removed=7)) == {7, 26}


def test_weeks_are_those_of_the_calendar() -> None:
    around_new_year = ["2025-12-28 12:00:00", "2025-12-29 12:00:00", "2026-01-04 12:00:00", "2026-01-05 12:00:00"]
    assert parse_keep("weekly=9").numbers(rows(around_new_year)) == {1, 3, 4}


@pytest.mark.parametrize(
    "rules", ["", "daily", "daily=0", "daily=-1", "daily=x", "dayly=3", "daily=3,daily=4", "daily=3;"]
)
def test_rules_that_cannot_be_read_get_a_sentence(rules: str) -> None:
    with pytest.raises(UsageProblem, match="daily=30,monthly=12"):
        parse_keep(rules)


def test_rules_are_read_as_people_write_them() -> None:
    assert str(parse_keep(" Monthly = 12 , last=3,yearly=ALL")) == "last=3,monthly=12,yearly=all"


def test_it_shows_what_goes_and_takes_it_out(archive: Archive) -> None:
    webarc = Webarc(archive.root)
    site = site_of(archive, MOMENTS)
    before = [user_git(site.repo.folder, "show", f"main~{back}:a/data.html") for back in range(len(MOMENTS))]
    tip = site.repo.tip()
    ran = webarc.run("retain", "--keep", "monthly=12", "--dry-run", "--json")
    assert ran.result() == {"domain": "example.org", "versions": 27, "going": 23, "pages": 1, "size": 60}
    ran = webarc.run("retain", "--keep", "monthly=12")
    assert ran.code == 2 and "--yes" in ran.err and "example.org  27        4     23  1" in ran.out
    assert site.repo.tip() == tip
    ran = webarc.run("retain", "--keep", "monthly=12", "--yes")
    assert ran.code == 0, ran.err
    assert numbers(webarc, site.url("a")) == [22, 24, 26] and numbers(webarc, site.url("b")) == [1]
    assert len(site.repo.commits()) == len(MOMENTS) + 1
    for number in (22, 24, 26):
        assert user_git(site.repo.folder, "show", f"main~{len(MOMENTS) + 1 - number}:a/data.html") == before[-number]
    assert user_git(site.repo.folder, "status", "--porcelain") == ""
    user_git(site.repo.folder, "fsck", "--full")
    assert webarc.run("db-recover").code == 0
    assert numbers(webarc, site.url("a")) == [22, 24, 26]
    ran = webarc.run("retain", "--keep", "monthly=12", "--yes")
    assert ran.code == 0 and site.repo.commits()[-1].kind == "forget" and len(site.repo.commits()) == len(MOMENTS) + 1


def test_the_tombstones_of_one_rule_are_one(archive: Archive) -> None:
    webarc = Webarc(archive.root)
    site = site_of(archive, MOMENTS[:4])
    assert webarc.run("retain", "--keep", "daily=9", "--yes").code == 0
    (stone,) = tombstones(site.repo)
    assert (stone.numbers, stone.reason, stone.sha256s) == ((1, 3), "retain daily=9", ())
    site.hours = 24 * 40
    for number in (5, 6):
        site.crawl({"a": f"a{number}"})
    assert webarc.run("retain", "--keep", "daily=9", "--yes", "example.org").code == 0
    (stone,) = tombstones(site.repo)
    assert stone.numbers == (1, 3, 5)
    assert len(list((site.repo.folder / ".webarc" / "forgotten").iterdir())) == 1
    assert numbers(webarc, site.url("a")) == [2, 4, 6]
    assert webarc.run("forget", site.url("a"), "--version", "2", "--reason", "retain daily=9", "--yes").code == 0
    assert [each.numbers for each in tombstones(site.repo)] == [(1, 3, 5), (2,)]
    site.crawl({"a": "a7"})
    assert numbers(webarc, site.url("a")) == [4, 6, 7]


def test_one_domain_that_is_in_use_does_not_keep_the_others(archive: Archive) -> None:
    webarc = Webarc(archive.root)
    busy, free = site_of(archive, MOMENTS[:4]), site_of(archive, MOMENTS[:4], "other.example")
    with archive.lock_crawl("example.org"):
        ran = webarc.run("retain", "--keep", "last=1", "--yes", "--lock-wait", "0")
    assert ran.code == 12 and "example.org" in ran.err
    assert (len(tombstones(busy.repo)), len(tombstones(free.repo))) == (0, 1)
    ran = webarc.run("retain", "--keep", "last=1", "--yes", "nowhere.example")
    assert ran.code == 2 and "nowhere.example" in ran.err


def test_a_version_that_somebody_brought_back_by_hand_is_no_trouble(archive: Archive) -> None:
    site = site_of(archive, MOMENTS[:6])
    old = render(metadata(site.url("a"), Page("a2"), MOMENTS[1], "example.org"))
    site.commit({"a/data.xml": old, "a/data.html": b"a2"}, "back to the second", "")
    with archive.lock_tree("example.org"):
        mend(site.repo)
    webarc = Webarc(archive.root)
    ran = webarc.run("retain", "--keep", "last=1", "--yes")
    assert ran.code == 0, ran.err
    assert user_git(site.repo.folder, "status", "--porcelain") == ""
    user_git(site.repo.folder, "fsck", "--full")
