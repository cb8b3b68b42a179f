"""A crawl ends, and every page has its own title, links and bytes, whatever was done to the archive before it."""

from __future__ import annotations

import os
import random
import shutil
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from itertools import combinations
from pathlib import Path

import pytest

from bench.measure import descendants
from tests.crawls import Webarc
from tests.servers import Site

DEEP = ("--depth", "inf", "--stall-timeout", "none")
LONGEST = 60.0


class Generated:
    """A site of so many pages: each names the next two, and thirty others."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.random = random.Random(size)
        self.edition = dict.fromkeys(range(size), 0)
        self.site = Site(etags=True)
        for number in range(size):
            self.write(number)

    def write(self, number: int) -> None:
        following = [other for other in (2 * number + 1, 2 * number + 2) if other < self.size]
        others = [self.random.randrange(self.size) for _ in range(30)]
        links = "".join(f'<a href="{self.path(other)}">{other}</a>' for other in (*following, *others))
        self.site.pages[self.path(number)] = (
            f"<title>{self.title(number)}</title>{links}<p>{self.random.random()} {'text ' * 300}</p>"
        )

    def change(self) -> None:
        """A seventh of the pages say something else."""
        for number in self.random.sample(range(self.size), max(1, self.size // 7)):
            self.edition[number] += 1
            self.write(number)

    def title(self, number: int) -> str:
        return f"page {number}, edition {self.edition[number]}"

    @staticmethod
    def path(number: int) -> str:
        return f"/p{number}.html" if number else "/"

    def check(self, webarc: Webarc, rows: dict[str, dict[str, object]]) -> None:
        """Every page was reached by a link, and the archive has what the site has now."""
        expected = {self.site.url(self.path(number)): self.title(number) for number in range(self.size)}
        reached = {url for url, row in rows.items() if row["outcome"] in ("stored", "unchanged") and "mark" not in row}
        assert reached - {self.site.url("/robots.txt")} == set(expected)
        titles = {row["url"]: row["title"] for row in webarc.run("list", self.site.domain, "--json").objects()}
        assert titles == expected
        for number in range(self.size):
            arc = self.path(number).strip("/") or "%_"
            body = (webarc.folder(self.site.url()) / arc / "data.html").read_text()
            assert body == self.site.pages[self.path(number)]


def crawl(webarc: Webarc, site: Generated, *options: str) -> float:
    """The crawl whose outcome is checked; returns how long it took."""
    began = time.monotonic()
    rows = webarc.report(*options, *DEEP, site.site.url())
    seconds = time.monotonic() - began
    assert seconds < LONGEST
    site.check(webarc, rows)
    return seconds


def another_depth(webarc: Webarc, site: Generated) -> None:
    webarc.crawl("--depth", "1", "--stall-timeout", "none", site.site.url())


def one_page_alone(webarc: Webarc, site: Generated) -> None:
    webarc.crawl("--depth", "0", "--stall-timeout", "none", site.site.url("/p1.html"))


def cache_deleted(webarc: Webarc, site: Generated) -> None:
    shutil.rmtree(webarc.archive / ".webarc" / "cache", ignore_errors=True)


def index_deleted(webarc: Webarc, site: Generated) -> None:
    for file in (webarc.archive / ".webarc").glob("index.db*"):
        shutil.rmtree(file) if file.is_dir() else file.unlink()


def pages_changed(webarc: Webarc, site: Generated) -> None:
    site.change()


def folder_copied(webarc: Webarc, site: Generated) -> None:
    """An archive to which only the domain folders were copied."""
    kept = webarc.archive.with_name("kept")
    webarc.archive.rename(kept)
    webarc.archive.mkdir()
    for folder in kept.iterdir():
        if folder.name != ".webarc":
            folder.rename(webarc.archive / folder.name)
    shutil.rmtree(kept)


def interrupted(webarc: Webarc, site: Generated, number: int = signal.SIGTERM) -> None:
    asked = len(site.site.requests)
    running = webarc.start("crawl", "--json", *DEEP, site.site.url())
    until = time.monotonic() + LONGEST
    while len(site.site.requests) - asked < site.size // 2 and running.poll() is None and time.monotonic() < until:
        time.sleep(0.005)
    os.kill(running.pid, number)
    running.communicate(timeout=LONGEST)


def killed(webarc: Webarc, site: Generated) -> None:
    interrupted(webarc, site, signal.SIGKILL)
    with suppress(FileNotFoundError):
        time.sleep(1.5)  # what the command leaves behind ends by itself


STEPS: list[Callable[[Webarc, Generated], None]] = [
    another_depth,
    one_page_alone,
    cache_deleted,
    index_deleted,
    pages_changed,
    folder_copied,
    interrupted,
]
Steps = tuple[Callable[[Webarc, Generated], None], ...]
SUBSETS: list[Steps] = [some for count in range(len(STEPS) + 1) for some in combinations(STEPS, count)]


def run(archive: Path, size: int, steps: Steps) -> None:
    webarc, generated = Webarc(archive), Generated(size)
    with generated.site:
        crawl(webarc, generated)
        for step in steps:
            step(webarc, generated)
        crawl(webarc, generated)
        assert not descendants(os.getpid())[1:], "a process was left behind"


@pytest.mark.parametrize(
    "steps",
    [
        (one_page_alone, cache_deleted),
        (pages_changed, cache_deleted, another_depth),
        (index_deleted, pages_changed, interrupted, one_page_alone),
        (folder_copied, pages_changed, killed),
    ],
    ids=lambda steps: "-".join(step.__name__ for step in steps),
)
def test_a_few_combinations(tmp_path: Path, steps: Steps) -> None:
    run(tmp_path / "archive", 150, steps)


@pytest.mark.slow
@pytest.mark.timeout(400)
@pytest.mark.parametrize("number", range(len(SUBSETS)))
def test_every_combination(tmp_path: Path, number: int) -> None:
    steps = list(SUBSETS[number])
    random.Random(number).shuffle(steps)
    run(tmp_path / "archive", (50, 201, 401, 1173, 2000)[number % 5], tuple(steps))
