"""The programs that are compared, each as one call: webarc's whole job, the shell script, and Scrapy's fetch alone."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from os import sync
from pathlib import Path

from bench.disk import fresh_disk
from bench.measure import Run, run
from bench.sites import cache

CONNECTIONS = 4
# 8: a page answered with an error (both documentation sites have dead links).
_ENDED_WELL = (0, 8)
_HERE = Path(__file__).parent


@contextmanager
def workplace() -> Iterator[Path]:
    """An empty file system beside the sites, removed at the end."""
    with fresh_disk(cache()) as folder:
        yield folder


def webarc(
    source: str | Path,
    archive: Path,
    *options: str,
    watch_memory: bool = False,
    on_sample: Callable[[int], None] | None = None,
    fine: tuple[int, ...] = _ENDED_WELL,
    program: str | Path = "webarc",
) -> Run:
    """The full job with webarc's default, durable settings."""
    command: list[str | Path] = [program, "-q", "--archive", archive, "crawl", "--depth", "inf", *options, source]
    sync()
    return run(command, watch_memory=watch_memory, on_sample=on_sample, fine=fine)


def peer(url: str, folder: Path) -> Run:
    """The same job as a shell script: wget2, rsync, git."""
    sync()
    return run([_HERE / "peer.sh", url, folder, str(CONNECTIONS)])


def scrapy(url: str) -> Run:
    """Fetching and link extraction only, nothing stored."""
    sync()
    return run([sys.executable, _HERE / "scrapy_spider.py", url, str(CONNECTIONS)])
