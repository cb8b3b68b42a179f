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
# How often one process of the crawl makes these calls; see the counts with `strace -f -c`. Which of several spellings
# of a call is used depends on the C library.
CALLS = {
    "rename,renameat,renameat2": range(1, 17),
    "link,linkat": range(1, 3),
    "unlink": range(1, 17),
    "unlinkat": range(1, 13),
    "rmdir": range(1, 6),
    "mkdir,mkdirat": range(1, 11),
    "chmod,fchmodat": range(1, 17, 2),
    "fchmod": range(1, 17, 2),
    "fsync": range(1, 5),
    "fdatasync": range(1, 5),
    "ftruncate": range(1, 10),
    "write": range(1, 32),
    "pwrite64": range(1, 109, 3),
    "openat": range(1, 600, 20),
}
POINTS = [(call, number) for call, numbers in CALLS.items() for number in numbers]
RENAME, MKDIR = "rename,renameat,renameat2", "mkdir,mkdirat"
A_FEW = [(RENAME, 1), (RENAME, 9), ("unlinkat", 2), ("fsync", 2), ("write", 10), ("pwrite64", 40)]
LINE = re.compile(r"(\d+)<(.*?)> (.*)")


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
    # Not with --seccomp-bpf, which is quicker: strace then injects nothing, and says nothing about it.
    tracer = ["strace", "-f", "-qq", "--decode-pids=comm", "-o", str(log), "-e", f"trace={call}"]
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
    return victim(log.read_text(errors="replace"))


def victim(log: str) -> str:
    """The process that was killed in a call; others are ended by webarc itself when they are not needed any more."""
    last: dict[str, str] = {}
    for process, name, said in (found.groups() for found in map(LINE.fullmatch, log.splitlines()) if found):
        if said.startswith("+++ killed by SIGKILL") and last.get(process, "").endswith(("= ?", "<unfinished ...>")):
            return name
        if not said.startswith("---"):
            last[process] = said
    return ""


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
    for call, number in ((RENAME, 3), (RENAME, 12), ("link,linkat", 1), ("unlink", 12)):
        webarc = Webarc(tmp_path / f"{call[:6]}-{number}" / "archive")
        shutil.copytree(stage.original.archive, webarc.archive, symlinks=True)
        victims.add(killed_crawl(stage, webarc, call, number))
    assert {"git", "rsync"} <= victims
