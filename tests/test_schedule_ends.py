"""How scheduled crawls end: asked to, by signals to some or all of their processes, or when the scheduler is killed."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from bench.measure import descendants
from tests.crawls import Webarc
from tests.servers import Site
from tests.test_always_ends import alive, begun, slow_site, wait_for
from webarc.archive.store import Archive
from webarc.sql.state import State

LONG_AGO = "2020-01-01 00:00:00"
# The scheduler, a crawl's command, fork server, instance, keeper and reader.
FAMILY = 6


def make_due(webarc: Webarc) -> None:
    """The time of every schedule has come."""
    state = State.at(Archive(webarc.archive).state_file)
    for each in state.list():
        state.skip(each.name, LONG_AGO, "", LONG_AGO)
    state.close()


@contextmanager
def scheduled(webarc: Webarc, site: Site, *options: str) -> Iterator[subprocess.Popen[str]]:
    """A scheduler whose crawl of a site is under way; whatever becomes of it, nothing of it stays."""
    assert webarc.run("schedule", "add", "n", "--every", "1d", *options, site.url()).code == 0
    make_due(webarc)
    running = webarc.start("schedule", "run")
    family: list[int] = []
    try:
        wait_for(lambda: len(site.requests) >= 40, "the crawl has not begun")
        wait_for(lambda: len(descendants(running.pid)) >= FAMILY, "the family is not complete")
        family = descendants(running.pid)
        yield running
    finally:
        for pid in {*family, *descendants(running.pid)}:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        running.communicate()


def log_of(webarc: Webarc) -> str:
    """What the crawl of the schedule said."""
    return (webarc.archive / ".webarc" / "log" / "schedule-n.log").read_text()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_stop_of_all_processes_at_once_commits_what_is_whole(webarc: Webarc, number: int) -> None:
    """As systemd stops a service: the crawl gets the signal from it, and the stop from the scheduler."""
    with slow_site(100) as site, scheduled(webarc, site) as running:
        for pid in descendants(running.pid):
            with suppress(ProcessLookupError):
                os.kill(pid, number)
        running.communicate(timeout=20)
        assert running.returncode == 13, log_of(webarc)
        assert len(webarc.commits(site.url())) == 1, log_of(webarc)


def test_asked_twice_the_scheduler_gives_its_crawls_up(webarc: Webarc) -> None:
    with slow_site(100) as site, scheduled(webarc, site) as running:
        family = descendants(running.pid)
        os.kill(running.pid, signal.SIGINT)
        time.sleep(0.2)
        os.kill(running.pid, signal.SIGINT)
        running.communicate(timeout=10)
        assert running.returncode == 13
        wait_for(lambda: not alive(family), "something lives on", 5)
        asked = len(site.requests)
        ran = webarc.run("schedule", "run", "--once")
        assert (ran.code, "n: was interrupted, goes on" in ran.err) == (0, True), log_of(webarc)
        assert len(webarc.stored(site.url())) == 101
        assert len(site.requests) - asked < 101 - 20


def test_nothing_outlives_a_scheduler_that_was_killed(webarc: Webarc) -> None:
    with slow_site(100) as site, scheduled(webarc, site) as running:
        family = descendants(running.pid)
        os.kill(running.pid, signal.SIGKILL)
        running.communicate()
        wait_for(lambda: not alive(family), f"{alive(family)} of {family} live on", 5)
        asked = len(site.requests)
        ran = webarc.run("schedule", "run", "--once")
        assert (ran.code, "n: was interrupted, goes on" in ran.err) == (0, True), log_of(webarc)
        assert len(webarc.stored(site.url())) == 101
        assert len(site.requests) - asked < 101 - 20


def test_what_a_killed_scheduler_left_is_not_crawled_while_others_do(webarc: Webarc) -> None:
    with slow_site(100) as site, scheduled(webarc, site) as running:
        os.kill(running.pid, signal.SIGKILL)
        running.communicate()
        with Archive.open(webarc.archive).lock_crawl(site.domain):
            ran = webarc.run("schedule", "run", "--once")
        assert ran.code == 12 and f"n: skipped; {site.domain} is being crawled by process {os.getpid()} " in ran.err
        # When it is due the next time, it goes on with what was there.
        make_due(webarc)
        ran = webarc.run("schedule", "run", "--once")
        assert ran.code == 0 and "goes on with the crawl that began" in log_of(webarc)


@contextmanager
def tree_held(webarc: Webarc, site: Site) -> Iterator[None]:
    """The folder of a domain is read, as by `webarc verify`."""
    (file,) = (webarc.archive / ".webarc" / "locks").glob(f"*{site.port}.tree")
    descriptor = os.open(file, os.O_RDWR)
    fcntl.flock(descriptor, fcntl.LOCK_SH)
    try:
        yield
    finally:
        os.close(descriptor)


def test_a_scheduled_crawl_waits_for_a_folder_that_is_read(webarc: Webarc) -> None:
    site = slow_site(12)
    with site:
        webarc.crawl("--depth", "0", site.url())
        webarc.run("schedule", "add", "n", "--every", "1d", site.url())
        make_due(webarc)
        with tree_held(webarc, site):
            running = webarc.start("schedule", "run", "--once")
            time.sleep(1.5)
            assert len(site.requests) == 2 and running.poll() is None, "it waits to begin"
        wait_for(lambda: len(site.requests) >= 6, "the crawl has not begun")
        with tree_held(webarc, site):
            wait_for(lambda: len(site.requests) >= 14, "not everything is asked for")
            time.sleep(1)
            assert running.poll() is None, "it waits to commit"
        running.communicate(timeout=20)
        assert running.returncode == 0, log_of(webarc)
        assert len(webarc.stored(site.url())) == 13


def test_a_scheduled_crawl_that_got_no_lock_at_its_commit_is_gone_on_with(webarc: Webarc) -> None:
    site = slow_site(12)
    with site:
        webarc.crawl("--depth", "0", site.url())
        webarc.run("schedule", "add", "n", "--every", "1d", "--lock-wait", "1s", site.url())
        make_due(webarc)
        running = webarc.start("schedule", "run", "--once")
        wait_for(lambda: len(site.requests) >= 6, "the crawl has not begun")
        with tree_held(webarc, site):
            running.communicate(timeout=20)
        assert running.returncode == 12
        assert "had a lock of a domain of it" in webarc.run("schedule", "list").out
        asked = len(site.requests)
        make_due(webarc)
        assert webarc.run("schedule", "run", "--once").code == 0, log_of(webarc)
        assert len(webarc.stored(site.url())) == 13
        assert len(site.requests) - asked < 6, "what had been fetched is not fetched again"


def test_ctrl_c_that_is_also_passed_on_as_sigterm_is_one_wish(webarc: Webarc) -> None:
    with slow_site() as site, begun(webarc, site) as running:
        os.kill(running.pid, signal.SIGINT)
        time.sleep(0.2)
        os.kill(running.pid, signal.SIGTERM)
        out, err = running.communicate(timeout=20)
        assert (running.returncode, json.loads(out)["reason"]) == (13, "stopped"), err
        assert len(webarc.commits(site.url())) == 1


def test_two_signals_at_once_are_one_wish_and_a_second_press_is_another(webarc: Webarc) -> None:
    with slow_site() as site, begun(webarc, site) as running:
        os.kill(running.pid, signal.SIGTERM)
        time.sleep(0.01)
        os.kill(running.pid, signal.SIGTERM)
        out, err = running.communicate(timeout=20)
        assert json.loads(out)["reason"] == "stopped", err
    site = slow_site()
    with site, begun(webarc, site, "--wait", "0.2s", requests=3) as running:
        os.kill(running.pid, signal.SIGINT)
        time.sleep(0.1)
        os.kill(running.pid, signal.SIGINT)
        out, err = running.communicate(timeout=20)
        assert (running.returncode, json.loads(out)["reason"]) == (13, "given up"), err


def test_a_killed_crawl_leaves_nothing_behind_for_good(webarc: Webarc, tmp_path: Path) -> None:
    elsewhere = tmp_path / "tmp"
    elsewhere.mkdir()
    staging = webarc.archive / ".webarc" / "staging"
    with slow_site(60) as site:
        running = webarc.start("crawl", "--report", tmp_path / "r.json", site.url(), TMPDIR=str(elsewhere))
        wait_for(lambda: len(site.requests) >= 10, "the crawl has not begun")
        family = descendants(running.pid)
        os.kill(running.pid, signal.SIGKILL)
        running.communicate()
        wait_for(lambda: not alive(family), "something lives on", 5)
        assert list(elsewhere.iterdir()) == [] and any(staging.iterdir())
        webarc.crawl("--resume", site.url())
    assert list(staging.iterdir()) == []
