"""A disk that fills up while a crawl writes, at thirty different places, and one that is full when somebody reads."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest

from tests.archives import finish, start
from tests.crawls import Webarc
from tests.disks import small_file_system
from tests.histories import History
from tests.servers import Page, Route, Site
from webarc.archive.store import Archive

SIZE = 24
# A crawl of the changed site writes each new page three times: to the temp dir, to git, and from the temp dir, page by
# page, to the work tree.
NEEDED = 2_700_000
LEVELS = [NEEDED * number // 30 for number in range(30)]
A_FEW = LEVELS[1::9]


def binary(seed: str) -> Page:
    """A page that cannot be compressed."""
    return Page(Random(seed).randbytes(30_000), type="application/octet-stream", etag=f'"{seed}"')


def hub(count: int) -> str:
    return "".join(f"<a href=/p{number}>x</a>" for number in range(count))


BEFORE: dict[str, Route] = {"/": hub(10), **{f"/p{number}": binary(f"old {number}") for number in range(10)}}
AFTER: dict[str, Route] = {
    "/": hub(45),
    **{f"/p{number}": binary(f"new {number}") for number in range(45)},
    "/p0": BEFORE["/p0"],
    "/p1": (404, {}, "gone"),
}


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A small file system."""
    with small_file_system(tmp_path / "disk", SIZE) as place:
        yield place


def fill(disk: Path, free: int) -> None:
    """Leave so many bytes free; what is already there stays."""
    status = os.statvfs(disk)
    with (disk / "filler").open("wb") as file:
        file.write(bytes(status.f_bavail * status.f_frsize - free))


def check(disk: Path, free: int) -> None:
    webarc = Webarc(disk / "archive")
    with Site(BEFORE, etags=True) as site:
        webarc.crawl(site.url())
        first = webarc.git(site.url(), "rev-parse", "main").decode().strip()
        before = {path: webarc.document(site.url(path), first) for path in BEFORE}
        site.pages.update(AFTER)
        fill(disk, free)
        ran = webarc.run("crawl", site.url())
        said = ran.out + ran.err
        assert ran.code == 3, (free, said)
        assert "full" in said and "Traceback" not in said, said
        subprocess.run(["mount", "-o", f"remount,size={SIZE * 3}m", str(disk)], check=True)
        webarc.crawl(site.url())
        assert {path: webarc.document(site.url(path), first) for path in BEFORE} == before
        pages = {path: page for path, page in AFTER.items() if isinstance(page, Page)}
        assert {path: webarc.document(site.url(path)) for path in pages} == {
            path: page.body for path, page in pages.items()
        }
        assert webarc.document(site.url("/p1")) is None
        verified = webarc.run("verify")
        assert verified.code == 0, verified.out + verified.err


@pytest.mark.parametrize("free", A_FEW)
def test_a_few_levels(disk: Path, free: int) -> None:
    check(disk, free)


@pytest.mark.slow
@pytest.mark.parametrize("free", [level for level in LEVELS if level not in A_FEW])
def test_every_level(disk: Path, free: int) -> None:
    check(disk, free)


# -- reading ------------------------------------------------------------------------------------------------------

READING = (("list",), ("log", "example.org/a"), ("get", "example.org/a"))


def fill_up(disk: Path) -> None:
    """Leave nothing at all."""
    with suppress(OSError), (disk / "filler").open("ab", buffering=0) as file:
        while True:
            file.write(bytes(1 << 16))


@pytest.fixture
def history(disk: Path) -> History:
    """A domain that is indexed up to its first crawl, and has a second one."""
    site = History(Archive.create(disk / "archive"))
    site.crawl({"a": "old"})
    assert Webarc(site.archive.root).run("list").code == 0
    site.crawl({"a": "new"})
    return site


def test_an_index_that_is_behind_is_read_as_it_stands(disk: Path, history: History) -> None:
    webarc = Webarc(history.archive.root)
    fill_up(disk)
    for words in READING:
        ran = webarc.run(*words)
        assert ran.code == 0 and "Traceback" not in ran.err and "internal" not in ran.err, (words, ran.err)
        assert "example.org: the index could not be brought up to date" in ran.err and "the disk is full" in ran.err
        assert ran.err.count("\n") == 1 and ran.out
    assert ran.out == "old"
    (disk / "filler").unlink()
    ran = webarc.run("get", "example.org/a")
    assert (ran.out, ran.err) == ("new", "")


WRITE_AND_DIE = """
import os, sqlite3, sys
index = sqlite3.connect(sys.argv[1])
index.execute("UPDATE version SET title = 'in the log'")
index.commit()
os._exit(0)
"""


def test_what_a_killed_process_wrote_to_the_index_is_read_as_well(disk: Path, history: History) -> None:
    index = history.archive.index_file
    finish(start(WRITE_AND_DIE, index))
    index.with_name("index.db-shm").unlink()
    assert index.with_name("index.db-wal").stat().st_size
    fill_up(disk)
    ran = Webarc(history.archive.root).run("log", "example.org/a")
    assert ran.code == 0 and "in the log" in ran.out, (ran.out, ran.err)


def test_several_read_a_full_disk_at_once(disk: Path, history: History) -> None:
    webarc = Webarc(history.archive.root)
    fill_up(disk)
    processes = [webarc.start("get", "example.org/a") for _ in range(4)]
    assert [process.communicate()[0] for process in processes] == ["old"] * 4
    assert [process.returncode for process in processes] == [0] * 4


def test_what_is_in_no_index_needs_room_and_the_rest_is_shown(disk: Path, history: History) -> None:
    webarc = Webarc(history.archive.root)
    History(history.archive, "other.org").crawl({"a": "other"})
    fill_up(disk)
    ran = webarc.run("list", "--json")
    assert ran.code == 3 and [row["domain"] for row in ran.objects()] == ["example.org"]
    assert "other.org: the disk is full, there is no room for the index" in ran.err
    for path in history.archive.internal.glob("index.db*"):
        path.unlink() if path.is_file() else shutil.rmtree(path)
    fill_up(disk)
    for words in READING:
        ran = webarc.run(*words)
        assert ran.code == 3 and "the disk is full" in ran.err and "internal" not in ran.err, (words, ran.err)


def test_status_of_a_full_disk_tells_of_no_damage(disk: Path, history: History) -> None:
    fill_up(disk)
    ran = Webarc(history.archive.root).run("status")
    assert ran.code == 0 and "Everything is well" in ran.out, (ran.out, ran.err)
