"""Schedules as people meet them: times with their zone, files that moved or are missing, runs that were skipped."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from tests.crawls import Ran, Webarc
from tests.servers import Site
from webarc.archive.store import Archive
from webarc.cli.main import cli
from webarc.sql.state import State


class Place:
    """An archive in a folder, with schedules."""

    def __init__(self, archive: Path) -> None:
        self.archive = archive

    def schedule(self, *arguments: str | Path, **environ: str) -> Result:
        """Run `webarc schedule` in this process, as a user with nothing set up."""
        clean: dict[str, str | None] = dict.fromkeys(name for name in os.environ if name.startswith("WEBARC_"))
        settings = clean | {"HOME": "/nonexistent"} | environ
        words = ["--archive", str(self.archive), "schedule", *map(str, arguments)]
        result = CliRunner().invoke(cli, words, env=settings)
        assert result.exit_code == 0, result.output
        return result

    def rows(self) -> list[dict[str, Any]]:
        """The schedules as machines get them."""
        return [json.loads(line) for line in self.schedule("list", "--json").stdout.splitlines()]

    def run_due(self, name: str, *options: str) -> Ran:
        """Run a schedule as if its time had come."""
        state = State.at(Archive(self.archive).state_file)
        state.skip(name, "2020-01-01 00:00:00", "", "2020-01-01 00:00:00")
        state.close()
        return Webarc(self.archive).run("schedule", "run", "--once", *options)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    (tmp_path / "place").mkdir()
    return Place(Archive.create(tmp_path / "place" / "archive").root)


@pytest.fixture
def new_york() -> Iterator[None]:
    before = os.environ.get("TZ")
    os.environ["TZ"] = "America/New_York"
    time.tzset()
    yield
    os.environ.pop("TZ")
    os.environ.update({"TZ": before} if before is not None else {})
    time.tzset()


@pytest.mark.usefixtures("new_york")
def test_cron_times_are_local_and_others_in_the_zone_of_the_setting(place: Place) -> None:
    india = {"WEBARC_TIMES_ZONE": "Asia/Kolkata"}
    added = place.schedule("add", "nightly", "--cron", "0 3 * * *", "https://e.org/", **india)
    assert " 03:00:00 -0" in added.stdout
    assert "+05:30, if" in place.schedule("add", "news", "--every", "6h", "https://e.org/", **india).stdout
    _, news, nightly = place.schedule("list", **india).stdout.splitlines()
    assert "every 6h" in news and "+05:30" in news
    assert "0 3 * * * local" in nightly and " 03:00:00 -0" in nightly
    # As it is stored, it is in CET.
    local = datetime.fromisoformat(nightly.partition("local")[2].partition("never")[0].strip().replace(" -", "-"))
    assert datetime.fromisoformat(f"{place.rows()[1]['next']}+01:00") == local
    environ = {**india, "HOME": "/nonexistent"}
    assert "03:00:00 -0" in CliRunner().invoke(cli, ["--archive", str(place.archive), "status"], env=environ).stdout


@pytest.mark.parametrize("moved", ["together", "alone", "the file inside"])
def test_files_are_found_again_when_the_archive_moves(place: Place, tmp_path: Path, moved: str) -> None:
    here = place.archive.parent
    urls = place.archive / "urls.txt" if moved == "the file inside" else here / "urls.txt"
    urls.write_text("https://e.org/\n")
    place.schedule("add", "n", "--every", "1d", f"--report={here}/last.json", urls)
    there = Place(tmp_path / "elsewhere" / "archive")
    if moved == "together":
        here.rename(there.archive.parent)
    else:
        there.archive.parent.mkdir()
        place.archive.rename(there.archive)
    found = {"together": there.archive.parent, "alone": here, "the file inside": there.archive}[moved] / "urls.txt"
    (row,) = there.rows()
    assert row["argv"][1] == str(found) and row["missing"] == []
    assert str(found) in there.schedule("crontab").stdout


def test_a_schedule_whose_archive_moved_with_its_file_runs(place: Place, tmp_path: Path) -> None:
    with Site({"/": "<p>one"}) as site:
        urls = place.archive.parent / "urls.txt"
        urls.write_text(site.url("/"))
        place.schedule("add", "n", "--every", "1d", urls)
        there = Place(place.archive.parent.rename(tmp_path / "elsewhere") / "archive")
        ran = there.run_due("n")
        assert ran.code == 0, ran.err
        assert "/" in site.targets()


def test_a_missing_file_is_told_in_the_list_and_in_the_outcome(place: Place) -> None:
    urls = place.archive.parent / "urls.txt"
    urls.write_text("https://e.org/\n")
    # A pattern that looks like a path is none.
    place.schedule("add", "n", "--every", "1d", "--exclude", "/calendar/", urls)
    assert " is missing" not in place.schedule("list").stdout
    urls.unlink()
    assert f"n: {urls} is missing; put it back" in place.schedule("list").stdout
    ran = place.run_due("n")
    assert ran.code == 2 and f"n: cannot run; {urls} is missing" in ran.err
    (row,) = place.rows()
    assert (row["exitCode"], row["missing"]) == (2, [str(urls)])
    assert f"{urls} is missing" in row["remark"] and row["lastEnd"]
    urls.write_text("https://e.org/\n")
    assert f"of its last run: {urls} is missing" in place.schedule("list").stdout


def test_a_run_whose_domain_is_crawled_by_others_is_skipped(place: Place) -> None:
    with Site({"/": "<p>one"}) as site:
        place.schedule("add", "n", "--every", "1d", site.url("/"))
        with Archive.open(place.archive).lock_crawl(site.domain):
            ran = place.run_due("n", "-q")
        assert ran.code == 12 and ran.out == ""
        (line,) = ran.err.splitlines()
        assert line.startswith(f"webarc: warning: n: skipped; {site.domain} is being crawled by process "), line
        assert site.targets() == []
        _, row, remark = place.schedule("list").stdout.splitlines()
        assert "never" in row
        assert remark.startswith("n: the run of 20") and " CET was skipped; " in remark
        assert f"{site.domain} is being crawled by process {os.getpid()} " in remark
        assert place.run_due("n").code == 0
        assert "skipped" not in place.schedule("list").stdout


def test_a_run_leaves_out_the_one_domain_that_is_busy(place: Place) -> None:
    with Site({"/": "<p>one"}) as free, Site({"/": "<p>two"}) as busy:
        place.schedule("add", "n", "--every", "1d", free.url("/"), busy.url("/"))
        with Archive.open(place.archive).lock_crawl(busy.domain):
            assert place.run_due("n").code == 12
        assert free.targets() and not busy.targets()
        assert "n: of its last run: others had a lock of a domain of it" in place.schedule("list").stdout
