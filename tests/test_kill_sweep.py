"""A crawl with new, changed and gone pages, killed at every step of its way to the disk.

Each point is a kind of system call and a number: the first process of the crawl (the command, the instance, the
archive side, git or rsync) that makes its so-many-th call of that kind is ended by `kill -9` right there.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.crawls import Webarc, environment
from tests.servers import Site

BEFORE = {"/": "".join(f"<a href=/p{n}>x</a>" for n in range(8)), **{f"/p{n}": f"<title>{n}</title>" for n in range(8)}}
AFTER = {
    **BEFORE,
    "/": "".join(f"<a href=/p{n}>x</a>" for n in range(12)),
    "/p1": "changed",
    "/p2": "<title>changed too</title>",
    **{f"/p{n}": f"<title>new {n}</title>" for n in range(8, 12)},
}
GONE = "/p3"
# How often one process of the crawl makes these calls; see the counts with `strace -f -c`.
CALLS = {
    "rename": range(1, 3),
    "renameat": range(1, 17),
    "link": range(1, 3),
    "unlink": range(1, 8),
    "unlinkat": range(1, 29),
    "rmdir": range(1, 7),
    "mkdir": range(1, 11),
    "mkdirat": range(1, 5),
    "fsync": range(1, 5),
    "fdatasync": range(1, 5),
    "ftruncate": range(1, 12),
    "write": range(1, 36),
    "pwrite64": range(1, 122, 3),
}
POINTS = [(call, number) for call, numbers in CALLS.items() for number in numbers]
A_FEW = [("rename", 1), ("renameat", 3), ("unlinkat", 2), ("fsync", 2), ("write", 9), ("pwrite64", 40)]
KILLED = re.compile(r"^\d+<(.*?)> \+\+\+ killed by SIGKILL", re.MULTILINE)


@dataclass(slots=True)
class Stage:
    """An archive after one crawl, to be copied, and the site as it is at the second."""

    original: Webarc
    site: Site
    blobs: dict[str, bytes]


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """Crawled once; the site has changed since."""
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed, so nothing can be killed in the middle of its work")
    webarc = Webarc(tmp_path_factory.mktemp("original") / "archive")
    with Site(BEFORE, etags=True) as site:
        webarc.crawl(site.url())
        site.pages.update(AFTER)
        site.pages[GONE] = (404, {}, "gone")
        paths = webarc.files(site.url())
        blobs = {path: webarc.git(site.url(), "cat-file", "blob", f"main:{path}") for path in paths}
        yield Stage(webarc, site, blobs)


def killed_crawl(stage: Stage, webarc: Webarc, call: str, number: int) -> str:
    """Crawl under a tracer that kills; returns the name of the process that died."""
    log = webarc.archive.parent / "log"
    tracer = ["strace", "-f", "-qq", "--seccomp-bpf", "--decode-pids=comm", "-o", str(log), "-e", f"trace={call}"]
    tracer += ["-e", f"inject={call}:signal=SIGKILL:when={number}"]
    crawl = [sys.executable, "-m", "webarc", "--archive", str(webarc.archive), "crawl", stage.site.url()]
    subprocess.run(
        [*tracer, *crawl],
        env=environment(),
        cwd=webarc.archive.parent,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        timeout=60,
        check=False,
    )
    found = KILLED.search(log.read_text(errors="replace"))
    return found[1] if found else ""


def check(stage: Stage, webarc: Webarc, call: str, number: int) -> None:
    """Kill a crawl, then use the archive as if nothing had happened."""
    shutil.copytree(stage.original.archive, webarc.archive, symlinks=True)
    url = stage.site.url()
    first = stage.original.git(url, "rev-parse", "main").decode().strip()
    if not killed_crawl(stage, webarc, call, number):
        pytest.skip(f"no process of the crawl came to its call {number} of {call}")
    shown = webarc.run("log", url)
    assert shown.code == 0 and "Traceback" not in shown.err, shown.err
    sound(webarc)
    assert {path: webarc.git(url, "cat-file", "blob", f"{first}:{path}") for path in stage.blobs} == stage.blobs
    again = webarc.run("crawl", url)
    assert again.code == 0 and "Traceback" not in again.err, (again.out, again.err)
    sound(webarc)
    expected = {path: body for path, body in AFTER.items() if path != GONE}
    assert len(webarc.stored(url)) == len(expected)
    assert {path: webarc.document(stage.site.url(path)) for path in expected} == {
        path: body.encode() for path, body in expected.items()
    }
    assert webarc.git(url, "status", "--porcelain") == b""
    assert list((webarc.archive / ".webarc" / "staging").iterdir()) == []


def sound(webarc: Webarc) -> None:
    """`verify` has nothing to say, and has nothing to repair."""
    verified = webarc.run("verify")
    assert verified.code == 0, (verified.out, verified.err)


@pytest.mark.parametrize(("call", "number"), A_FEW)
def test_a_few_points(stage: Stage, webarc: Webarc, call: str, number: int) -> None:
    check(stage, webarc, call, number)


@pytest.mark.slow
@pytest.mark.parametrize(("call", "number"), [point for point in POINTS if point not in A_FEW])
def test_every_point(stage: Stage, webarc: Webarc, call: str, number: int) -> None:
    check(stage, webarc, call, number)


def test_there_are_enough_points_and_git_and_rsync_are_among_those_killed(stage: Stage, tmp_path: Path) -> None:
    assert len(POINTS) >= 150
    victims = set()
    for call, number in (
        ("renameat", 2),
        ("mkdirat", 1),
        ("link", 1),
        ("ftruncate", 6),
        ("unlinkat", 15),
        ("mkdir", 6),
    ):
        webarc = Webarc(tmp_path / f"{call}-{number}" / "archive")
        shutil.copytree(stage.original.archive, webarc.archive, symlinks=True)
        victims.add(killed_crawl(stage, webarc, call, number))
    assert {"git", "rsync"} <= victims
