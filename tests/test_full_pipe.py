"""Nobody reads what webarc prints: the work is done all the same, reports are written, and the command ends."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.crawls import Webarc, environment
from tests.servers import Site
from tests.test_always_ends import slow_site, wait_for
from tests.test_schedule_ends import make_due

_SET_PIPE_SIZE = 1031


@contextmanager
def unread(webarc: Webarc, *arguments: str | Path) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """A command whose standard output and error are a pipe that is full; and the end of it where it can be read."""
    reader, writer = os.pipe()
    fcntl.fcntl(writer, _SET_PIPE_SIZE, 4096)
    os.write(writer, b"x" * 4096)
    command = [sys.executable, "-m", "webarc", "--archive", str(webarc.archive), *map(str, arguments)]
    running = subprocess.Popen(command, stdout=writer, stderr=writer, env=environment(), cwd=webarc.archive.parent)
    os.close(writer)
    try:
        yield running, reader
    finally:
        running.kill()
        running.wait()
        os.close(reader)


def is_whole(report: Path) -> bool:
    try:
        return bool(json.loads(report.read_text())["crawls"])
    except (OSError, ValueError):
        return False


def test_a_crawl_that_repeats_goes_on_and_writes_its_reports(webarc: Webarc, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    with Site({"/": "x"}) as site:
        with unread(webarc, "crawl", "--interval", "1s", "--report", report, site.url()) as (running, _):
            wait_for(lambda: len(site.asked("/")) >= 3, "nothing is crawled any more", 20)
            assert is_whole(report)
            running.terminate()
            assert running.wait(10) in (0, 13)
        assert len(webarc.commits(site.url())) >= 2


@pytest.mark.parametrize("told", [True, False])
def test_a_crawl_that_is_over_has_written_its_report_and_ends(webarc: Webarc, tmp_path: Path, told: bool) -> None:
    report = tmp_path / "report.json"
    options = () if told else ("--stall-timeout", "2s")
    with Site({"/": "x"}) as site, unread(webarc, "crawl", *options, "--report", report, site.url()) as (running, _):
        wait_for(lambda: is_whole(report), "the report waits for who reads the output", 20)
        time.sleep(0.5)
        assert running.poll() is None, "it waits for who reads the output"
        if told:
            running.terminate()
        assert running.wait(10) == 0
    assert len(webarc.commits(site.url())) == 1


def test_whoever_reads_late_gets_everything(webarc: Webarc) -> None:
    with Site({"/": "x"}) as site, unread(webarc, "crawl", site.url()) as (running, reader):
        wait_for(lambda: webarc.folder(site.url()).exists(), "nothing was committed")
        time.sleep(2.5)
        said = b"".join(iter(lambda: os.read(reader, 65536), b"")).decode()
        assert running.wait(10) == 0
        assert "commitTag" in said and f"@{site.domain}" in said


def test_a_stop_ends_a_crawl_whose_output_nobody_reads(webarc: Webarc) -> None:
    with slow_site() as site, unread(webarc, "crawl", site.url()) as (running, _):
        wait_for(lambda: len(site.requests) >= 30, "the crawl has not begun")
        running.terminate()
        assert running.wait(15) == 13
        assert len(webarc.commits(site.url())) == 1


def test_a_scheduler_whose_output_nobody_reads_runs_what_is_due(webarc: Webarc) -> None:
    with Site({"/": "x"}) as site:
        for name in "ab":
            webarc.run("schedule", "add", name, "--every", "1d", site.url())
        make_due(webarc)
        with unread(webarc, "schedule", "run", "--once") as (running, _):
            assert running.wait(20) == 0
        assert len(site.asked("/")) == 2
