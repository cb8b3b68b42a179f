"""A disk that fills up while a crawl writes, at thirty different places."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from tests.crawls import Webarc
from tests.disks import small_file_system
from tests.servers import Page, Route, Site

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
