"""A long history: 5,000 crawls of 200 pages, 20 of which changed each time, and how long it takes to get at any of it.

The commits are made as crawls make them, by one `git fast-import`; then the index is built and the repository packed.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from statistics import median

from bench import contenders
from bench.figures import Report, arguments
from bench.measure import folder_size, run
from bench.versions import DOMAIN, metadata
from webarc.archive import times
from webarc.archive.catalog import Catalog
from webarc.archive.document import render
from webarc.archive.fastimport import FastImport
from webarc.archive.importer import MAIN
from webarc.archive.layout import arc_of
from webarc.archive.metadata import commit_tag
from webarc.archive.repository import Repository
from webarc.archive.store import Archive
from webarc.archive.tags import tag_name
from webarc.archive.worktree import mend
from webarc.sql.index import Index

_START = datetime(2020, 1, 1, tzinfo=times.CET)
_EVERY = timedelta(hours=8)
_PAGE = f"https://{DOMAIN}/p7.html"
_WORDS = (
    "lorem",
    "ipsum",
    "dolor",
    "sit",
    "amet",
    "consectetur",
    "adipiscing",
    "elit",
    "sed",
    "do",
    "eiusmod",
    "tempor",
)


def make(repo: Repository, commits: int, pages: int, changing: int) -> int:
    """Write the history; returns how many versions it has."""
    running, versions = FastImport(repo.git_dir), 0
    for number in range(commits):
        moment = _START + number * _EVERY
        tag = commit_tag(times.text(moment), DOMAIN)
        who = f"webarc <webarc@localhost> {int(moment.timestamp())} +0100"
        running.send(f"commit {MAIN}\nmark :{number + 1}\ncommitter {who}\n".encode())
        running.send(_data(f"{tag}\n\nbenchmark\n\nWebarc-Kind: crawl\n".encode()))
        chosen = range(pages) if number == 0 else ((number * changing + each) % pages for each in range(changing))
        for page in chosen:
            _send_page(running, f"p{page}.html", number, times.text(moment), tag)
            versions += 1
        running.send(f"\ntag {tag_name(tag)}\nfrom :{number + 1}\ntagger {who}\n".encode(), _data(f"{tag}\n".encode()))
    running.finish()
    return versions


def _send_page(running: FastImport, name: str, number: int, moment: str, tag: str) -> None:
    text = " ".join(_WORDS[(number + at) % len(_WORDS)] for at in range(200))
    data = f"<title>{name}</title><p>{text}</p><p>crawl {number}</p>".encode()
    arc = arc_of(f"https://{DOMAIN}/{name}")
    for file, content in (("data.html", data), ("data.xml", render(metadata(name, data, moment, tag)))):
        running.send(f"M 100644 inline {arc}/{file}\n".encode(), _data(content))


def _data(content: bytes) -> bytes:
    return b"data %d\n%s\n" % (len(content), content)


def clock(repeats: int, call: Callable[[], object]) -> float:
    """The median time of a call."""
    taken = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        taken.append(time.perf_counter() - start)
    return median(taken)


def commands(report: Report, root: Path, repeats: int) -> None:
    """The commands that people type, start-up included, beside what git does by itself."""
    oldest = times.text(_START + timedelta(minutes=1))

    def webarc(*words: str) -> float:
        return clock(repeats, lambda: run(["webarc", "--archive", root, *words]))

    log = webarc("log", _PAGE)
    report.add("webarc log URL", log, "s", target="1 or less")
    path = f"{arc_of(_PAGE)}/data.xml"
    by_git = clock(repeats, lambda: run(["git", "-C", root / DOMAIN, "log", "--oneline", "main", "--", path]))
    report.add("git log PATH", by_git, "s", note=f"webarc takes {log / by_git:.2f} times that")
    report.add("webarc log -n 20 URL", webarc("log", "-n", "20", _PAGE), "s", target="1 or less")
    report.add("webarc get --at, the oldest", webarc("get", _PAGE, "--at", oldest), "s", target="1 or less")
    report.add("webarc list", webarc("list"), "s", target="1 or less")
    report.add("webarc list DOMAIN", webarc("list", DOMAIN), "s", target="1 or less")
    report.show("command line, start-up included")
    version = clock(repeats * 5, lambda: run(["webarc", "--version"]))
    click = clock(repeats * 5, lambda: run([sys.executable, "-c", "import click"]))
    report.add("webarc --version", version, "s")
    report.add("python -c 'import click'", click, "s")
    report.add("ratio", version / click, "", target="2 or less")
    report.show("start-up")


def library(report: Report, archive: Archive) -> None:
    """The same through the library, in a process that has read from the archive before."""
    index = Index.at(archive.index_file)
    with Catalog(archive, index) as catalog:
        when = _START + timedelta(minutes=1)
        catalog.read(catalog.page(_PAGE).newest())
        seconds = clock(21, lambda: catalog.read(catalog.page(_PAGE).at(when)))
        report.add("get --at of the oldest version", seconds * 1000, "ms", target="30 or less")
    cold = clock(5, lambda: _first_read(archive, when))
    report.add("the same, everything opened for it", cold * 1000, "ms", target="30 or less")
    index.close()
    report.show("library call")


def _first_read(archive: Archive, when: datetime) -> bytes:
    index = Index.at(archive.index_file)
    try:
        with Catalog(archive, index) as catalog:
            return catalog.read(catalog.page(_PAGE).at(when))
    finally:
        index.close()


def main() -> None:
    """Make the history, build the index, pack, and ask."""
    parser = arguments(__doc__ or "")
    parser.add_argument("--commits", type=int, default=5000)
    parser.add_argument("--pages", type=int, default=200)
    parser.add_argument("--changing", type=int, default=20)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    report = Report("A long history", options.json)
    with contenders.workplace() as folder:
        archive = Archive.create(folder / "archive")
        repo = archive.repository(DOMAIN)
        repo.create()
        report.progress(f"making {options.commits} commits")
        versions = make(repo, options.commits, options.pages, options.changing)
        with archive.lock_tree(DOMAIN):
            mend(repo)
        recovery = run(["webarc", "-q", "--archive", archive.root, "db-recover"])
        report.add("versions", versions)
        report.add("db-recover", versions / recovery.seconds, "versions/s", target="3,000 or more")
        compact = run(["webarc", "-q", "--archive", archive.root, "compact"])
        report.add("compact", compact.seconds, "s", note=f"{folder_size(repo.git_dir) / 1e6:.0f} MB after it")
        verify = run(["webarc", "-q", "--archive", archive.root, "verify"])
        report.add("verify", versions / verify.seconds, "versions/s")
        report.show(f"{options.commits:,} commits, {versions:,} versions")
        commands(report, archive.root, options.repeats)
        library(report, archive)


if __name__ == "__main__":
    main()
