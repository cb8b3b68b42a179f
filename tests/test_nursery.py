"""The process that instances are forked from: begun or not, it serves, and it never outlives the command."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from bench.measure import descendants
from tests.crawls import ROOT, Webarc, environment
from tests.servers import Page, Site

PAGES = {"/": "<a href=/a>a</a>", "/a": "a"}


def slow_site() -> Site:
    return Site(
        {"/": "".join(f"<a href=/{n}>{n}</a>" for n in range(200))}
        | {f"/{n}": Page("x", delay=0.2) for n in range(200)}
    )


def test_a_command_line_that_did_not_begin_one_gets_one(tmp_path: Path) -> None:
    code = "from webarc.cli.main import cli; cli.main()"
    with Site(PAGES) as site:
        command = [sys.executable, "-c", code, "--archive", str(tmp_path / "archive"), "crawl", site.url()]
        done = subprocess.run(command, env=environment(), cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("\n") <= 1
    assert len(list((tmp_path / "archive").glob("*/a/data.xml"))) == 1


def test_nothing_is_loaded_from_the_folder_that_the_user_stands_in(tmp_path: Path) -> None:
    (tmp_path / "sqlite3.py").write_text("raise SystemExit('this is not the module')")
    code = "from webarc.cli.main import cli; cli.main()"
    with Site(PAGES) as site:
        command = [sys.executable, "-P", "-c", code, "--archive", str(tmp_path / "archive"), "crawl", site.url()]
        done = subprocess.run(command, env=environment(), cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, "this is not" in done.stderr) == (0, False), done.stderr


def test_many_domains_one_after_the_other(webarc: Webarc, tmp_path: Path) -> None:
    sites = [Site(PAGES, host=f"127.0.0.{number}") for number in range(1, 7)]
    for site in sites:
        site.start()
    try:
        ran = webarc.run("crawl", "--json", "--jobs", "2", *(site.url() for site in sites))
    finally:
        for site in sites:
            site.stop()
    assert ran.code == 0
    assert [result["counts"]["new"] for result in ran.objects()] == [2] * 6


def test_a_start_list_on_standard_input_is_read_by_the_command_alone(webarc: Webarc) -> None:
    with Site(PAGES) as site:
        assert webarc.run("crawl", "-", stdin=site.url()).code == 0
        assert webarc.stored(site.url()) == {"%_", "a"}


def test_nothing_goes_on_when_the_command_is_killed(webarc: Webarc) -> None:
    with slow_site() as site:
        running = webarc.start("crawl", site.url())
        family = _grown(running.pid, 5)
        while len(site.requests) < 60:
            time.sleep(0.02)
        os.kill(running.pid, signal.SIGKILL)
        running.communicate()
        until = time.monotonic() + 5
        while time.monotonic() < until and any(_lives(pid) for pid in family[1:]):
            time.sleep(0.1)
        assert not [pid for pid in family[1:] if _lives(pid)]
        # Nothing was committed, and nothing that was fetched is lost: the next crawl may go on with it at once.
        fetched = len(site.requests)
        result = webarc.crawl("--resume", "--lock-wait", "0s", site.url())
        assert result["counts"]["new"] == 201
        assert len(site.requests) < fetched + 201 - 30


def test_a_killed_nursery_leaves_a_running_crawl_alone(webarc: Webarc) -> None:
    with Site(
        {"/": "".join(f"<a href=/{n}>{n}</a>" for n in range(8))} | {f"/{n}": Page("x", delay=0.3) for n in range(8)}
    ) as site:
        running = webarc.start("crawl", "--json", site.url())
        family = _grown(running.pid, 5)
        os.kill(family[1], signal.SIGKILL)
        out, err = running.communicate()
    assert running.returncode == 0, err
    assert '"new": 9' in out


def test_a_killed_nursery_is_replaced(webarc: Webarc) -> None:
    sites = [Site({"/": Page("x", delay=0.5)}, host=f"127.0.0.{number}") for number in range(1, 5)]
    for site in sites:
        site.start()
    try:
        running = webarc.start("crawl", "--json", "--jobs", "1", *(site.url() for site in sites))
        os.kill(_grown(running.pid, 5)[1], signal.SIGKILL)
        out, err = running.communicate()
    finally:
        for site in sites:
            site.stop()
    assert running.returncode == 0, err
    assert out.count('"new": 1') == 4


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_descriptors_are_no_obstacle(tmp_path: Path, closed: str) -> None:
    with Site(PAGES) as site:
        line = f"{sys.executable} -m webarc --archive {tmp_path / 'archive'} crawl {site.url()} {closed}"
        done = subprocess.run(["sh", "-c", line], env=environment(), cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert len(list((tmp_path / "archive").glob("*/a/data.xml"))) == 1


def _grown(root: int, members: int) -> list[int]:
    """The processes of a crawl, as soon as all of them are there: command, nursery, instance, keeper, reader."""
    until = time.monotonic() + 20
    while len(family := descendants(root)) < members:
        assert time.monotonic() < until, "the crawl has not begun"
        time.sleep(0.02)
    return family


def _lives(pid: int) -> bool:
    with suppress(OSError):
        return ") Z " not in Path(f"/proc/{pid}/stat").read_text()
    return False
