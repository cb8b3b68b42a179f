"""The process that instances are forked from: begun or not, it serves, and it never outlives the command."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from bench.measure import descendants
from tests.crawls import ROOT, Webarc, environment
from tests.servers import Page, Site
from webarc.archive import times
from webarc.crawler.job import Job
from webarc.crawler.nursery import Instance, Nursery, _Server
from webarc.crawler.options import CrawlOptions
from webarc.errors import WebarcError

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


@contextmanager
def two_sites() -> Iterator[tuple[Site, Site]]:
    """The first one takes a moment."""
    with Site({"/": Page("x", delay=1)}, host="127.0.0.1") as one, Site({"/": "y"}, host="127.0.0.2") as two:
        yield one, two


@contextmanager
def stopped_nursery(webarc: Webarc, *urls: str) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """A crawl of one domain after the other whose fork server was stopped during the first one."""
    running = webarc.start("crawl", "--json", "--jobs", "1", *urls)
    server = _grown(running.pid, 5)[1]
    os.kill(server, signal.SIGSTOP)
    try:
        yield running, server
    finally:
        for pid in (server, running.pid):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        running.communicate()


def test_a_nursery_that_stands_still_is_replaced(webarc: Webarc) -> None:
    with two_sites() as (one, two), stopped_nursery(webarc, one.url(), two.url()) as (running, server):
        out, err = running.communicate(timeout=30)
        assert (running.returncode, out.count('"new": 1')) == (0, 2), err
        assert not _lives(server)


def test_a_nursery_that_stands_still_does_not_make_the_command_deaf(webarc: Webarc) -> None:
    with two_sites() as (one, two), stopped_nursery(webarc, one.url(), two.url()) as (running, server):
        assert running.stdout is not None and one.domain in running.stdout.readline()
        time.sleep(0.3)
        began = time.monotonic()
        running.terminate()
        out, err = running.communicate(timeout=30)
        assert (running.returncode, time.monotonic() - began < 3) == (13, True), err
        assert json.loads(out)["reason"] == "stopped" and not two.requests
        _gone(server)


@pytest.mark.parametrize("killed", [False, True])
def test_a_stopped_nursery_does_not_stay_behind(webarc: Webarc, killed: bool) -> None:
    with two_sites() as (one, _), stopped_nursery(webarc, one.url()) as (running, server):
        if killed:
            running.kill()
        running.communicate(timeout=30)
        _gone(server)


def test_an_answer_that_comes_late_is_for_nobody() -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    nursery = Nursery(_Server(ours, os.getpid()))
    with theirs:
        nursery.order(job("a.org"))
        nursery.order(job("b.org"))
        theirs.send(b"2 20")
        (begun,) = nursery.begun()
        assert begun[0].domain == "b.org" and isinstance(begun[1], Instance) and begun[1].process == 20
        begun[1].close()
        assert [each.domain for each in nursery.drop()] == ["a.org"]
        nursery.order(job("c.org"))
        theirs.send(b"1 10")
        theirs.send(b"3 30")
        ((third, at_work),) = nursery.begun()
        assert third.domain == "c.org" and isinstance(at_work, Instance) and at_work.process == 30
        at_work.close()
        nursery.order(job("d.org"))
        theirs.send(b"3 30")
        with pytest.raises(WebarcError, match="nobody had ordered"):
            nursery.begun()
        nursery.drop()
    ours.close()


def job(domain: str) -> Job:
    return Job(domain, (f"http://{domain}/",), CrawlOptions(), Path("/"), "", times.now(), frozenset())


def _gone(pid: int) -> None:
    until = time.monotonic() + 5
    while _lives(pid):
        assert time.monotonic() < until, "it stays behind"
        time.sleep(0.05)
