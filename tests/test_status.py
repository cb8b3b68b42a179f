"""`webarc status`: a glance at the archive that touches nothing."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.archives import user_git
from tests.crawls import Webarc
from tests.servers import Page, Site
from webarc.archive.staging import RESUMABLE
from webarc.archive.store import Archive


def status(webarc: Webarc, code: int = 0) -> dict[str, Any]:
    """What `webarc status --json` says, found out without git."""
    ran = webarc.run("status", "--json", PATH="/nonexistent")
    assert ran.code == code, (ran.out, ran.err)
    return ran.result()


@pytest.fixture
def crawled(webarc: Webarc) -> Iterator[tuple[Webarc, Site, Path]]:
    """An archive with one domain, the site, and its folder."""
    with Site({"/": "<a href=/a>a</a>", "/a": "<p>a"}) as site:
        webarc.crawl(site.url())
        yield webarc, site, webarc.folder(site.url())


def test_an_empty_archive_is_well(webarc: Webarc) -> None:
    Archive.create(webarc.archive)
    found = status(webarc)
    assert (found["well"], found["domains"], found["locks"], found["crawls"], found["remarks"]) == (True, 0, [], [], [])
    assert found["disk"]["free"] > 0 and not (webarc.archive / ".webarc" / "index.db").exists()
    missing = Webarc(webarc.archive.parent / "nowhere").run("status")
    assert missing.code == 2 and "webarc init" in missing.err and missing.err.count("\n") == 1


def test_a_quiet_archive_is_well(crawled: tuple[Webarc, Site, Path]) -> None:
    webarc, _, folder = crawled
    found = status(webarc)
    assert (found["well"], found["domains"], found["verified"], found["remarks"]) == (True, 1, 0, [])
    assert found["index"]["behind"] == 0 and found["index"]["size"] > 0
    packs = sum(path.stat().st_size for path in folder.glob(".git/objects/pack/*"))
    assert found["disk"]["history"] == packs > 0
    taken = subprocess.run(["du", "-s", "-B1", webarc.archive], capture_output=True, text=True, check=True).stdout
    # The archive folder itself is not in it.
    assert found["disk"]["allCounted"] and 0 < int(taken.split()[0]) - found["disk"]["taken"] <= 65_536
    assert webarc.run("verify").code == 0
    user_git(folder, "pack-refs", "--all")
    assert (status(webarc)["verified"], status(webarc)["index"]["behind"]) == (1, 0)
    words = webarc.run("status").out
    assert " taken, " in words and " of it history; " in words and ": nothing lost or altered\n" in words
    assert (
        str(webarc.archive) in words and "all found sound since 20" in words and words.endswith("Everything is well.\n")
    )


def test_an_index_that_is_behind_is_told_and_left(crawled: tuple[Webarc, Site, Path]) -> None:
    webarc, _, _ = crawled
    (webarc.archive / ".webarc" / "index.db").unlink()
    assert status(webarc)["index"]["behind"] == 1
    assert "behind in 1 of 1 domains" in webarc.run("status").out
    assert not (webarc.archive / ".webarc" / "index.db").exists()


def test_who_is_at_work_and_what_was_interrupted(crawled: tuple[Webarc, Site, Path]) -> None:
    webarc, site, _ = crawled
    site.pages["/a"] = Page("<p>slow", delay=60.0)
    crawl = webarc.start("crawl", site.url())
    while len(site.asked("/a")) < 2:
        time.sleep(0.02)
    found = status(webarc)
    (held,) = found["locks"]
    assert (held["domain"], held["lock"]) == (site.domain, "crawl") and "crawl" in held["command"]
    assert Path(f"/proc/{held['pid']}").exists() and held["since"].startswith("20")
    assert [(each["domain"], each["running"]) for each in found["crawls"]] == [(site.domain, True)]
    assert f"process {held['pid']}" in webarc.run("status").out
    for pid in [*children(crawl.pid), crawl.pid]:
        subprocess.run(["kill", "-9", str(pid)], check=False)
    crawl.communicate()
    while status(webarc)["locks"]:
        time.sleep(0.05)
    found = status(webarc)
    assert [(each["domain"], each["running"]) for each in found["crawls"]] == [(site.domain, False)]
    assert found["well"] and "--resume" in webarc.run("status").out


def children(pid: int) -> list[int]:
    """All processes that a process started, and those that they started."""
    listed = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True).stdout.split()
    return [below for child in map(int, listed) for below in (*children(child), child)]


def test_work_trees_that_do_not_show_main(crawled: tuple[Webarc, Site, Path]) -> None:
    webarc, site, folder = crawled
    site.pages["/a"] = "<p>new"
    webarc.crawl(site.url())
    user_git(folder, "update-ref", "refs/webarc/worktree", "main~1")
    (remark,) = status(webarc)["remarks"]
    assert "behind git" in remark["text"] and not remark["broken"] and remark["domain"] == site.domain
    user_git(folder, "checkout", "-q", "-b", "mine")
    (remark,) = status(webarc)["remarks"]
    assert "shows mine instead of main" in remark["text"] and not remark["broken"]


@pytest.mark.parametrize(("name", "content"), [("HEAD", "nonsense"), ("refs/heads/main", "nonsense"), ("HEAD", None)])
def test_a_broken_repository_is_told(crawled: tuple[Webarc, Site, Path], name: str, content: str | None) -> None:
    webarc, _, folder = crawled
    place = folder / ".git" / name
    place.unlink() if content is None else place.write_text(content)
    (remark,) = status(webarc, 11)["remarks"]
    assert remark["broken"] and "webarc verify --repair" in remark["text"]
    assert "Something is broken." in webarc.run("status").out


def test_a_broken_index_or_state_is_told_and_left(crawled: tuple[Webarc, Site, Path]) -> None:
    webarc, site, _ = crawled
    assert webarc.run("schedule", "add", "x", "--every", "1d", site.url()).code == 0
    for name in ("index.db", "state.db"):
        (webarc.archive / ".webarc" / name).write_bytes(b"garbage")
    remarks = [remark for remark in status(webarc, 11)["remarks"] if remark["broken"]]
    assert len(remarks) == 2 and "db-recover" in json.dumps(remarks)
    assert all((webarc.archive / ".webarc" / name).read_bytes() == b"garbage" for name in ("index.db", "state.db"))


def test_the_next_runs_and_whether_anybody_runs_them(crawled: tuple[Webarc, Site, Path]) -> None:
    webarc, site, _ = crawled
    for name, often in (("later", "2d"), ("soon", "1d")):
        assert webarc.run("schedule", "add", name, "--every", often, site.url()).code == 0
    found = status(webarc)
    assert [each["name"] for each in found["schedules"]] == ["soon", "later"] and not found["scheduler"]
    assert found["well"] and "webarc schedule run" in found["remarks"][0]["text"]
    runner = webarc.start("schedule", "run")
    while not (found := status(webarc))["scheduler"]:
        time.sleep(0.05)
    assert found["remarks"] == [] and found["locks"][0]["lock"] == "schedule"
    runner.send_signal(signal.SIGTERM)
    runner.communicate()


def test_interrupted_crawls_are_sorted_and_a_run_that_failed_is_told(webarc: Webarc) -> None:
    with Site({"/none": (404, {}, "gone")}) as site:
        archive = Archive.create(webarc.archive)
        for number, domain in enumerate(("b.org", "c.org", "a.org")):
            note = archive.staging / f"crawl-{number}" / RESUMABLE
            note.parent.mkdir(parents=True)
            note.write_text(json.dumps({"domain": domain, "began": "2026-11-15T12:00:00"}))
        assert [crawl["domain"] for crawl in status(webarc)["crawls"]] == ["a.org", "b.org", "c.org"]
        assert webarc.run("schedule", "add", "bad", "--every", "1s", site.url("/none")).code == 0
        while webarc.run("schedule", "run", "--once").code != 8:
            time.sleep(0.2)
    found = status(webarc)
    log = webarc.archive / ".webarc" / "log" / "schedule-bad.log"
    said = f"the last run of schedule bad ended with exit code 8; its output is in {log}"
    assert found["well"] and said in [remark["text"] for remark in found["remarks"]] and log.exists()


def test_a_schedule_whose_file_is_gone_is_told(crawled: tuple[Webarc, Site, Path], tmp_path: Path) -> None:
    webarc, site, _ = crawled
    urls = tmp_path / "urls.txt"
    urls.write_text(site.url())
    assert webarc.run("schedule", "add", "x", "--every", "1d", str(urls)).code == 0
    assert status(webarc)["well"]
    urls.unlink()
    (text,) = (remark["text"] for remark in status(webarc, 11)["remarks"] if remark["broken"])
    assert text.startswith(f"the schedule x: {urls} is missing; put it back")
    assert "Something is broken." in webarc.run("status").out


def test_damage_that_verify_finds_ends_what_was_said_of_soundness(crawled: tuple[Webarc, Site, Path]) -> None:
    webarc, _, folder = crawled
    assert webarc.run("verify").code == 0 and "all found sound since" in webarc.run("status").out
    page = folder / "a" / "data.html"
    page.rename(folder / "kept")
    assert webarc.run("verify").code == 11
    assert status(webarc)["verified"] == 0 and "none known to be sound" in webarc.run("status").out
    (folder / "kept").rename(page)
    assert webarc.run("verify").code == 0 and "all found sound since" in webarc.run("status").out


def test_nothing_from_the_web_reaches_the_terminal(crawled: tuple[Webarc, Site, Path]) -> None:
    webarc, _, folder = crawled
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/\x1b[2J\n")
    ran = webarc.run("status")
    assert "\x1b" not in ran.out and "\\x1b[2J" in ran.out


def test_a_repository_that_is_gone_is_told(crawled: tuple[Webarc, Site, Path]) -> None:
    webarc, site, folder = crawled
    shutil.rmtree(folder)
    (remark,) = status(webarc, 11)["remarks"]
    assert remark["broken"] and remark["domain"] == site.domain
    assert "its repository is gone" in remark["text"] and "db-recover" in remark["text"]
    assert webarc.run("db-recover").code == 0
    assert status(webarc)["remarks"] == []


@pytest.mark.parametrize(
    ("harm", "said"), [("packs", "history is gone"), ("objects", "history is gone"), ("one", "newest commit")]
)
def test_a_history_that_is_gone_is_told(crawled: tuple[Webarc, Site, Path], harm: str, said: str) -> None:
    webarc, site, folder = crawled
    site.pages["/a"] = "<p>new"
    webarc.crawl(site.url())
    packs = folder / ".git" / "objects" / "pack"
    if harm == "objects":
        shutil.rmtree(packs.parent)
    newest = max(path.stat().st_mtime_ns for path in packs.glob("*.pack")) if harm == "one" else 0
    for path in packs.glob("*.pack"):
        if path.stat().st_mtime_ns >= newest:
            path.unlink()
    (remark,) = status(webarc, 11)["remarks"]
    assert remark["broken"] and said in remark["text"] and "backup" in remark["text"]
    assert webarc.run("verify").code == 11


def test_loose_and_packed_commits_are_found(crawled: tuple[Webarc, Site, Path]) -> None:
    webarc, _, folder = crawled
    user_git(folder, "commit", "-q", "--allow-empty", "-m", "mine")
    assert status(webarc)["well"]
    user_git(folder, "repack", "-q", "-a", "-d")
    user_git(folder, "prune-packed")
    assert status(webarc)["well"] and not list(folder.glob(".git/objects/??/*"))
