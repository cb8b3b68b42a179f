"""A crawl always ends: by signals to one or all of its processes, when one of them is killed or stands still."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from bench.measure import descendants
from tests.crawls import Webarc, environment
from tests.histories import History
from tests.servers import Page, Site
from webarc.archive.store import Archive

FAMILY = ("command", "fork server", "instance", "keeper", "reader")
SLOW = 0.15


def slow_site(pages: int = 200) -> Site:
    """A site that takes some seconds."""
    return Site(
        {"/": "".join(f"<a href=/{n}>{n}</a>" for n in range(pages))}
        | {f"/{n}": Page(f"<title>{n}</title>", delay=SLOW) for n in range(pages)}
    )


@contextmanager
def begun(webarc: Webarc, site: Site, *options: str, requests: int = 40) -> Iterator[subprocess.Popen[str]]:
    """A crawl that is under way; whatever becomes of it, nothing of it stays."""
    running = webarc.start("crawl", "--json", *options, site.url())
    try:
        wait_for(lambda: len(site.requests) >= requests, "the crawl has not begun")
        yield running
    finally:
        for pid in [*descendants(running.pid)]:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        running.communicate()


def wait_for(condition: object, complaint: str, seconds: float = 30) -> float:
    began = time.monotonic()
    while not condition():  # type: ignore[operator]
        assert time.monotonic() - began < seconds, complaint
        time.sleep(0.02)
    return time.monotonic() - began


def alive(pids: list[int]) -> list[int]:
    found = []
    for pid in pids:
        with suppress(OSError):
            if ") Z " not in Path(f"/proc/{pid}/stat").read_text():
                found.append(pid)
    return found


def next_crawl(webarc: Webarc, site: Site) -> dict[str, object]:
    """The next crawl starts at once, and afterwards all is sound; the site need not be slow any more."""
    for page in site.pages.values():
        if isinstance(page, Page):
            page.delay = 0
    result = webarc.crawl("--resume", "--lock-wait", "1s", site.url())
    assert webarc.run("verify").code == 0
    return result


# -- asked to end ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_to_the_command_stops_fetching_and_commits(webarc: Webarc, number: int) -> None:
    with slow_site() as site, begun(webarc, site) as running:
        os.kill(running.pid, number)
        time.sleep(3)
        asked = len(site.requests)
        out, err = running.communicate(timeout=20)
        assert (running.returncode, len(site.requests)) == (13, asked), err
        assert 30 < json.loads(out)["counts"]["new"] < 201
        assert len(webarc.commits(site.url())) == 1
        assert next_crawl(webarc, site)["complete"] is True


def test_sigterm_to_every_process_at_once_still_commits(webarc: Webarc) -> None:
    """As systemd stops a service: each process of the control group gets the signal, git and rsync, too."""
    with slow_site() as site, begun(webarc, site) as running:
        wait_for(lambda: len(descendants(running.pid)) >= len(FAMILY), "the family is not complete")
        for pid in descendants(running.pid):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)
        out, err = running.communicate(timeout=20)
        assert running.returncode == 13, err
        assert json.loads(out)["counts"]["new"] > 30
        assert len(webarc.commits(site.url())) == 1


@pytest.mark.parametrize("member", [2, 3, 4])
def test_sigterm_to_one_process_of_a_crawl_ends_the_whole_crawl(webarc: Webarc, member: int) -> None:
    with slow_site() as site, begun(webarc, site) as running:
        os.kill(sorted(descendants(running.pid))[member], signal.SIGTERM)
        out, err = running.communicate(timeout=20)
        assert running.returncode == 13, err
        assert json.loads(out)["reason"] == "stopped" and len(webarc.commits(site.url())) == 1


def test_asked_twice_it_ends_at_once_and_keeps_what_was_fetched(webarc: Webarc) -> None:
    site = slow_site()
    site.pages["/"] = "".join(f"<a href=/{n}>{n}</a>" for n in range(200))
    with site, begun(webarc, site) as running:
        family = sorted(descendants(running.pid))
        os.kill(running.pid, signal.SIGTERM)
        time.sleep(0.2)  # two at once may be one wish that came in two ways
        os.kill(running.pid, signal.SIGTERM)
        running.communicate(timeout=5)
        assert running.returncode == 13
        wait_for(lambda: not alive(family), "something lives on", 5)
        asked = len(site.requests)
        result = next_crawl(webarc, site)
        assert result["complete"] is True and len(site.requests) - asked < 201 - 20


# -- killed ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("member", range(5), ids=FAMILY)
def test_whoever_is_killed_nothing_outlives_it_and_the_next_crawl_starts(webarc: Webarc, member: int) -> None:
    with slow_site(60) as site, begun(webarc, site, requests=20) as running:
        wait_for(lambda: len(descendants(running.pid)) >= len(FAMILY), "the family is not complete")
        family = sorted(descendants(running.pid))
        os.kill(family[member], signal.SIGKILL)
        out, _ = running.communicate(timeout=40)
        # A crawl goes on without the process that it was forked from; without any other it cannot.
        assert (running.returncode == 0) == (member == 1), out
        wait_for(lambda: not alive(family), f"{alive(family)} of {family} live on", 5)
        assert next_crawl(webarc, site)["complete"] is True
        assert len(webarc.stored(site.url())) == 61


# -- standing still -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "member", [2, *(pytest.param(each, marks=pytest.mark.slow) for each in (3, 4))], ids=FAMILY[2:]
)
def test_a_process_that_stands_still_ends_the_crawl(webarc: Webarc, member: int) -> None:
    with slow_site() as site, begun(webarc, site, "--stall-timeout", "2s") as running:
        family = sorted(descendants(running.pid))
        os.kill(family[member], signal.SIGSTOP)
        out, _ = running.communicate(timeout=60)
        result = json.loads(out)
        assert (running.returncode, result["errorClass"], result["reason"]) == (1, "Stalled", "stalled"), out
        assert "did not move for 2 seconds" in result["error"]
        wait_for(lambda: not alive(family), "something lives on", 5)
        # Without the reader, what is whole can still be committed.
        assert bool(result["commit_tag" if "commit_tag" in result else "commitTag"]) == (member == 4)
        (report,) = (webarc.archive / ".webarc" / "log").glob("stall-*.txt")
        text = report.read_text()
        assert f"process {family[member]} (" in text and "state T" in text and "it does not answer" in text
        assert "in crawl" in text or member == 2, "the stack of the fetch side"
        assert next_crawl(webarc, site)["complete"] is True


def test_a_pause_that_is_planned_is_no_standstill(webarc: Webarc) -> None:
    with Site({"/": "<a href=/a>a</a>", "/a": "a"}) as site:
        result = webarc.crawl("--stall-timeout", "1s", "--wait", "3s", site.url())
        assert result["counts"]["new"] == 2


def test_a_server_that_asks_to_wait_and_one_that_takes_its_time_are_no_standstill(webarc: Webarc) -> None:
    busy = iter([Page("later", status=503, headers={"Retry-After": "3"}), Page("now")])
    with Site({"/": "<a href=/a>a</a><a href=/b>b</a>", "/a": lambda _: next(busy), "/b": Page("b", delay=3)}) as site:
        assert webarc.crawl("--stall-timeout", "1s", site.url())["counts"]["new"] == 3


def test_a_lock_that_is_waited_for_is_no_standstill(webarc: Webarc) -> None:
    with Site({"/": "x"}) as site:
        webarc.crawl(site.url())
        with held(webarc, site, "tree"):
            waiting = webarc.start("crawl", "--json", "--stall-timeout", "1s", "--lock-wait", "20s", site.url())
            time.sleep(4)
            assert waiting.poll() is None
        out, err = waiting.communicate(timeout=20)
        assert waiting.returncode == 0, (out, err)


# -- locks ----------------------------------------------------------------------------------------------------


@contextmanager
def held(webarc: Webarc, site: Site, purpose: str) -> Iterator[None]:
    """A lock of a domain that somebody else holds."""
    (file,) = (webarc.archive / ".webarc" / "locks").glob(f"*{site.port}.{purpose}")
    descriptor = os.open(file, os.O_RDWR)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    try:
        yield
    finally:
        os.close(descriptor)


@pytest.mark.parametrize("purpose", ["crawl", "tree"])
def test_a_lock_is_waited_for_as_long_as_asked_and_no_longer(webarc: Webarc, purpose: str) -> None:
    with Site({"/": "x"}) as site:
        webarc.crawl(site.url())
        with held(webarc, site, purpose):
            began = time.monotonic()
            ran = webarc.run("crawl", "--json", "--lock-wait", "1s", site.url())
            assert (ran.code, ran.result()["errorClass"]) == (12, "Locked")
            assert time.monotonic() - began < 6
        assert webarc.crawl(site.url())["counts"]["unchanged"] == 1


def test_the_tree_lock_at_the_commit_is_waited_for_as_long_as_asked(webarc: Webarc) -> None:
    site = slow_site(12)
    with site:
        webarc.crawl("--depth", "0", site.url())
        with begun(webarc, site, "--lock-wait", "1s", requests=6) as running, held(webarc, site, "tree"):
            out, _ = running.communicate(timeout=30)
            assert (running.returncode, json.loads(out)["errorClass"]) == (12, "Locked")
        asked = len(site.requests)
        assert next_crawl(webarc, site)["counts"]["new"] == 12  # type: ignore[index]
        assert len(site.requests) - asked < 6, "what had been fetched is not fetched again"


def test_a_domain_that_is_locked_gives_its_place_to_others_and_is_tried_again_at_the_end(webarc: Webarc) -> None:
    with Site({"/": "x"}) as locked, Site({"/": Page("y", delay=1.5)}, host="127.0.0.2") as free:
        webarc.crawl(locked.url())
        with held(webarc, locked, "crawl"):
            running = webarc.start("crawl", "--json", "--jobs", "1", "--lock-wait", "30s", locked.url(), free.url())
            assert running.stdout is not None
            first = json.loads(running.stdout.readline())
            assert (first["domain"], running.poll()) == (free.domain, None)
        out, _ = running.communicate(timeout=30)
        assert (running.returncode, json.loads(out)["domain"]) == (0, locked.domain)


def test_that_a_domain_is_waited_for_is_said_once_however_often_it_is_tried(webarc: Webarc) -> None:
    with Site({"/": "x"}) as locked, Site({"/": "z"}, host="127.0.0.3") as other, Site({"/": "y"}) as free:
        for site in (locked, other):
            webarc.crawl(site.url())
        with held(webarc, locked, "crawl"), held(webarc, other, "tree"):
            domains = (locked.url(), other.url(), free.url())
            ran = webarc.run("crawl", "--jobs", "1", "--lock-wait", "4s", *domains)
        assert ran.code == 12 and free.domain in ran.out
        assert ran.err.count(f"waiting: the crawl of {locked.domain} is locked") == 1, ran.err
        assert ran.err.count(f"waiting: the folder of {other.domain} is locked") == 1, ran.err


# -- the terminal ---------------------------------------------------------------------------------------------


def test_ctrl_z_stops_the_command_and_not_the_crawl(webarc: Webarc) -> None:
    with slow_site(60) as site, begun(webarc, site, requests=10) as running:
        os.kill(running.pid, signal.SIGSTOP)
        wait_for(lambda: len(site.requests) >= 61, "the crawl stood still", 20)
        wait_for(lambda: len(list(webarc.folder(site.url()).glob("*/data.xml"))) == 61, "no commit", 20)
        os.kill(running.pid, signal.SIGCONT)
        out, err = running.communicate(timeout=20)
        assert (running.returncode, json.loads(out)["counts"]["new"]) == (0, 61), err


def test_a_full_pipe_does_not_hold_up_the_next_domain(webarc: Webarc, tmp_path: Path) -> None:
    sites = [Site({"/": f"<title>{'x' * 90}</title>"}, host=f"127.0.0.{number}") for number in range(1, 5)]
    for site in sites:
        site.start()
    reader, writer = os.pipe()
    fcntl.fcntl(writer, 1031, 4096)
    os.write(writer, b"x" * 4096)
    try:
        command = [sys.executable, "-m", "webarc", "--archive", str(webarc.archive), "crawl", "--json", "--jobs", "1"]
        with subprocess.Popen(
            [*command, *(site.url() for site in sites)], stdout=writer, stderr=subprocess.DEVNULL, env=environment()
        ) as running:
            os.close(writer)
            wait_for(lambda: all(site.asked("/") for site in sites), "the full pipe holds up the crawl")
            wait_for(lambda: all(webarc.folder(site.url()).exists() for site in sites), "nothing was committed")
            assert len(os.read(reader, 4096)) == 4096
            lines = b"".join(iter(lambda: os.read(reader, 65536), b"")).splitlines()
        assert running.returncode == 0
        assert {json.loads(line)["domain"] for line in lines} == {site.domain for site in sites}
    finally:
        os.close(reader)
        for site in sites:
            site.stop()


def test_a_terminal_that_goes_away_or_is_blocked_kills_no_crawl(webarc: Webarc) -> None:
    with slow_site(40) as site:
        main, other = pty.openpty()
        command = [sys.executable, "-m", "webarc", "--archive", str(webarc.archive), "crawl", site.url()]
        running = subprocess.Popen(
            command, stdin=other, stdout=other, stderr=other, env=environment(TERM="xterm"), start_new_session=True
        )
        os.close(other)
        # Nobody reads the terminal: its buffer fills up.
        wait_for(lambda: len(site.requests) >= 20, "the crawl has not begun")
        while select.select([main], [], [], 0)[0] and os.read(main, 1024):
            pass
        os.close(main)
        assert running.wait(30) in (0, 1)
        assert len(webarc.stored(site.url())) == 41


# -- what others see ------------------------------------------------------------------------------------------


def test_status_names_a_crawl_that_does_not_move(webarc: Webarc) -> None:
    with slow_site() as site, begun(webarc, site) as running:
        assert "has not moved" not in webarc.run("status").out
        wait_for(lambda: len(descendants(running.pid)) >= len(FAMILY), "the family is not complete")
        os.kill(sorted(descendants(running.pid))[2], signal.SIGSTOP)
        time.sleep(3)
        ran = webarc.run("status", WEBARC_CRAWL_STALL_TIMEOUT="2s")
        assert f"{site.domain}: the crawl has not moved for" in ran.out and "Everything is well" not in ran.out


# -- long work that moves -------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_large_commit_is_no_standstill(webarc: Webarc) -> None:
    pages: dict[str, Page | str] = {
        f"/{number}": Page(os.urandom(20_000), type="application/octet-stream") for number in range(15_000)
    }
    pages["/"] = "".join(f"<a href=/{number}>x</a>" for number in range(15_000))
    with Site(pages, record=False) as site:
        ran = webarc.run("crawl", "--json", "--stall-timeout", "1s", "--connections", "16", site.url(), timeout=500)
        assert (ran.code, ran.result()["counts"]["new"]) == (0, 15_001), ran.err


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_rebuild_of_the_index_is_no_standstill(webarc: Webarc) -> None:
    with Site({"/": "x"}) as site:
        history = History(Archive.create(webarc.archive), site.domain)
        for edition in range(4):
            history.crawl({f"/{number}": f"{edition} {number}" for number in range(20_000)})
        began = time.monotonic()
        ran = webarc.run("crawl", "--json", "--stall-timeout", "2s", site.url(), timeout=500)
        assert (ran.code, ran.result()["counts"]["new"]) == (0, 1), ran.err
        assert time.monotonic() - began > 2, "the index took no time"


@pytest.mark.skipif(shutil.which("wget") is None, reason="wget is not installed")
def test_wget_that_waits_between_pages_is_no_standstill(webarc: Webarc) -> None:
    with Site({"/": "<a href=/a>a</a><a href=/b>b</a>", "/a": "a", "/b": "b"}) as site:
        options = ("--engine", "wget", "--stall-timeout", "1s", "--wait", "2s")
        assert webarc.crawl(*options, site.url())["counts"]["new"] == 3
