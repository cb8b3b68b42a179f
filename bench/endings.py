"""Crawls after what once made a crawl hang, many times over: each must end, and soon.

The watchdog is off, so that it hides nothing. The first crawl of each archive is what the others are compared with:
none may take more than 1.5 times as long, plus a second.
"""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median

from bench import contenders
from bench.figures import Report, arguments
from bench.measure import run
from bench.part import part_of
from bench.sites import POSTGRESQL, Server, folder_of, serve

_FACTOR, _SECONDS = 1.5, 1.0
_WATCHDOG_OFF = ("--stall-timeout", "none")


class Crawls:
    """Crawls of one site into one archive."""

    def __init__(self, server: Server, archive: Path) -> None:
        self.archive = archive
        self._server = server

    def whole(self) -> float:
        """The whole site, as far as three links from its start; returns how long that took."""
        return self._crawl(POSTGRESQL.start, "3")

    def single(self) -> None:
        """One page of it alone."""
        self._crawl("release.html", "0")

    def _crawl(self, page: str, depth: str) -> float:
        options = ("--depth", depth, *_WATCHDOG_OFF, self._server.base + page)
        return run(["webarc", "-q", "--archive", self.archive, "crawl", *options], fine=(0, 8)).seconds


def one_page_alone(crawls: Crawls) -> None:
    """Another definition comes between."""
    crawls.single()


def cache_deleted(crawls: Crawls) -> None:
    """As the docs allow at any time."""
    shutil.rmtree(crawls.archive / ".webarc" / "cache")


def folders_copied(crawls: Crawls) -> None:
    """Only the domains' folders come along."""
    shutil.rmtree(crawls.archive / ".webarc")


SEQUENCES: tuple[Callable[[Crawls], None], ...] = (one_page_alone, cache_deleted, folders_copied)


def times(site: Path, between: Callable[[Crawls], None], repeats: int) -> Iterator[tuple[float, float]]:
    """A first crawl, what comes between, and the crawl that once hung."""
    with serve(site) as server, contenders.workplace() as folder:
        for number in range(repeats):
            crawls = Crawls(server, folder / f"archive-{number}")
            first = crawls.whole()
            between(crawls)
            yield first, crawls.whole()


def main() -> int:
    """Every sequence on a small site and on a larger one; 1 if a crawl took too long."""
    parser = arguments(__doc__ or "")
    parser.add_argument("--repeats", type=int, default=50)
    options = parser.parse_args()
    report = Report("Crawls that end", options.json)
    late = 0
    for site in (part_of(POSTGRESQL, 400), folder_of(POSTGRESQL)):
        pages = sum(file.is_file() for file in site.rglob("*"))
        for between in SEQUENCES:
            began = time.monotonic()
            pairs = list(times(site, between, options.repeats))
            first, again = median(pair[0] for pair in pairs), max(pair[1] for pair in pairs)
            late += sum(second > _FACTOR * first + _SECONDS for _, second in pairs)
            name = between.__name__.replace("_", " ")
            report.add(f"{name}: first crawl, median", first, "s", note=f"{len(pairs)} times")
            report.add(f"{name}: the crawl after it, slowest", again, "s", target=f"{_FACTOR * first + _SECONDS:.3g} s")
            report.progress(f"{pages} files, {name}: {time.monotonic() - began:.0f} s")
        report.show(f"{pages} files")
    report.remarks([f"{late} crawls took longer than they may."])
    return 1 if late else 0


if __name__ == "__main__":
    sys.exit(main())
