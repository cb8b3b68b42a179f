"""Every wait has an end: for locks, for other programs, at every stage of a crawl; and what is said of it is true."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from datetime import datetime
from pathlib import Path

import pytest

from bench.measure import descendants
from tests.crawls import Webarc
from tests.index_rows import DOMAIN, store
from tests.servers import Page, Site
from tests.test_always_ends import alive, held, slow_site, wait_for
from tests.test_joining import capture
from webarc import heartbeat, waiting
from webarc.archive.layout import domain_folder
from webarc.archive.store import Archive
from webarc.archive.times import CET
from webarc.crawler.capture import Committed, LeftOut, Order, Own
from webarc.crawler.channel import pair
from webarc.crawler.claims import claim, release
from webarc.crawler.control import CONTROL_TYPES, Control
from webarc.crawler.filtering import make_chain
from webarc.crawler.job import Result
from webarc.crawler.keeper import Keeper
from webarc.crawler.options import CrawlOptions
from webarc.crawler.outcome import look_up_commit, what_remains
from webarc.errors import Locked
from webarc.heartbeat import RESUMABLE, Heartbeats
from webarc.sql.index import Index


@contextmanager
def locked(file: Path) -> Iterator[None]:
    """A lock file that somebody else holds."""
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    try:
        yield
    finally:
        os.close(descriptor)


def index_lock(webarc: Webarc) -> Path:
    return webarc.archive / ".webarc" / "index.db.locks" / "write"


@contextmanager
def waiting_crawl(webarc: Webarc, site: Site, place: str, *options: str) -> Iterator[subprocess.Popen[str]]:
    """A crawl that waits for a lock: as it starts, to bring the index up to date, or to commit what it has fetched."""
    webarc.crawl("--depth", "0", site.url())
    if place == "index":
        (webarc.archive / ".webarc" / "index.db").unlink()
    asked = len(site.requests)
    with ExitStack() as stack:
        if place != "commit":
            lock = locked(index_lock(webarc)) if place == "index" else held(webarc, site, "tree")
            stack.enter_context(lock)
        running = webarc.start("crawl", *options, site.url())
        stack.callback(end, running)
        if place == "commit":
            wait_for(lambda: len(site.requests) - asked >= 4, "the crawl has not begun")
            stack.enter_context(held(webarc, site, "tree"))
        assert running.stderr is not None
        while "waiting: " not in (line := running.stderr.readline()):
            assert line, "it has ended without waiting"
        yield running


def end(running: subprocess.Popen[str]) -> None:
    for pid in descendants(running.pid):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    running.communicate()


# -- asked to end while a lock is waited for ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("place", "number"), [("start", signal.SIGINT), ("index", signal.SIGTERM), ("commit", signal.SIGTERM)]
)
def test_a_crawl_that_waits_for_a_lock_ends_when_it_is_told_to(webarc: Webarc, place: str, number: int) -> None:
    with slow_site(8) as site:
        with waiting_crawl(webarc, site, place) as running:
            family = sorted(descendants(running.pid))
            began = time.monotonic()
            os.kill(running.pid, number)
            out, _ = running.communicate(timeout=20)
            assert time.monotonic() - began < 5, "3 seconds, and some for a busy machine"
            assert (running.returncode, "stopped while " in out) == (13, True), out
            assert ("`webarc crawl --resume` goes on with it" in out) == (place == "commit"), out
            wait_for(lambda: not alive(family), "something lives on", 5)
        asked = len(site.requests)
        assert webarc.crawl("--resume", site.url())["counts"]["new"] == 8
        assert place != "commit" or len(site.requests) - asked < 5, "what had been fetched is not fetched again"


def test_a_signal_to_the_archive_side_alone_ends_its_wait(webarc: Webarc) -> None:
    with slow_site(8) as site, waiting_crawl(webarc, site, "commit") as running:
        os.kill(sorted(descendants(running.pid))[3], signal.SIGTERM)
        out, _ = running.communicate(timeout=20)
        assert (running.returncode, "stopped while the folder of" in out) == (13, True), out


@pytest.mark.parametrize(("place", "killed"), [("start", 2), ("commit", 2), ("commit", 3)])
def test_whoever_waits_for_a_lock_does_not_outlive_the_command(webarc: Webarc, place: str, killed: int) -> None:
    """The command, the process that the crawl was forked from, and perhaps the fetch side die at once."""
    with slow_site(8) as site, waiting_crawl(webarc, site, place) as running:
        family = sorted(descendants(running.pid))
        for pid in family[:killed]:
            os.kill(pid, signal.SIGKILL)
        wait_for(lambda: not alive(family), f"{alive(family)} of {family} live on", 5)


def test_a_stop_while_a_host_is_joined_is_heeded_and_a_host_that_cannot_be_joined_is_let_go_of(webarc: Webarc) -> None:
    pages: dict[str, Page | str] = {f"/{n}": Page("x", delay=0.5) for n in range(40)}
    with Site({"/": "x"}, host="127.0.0.2") as other, Site(pages) as site:
        site.pages["/"] = Page("", status=302, headers={"Location": other.url()})
        site.pages["/s"] = "".join(f"<a href=/{n}>x</a>" for n in range(40))
        webarc.crawl(other.url())
        with held(webarc, other, "tree"):
            running = webarc.start("crawl", "--allow-private", "--json", site.url(), site.url("/s"))
            try:
                wait_for(lambda: len(site.requests) > 8, "the crawl has not begun")
                archive = Archive.open(webarc.archive)
                wait_for(lambda: _is_free(archive, other.domain), "its crawl lock is held still", 10)
                assert running.poll() is None
                running.send_signal(signal.SIGTERM)
                out, err = running.communicate(timeout=20)
            finally:
                end(running)
        assert running.returncode == 13 and json.loads(out)["commitTag"], (out, err)


def _is_free(archive: Archive, domain: str) -> bool:
    try:
        with archive.lock_crawl(domain, wait=0):
            return True
    except Locked:
        return False


def test_a_domain_that_could_not_be_joined_is_there_for_others_of_the_run(tmp_path: Path) -> None:
    assert claim(tmp_path, DOMAIN) and not claim(tmp_path, DOMAIN)
    release(tmp_path, DOMAIN)
    assert claim(tmp_path, DOMAIN)


# -- --lock-wait ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("place", ["tree", "index"])
def test_a_lone_domain_waits_as_long_as_asked_and_not_twice(webarc: Webarc, place: str) -> None:
    with Site({"/": "x"}) as site:
        webarc.crawl(site.url())
        if place == "index":
            (webarc.archive / ".webarc" / "index.db").unlink()
        with locked(index_lock(webarc)) if place == "index" else held(webarc, site, place):
            began = time.monotonic()
            ran = webarc.run("crawl", "--json", "--lock-wait", "3s", site.url())
            assert (ran.code, ran.result()["errorClass"]) == (12, "Locked")
            assert 3 <= time.monotonic() - began < 6


def test_what_was_interrupted_in_a_busy_domain_holds_nobody_up(webarc: Webarc) -> None:
    with Site({"/": "x"}) as busy, Site({"/": "y"}, host="127.0.0.2") as site:
        webarc.crawl(busy.url())
        note = {"domain": busy.domain, "tag": f"x@{busy.domain}", "takedown": False, "everything": False}
        journal = webarc.archive / ".webarc" / "journal" / f"{domain_folder(busy.domain)}.forget"
        journal.write_text(json.dumps({**note, "arcs": {}, "blobs": [], "files": []}))
        with held(webarc, busy, "tree"):
            for command in (["crawl", "--lock-wait", "1s", site.url()], ["list", site.domain]):
                began = time.monotonic()
                ran = webarc.run(*command)
                assert ran.code == 0 and time.monotonic() - began < 8, ran.err
                assert "waiting: the folder of" in ran.err and "still to be forgotten, the next command" in ran.err
        assert webarc.run("list", busy.domain).code == 0 and not journal.exists()


def test_guests_that_are_locked_are_left_out_and_waited_for_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waiting, "_manner", waiting.Manner(1.0))
    archive = Archive.create(tmp_path / "archive")
    start = datetime(2026, 11, 15, 23, 50, tzinfo=CET)
    guests = [f"guest{number}.test" for number in range(3)]
    with archive.new_staging("own.test") as staging, ExitStack() as stack:
        keeper = Keeper(archive, staging.path, make_chain(CrawlOptions(filters=())), start)
        keeper.own(Own("own.test", archive.reserve("own.test", start)))
        for number, domain in enumerate([*guests, "own.test"]):
            row, _ = capture(archive, staging.path, number)
            place = staging.path / domain_folder("guest.test")
            place.rename(staging.path / domain_folder(domain))
            keeper.keep(row._replace(domain=domain))
        for domain in guests:
            stack.enter_context(locked(archive.locks / f"{domain_folder(domain)}.tree"))
        began = time.monotonic()
        events = list(keeper.commit([Order("own.test", (), (), "one")]))
        assert 1 <= time.monotonic() - began < 2, "one after the other they were waited for three times as long"
    left = [event for event in events if isinstance(event, LeftOut)]
    assert [(event.domain, event.captures) for event in left] == [
        (guests[n], ((f"http://guest.test/p{n}", False),)) for n in range(3)
    ]
    assert "is locked by" in left[0].reason
    assert [event.domain for event in events if isinstance(event, Committed) and event.commit] == ["own.test"]


def test_a_guest_that_is_locked_does_not_cost_the_crawl(webarc: Webarc) -> None:
    image = Page(b"\x89PNG\r\n\x1a\n", type="image/png")
    with Site({"/": "x", "/i.png": image}, host="127.0.0.2") as guest:  # noqa: SIM117 - the one names the other
        with Site({"/": f"<img src={guest.url('/i.png')}><a href=/b>b</a>", "/b": "b"}) as site:
            webarc.crawl(guest.url())
            options = ("--requisites-from-anywhere", "--allow-private", "--lock-wait", "1s")
            report = webarc.archive.parent / "report.json"
            with held(webarc, guest, "tree"):
                ran = webarc.run("crawl", "--json", "--report", report, *options, site.url())
            result = ran.result()
            assert (ran.code, bool(result["commitTag"]), result["counts"]["new"]) == (12, True, 2), ran.out
            assert f"what was fetched from {guest.domain} was left out: the folder of" in result["warnings"][0]
            rows = {row["url"]: row for crawl in json.loads(report.read_text())["crawls"] for row in crawl["urls"]}
            row = rows[guest.url("/i.png")]
            assert (row["outcome"], row["reason"]) == ("failed", "locked")
            assert webarc.crawl(*options, site.url())["counts"]["new"] == 1
            assert "i.png" in webarc.stored(guest.url())


# -- what others see ------------------------------------------------------------------------------------------


def test_status_tells_a_crawl_that_waits_from_one_that_stands_still(webarc: Webarc) -> None:
    with Site({"/": "x"}) as site, waiting_crawl(webarc, site, "index") as running:
        time.sleep(3.5)
        ran = webarc.run("status", WEBARC_CRAWL_STALL_TIMEOUT="3s")
        assert (ran.code, "Everything is well" in ran.out) == (0, True), ran.out
        os.kill(sorted(descendants(running.pid))[2], signal.SIGSTOP)
        time.sleep(3.5)
        ran = webarc.run("status", WEBARC_CRAWL_STALL_TIMEOUT="3s")
        assert (ran.code, f"{site.domain}: the crawl has not moved for" in ran.out) == (1, True), ran.out


def test_git_and_rsync_that_move_are_a_sign_of_movement(tmp_path: Path) -> None:
    sign = tmp_path / "sign"
    sign.touch()
    ours, _theirs = pair(CONTROL_TYPES)
    control = Control(ours, Heartbeats())
    control.show_movement(sign)

    def touched() -> bool:
        os.utime(sign, (0, 0))
        control._look(time.monotonic() + 60)
        control._sign_at = 0.0
        return sign.stat().st_mtime > 0

    with subprocess.Popen(["dd", "if=/dev/zero", "of=/dev/null", "bs=4k"], stderr=subprocess.DEVNULL) as copying:
        touched()
        time.sleep(0.05)
        assert touched(), "no step was counted, but bytes were copied"
        os.kill(copying.pid, signal.SIGSTOP)
        time.sleep(0.05)
        touched()
        assert not touched()
        copying.kill()


# -- what is said of a crawl that was ended -------------------------------------------------------------------


def test_what_is_said_of_a_crawl_that_was_ended_is_true(webarc: Webarc) -> None:
    with Site({"/": "<a href=/a>a</a>", "/a": "a"}) as site:
        tag = webarc.crawl(site.url())["commitTag"]
        beats, result = Heartbeats(), Result(site.domain)
        look_up_commit(webarc.archive, beats, result)
        assert (result.commit_tag, what_remains(result, beats)) == ("", f"nothing of {site.domain} was committed")
        beats.mark(RESUMABLE)
        assert what_remains(result, beats).endswith(", `webarc crawl --resume` goes on with it")
        beats.crawl_time = "2026-01-01T00:00:00"
        look_up_commit(webarc.archive, beats, result)
        assert result.commit_tag == ""
        beats.crawl_time = tag.partition("@")[0]
        look_up_commit(webarc.archive, Heartbeats(os.dup(beats.fileno())), result)
        assert (result.commit_tag, result.counts["new"], result.counts["fetched"]) == (tag, 2, 2)
        assert what_remains(result, beats) == f"what was whole is committed as {tag}"


@pytest.mark.parametrize("place", ["start", "commit"])
def test_a_crawl_that_is_killed_can_be_gone_on_with_only_if_it_had_begun(webarc: Webarc, place: str) -> None:
    with slow_site(8) as site, waiting_crawl(webarc, site, place) as running:
        os.kill(sorted(descendants(running.pid))[2], signal.SIGKILL)
        out, _ = running.communicate(timeout=10)
        more = ", `webarc crawl --resume` goes on with it" if place == "commit" else ""
        assert f"the crawl of {site.domain} was killed; nothing of {site.domain} was committed{more}.\n" in out


def test_an_archive_side_that_dies_at_the_commit_is_told_of_truly(webarc: Webarc) -> None:
    with slow_site(8) as site, waiting_crawl(webarc, site, "commit") as running:
        os.kill(sorted(descendants(running.pid))[3], signal.SIGKILL)
        out, _ = running.communicate(timeout=20)
        assert running.returncode == 1 and "the process that writes to the archive died.\n" in out, out
        assert f"nothing of {site.domain} was committed, `webarc crawl --resume` goes on with it." in out


# -- other programs at the index ------------------------------------------------------------------------------


@pytest.mark.parametrize("lock", ["IMMEDIATE", "EXCLUSIVE"])
def test_a_program_that_keeps_the_index_busy_is_waited_for_with_signs_of_life(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lock: str
) -> None:
    said: list[str] = []
    monkeypatch.setattr(waiting, "_manner", waiting.Manner(1.0, say=said.append))
    beats = Heartbeats()
    monkeypatch.setattr(heartbeat, "_mine", None)
    beats.use(0)
    with closing(Index.at(tmp_path / "index.db")) as index:
        store(index, ["a"], 1)
        with closing(sqlite3.connect(tmp_path / "index.db", isolation_level=None)) as other:
            other.execute(f"BEGIN {lock}")
            before, began = beats.counts()[0], time.monotonic()
            with pytest.raises(Locked, match="another program is writing to"):
                index.forget(DOMAIN)
            assert 1 <= time.monotonic() - began < 2 and beats.counts()[0] - before >= 4
            assert index.version_count(DOMAIN) == 1 and "another program is writing to" in said[0]
        index.forget(DOMAIN)
        assert index.version_count(DOMAIN) == 0
