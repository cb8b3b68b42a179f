"""`webarc when`: how long a phrase takes to find in 1,000 pages with 50 versions each, beside git's own searches.

The pages have about 30 kB. Each of the 50 crawls changes every page in three places: the day at the top, one
paragraph, and a counter at the end. A sentence is put into two pages and taken out again later.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import islice
from pathlib import Path
from random import Random
from statistics import median

from bench import contenders
from bench.figures import Report, arguments
from bench.measure import Run, folder_size, run
from bench.versions import DOMAIN, metadata
from webarc.archive import times
from webarc.archive.document import render
from webarc.archive.layout import arc_of
from webarc.archive.metadata import commit_tag
from webarc.archive.store import Archive
from webarc.diff.text import visible_text
from webarc.diff.textcache import cache_file

_START = datetime(2026, 1, 1, tzinfo=times.CET)
_PARAGRAPHS = 45
# Two words on two sides of a tag, which a search in the source cannot find.
_WRITTEN, _PHRASE = "The <b>quiet</b> harbour opens", "the quiet harbour opens"
_PHRASES = {"on two pages": _PHRASE, "on every page": "all rights reserved", "nowhere": "no such words"}
_TARGET = 5.0
_LARGE_PAGE = 5_000_000


class Site:
    """Pages that change a little with every crawl."""

    def __init__(self, pages: int) -> None:
        self._random = Random(7)  # the same site in every run
        self._words = ["".join(self._random.choices("abcdefghijklmnoprstuvwz", k=3 + n % 8)) for n in range(4000)]
        self._pages = [[self._paragraph() for _ in range(_PARAGRAPHS)] for _ in range(pages)]
        self._menu = "".join(f'<li class="item"><a href="/p{n}.html">{self._sentence(2)}</a></li>\n' for n in range(60))

    def crawl(self, number: int) -> Iterator[tuple[str, bytes]]:
        """Name and bytes of every page as this crawl finds it."""
        for page, paragraphs in enumerate(self._pages):
            paragraphs[self._random.randrange(_PARAGRAPHS)] = self._paragraph()
            if page % 500 == 3 and 10 <= number <= 40:
                paragraphs[5] = f"{_WRITTEN} {self._sentence(8)}." if number < 40 else self._paragraph()
            yield f"p{page}.html", self._html(page, number, paragraphs)

    def _html(self, page: int, number: int, paragraphs: list[str]) -> bytes:
        text = "\n".join(f'<p class="text" id="s{at}">{paragraph}</p>' for at, paragraph in enumerate(paragraphs))
        return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Page {page}</title>
<style>body {{ margin: 0 }} .text {{ color: #222 }}</style>
<script>window.config = {{"page": {page}, "nonce": "{number * 7919}"}}; if (1 < 2) {{ document.title += "" }}</script>
</head><body><header><b>Day {number}</b> of the year</header>
<nav><ul>
{self._menu}</ul></nav>
<main><h1>Page {page}</h1>
{text}
</main><footer>&copy; All rights <i>reserved</i>. Seen {number * 37 + page} times.</footer></body></html>
""".encode()

    def _paragraph(self) -> str:
        return " ".join(
            f'<a href="/p{n}.html">{self._sentence(3)}</a> {self._sentence(14)}, <em>{self._sentence(2)}</em>.'
            for n in range(5)
        )

    def _sentence(self, words: int) -> str:
        # Few words are frequent, most are rare.
        return " ".join(self._words[int(self._random.paretovariate(0.6)) % 4000] for _ in range(words))


def commit(archive: Archive, site: Site, number: int) -> None:
    """One crawl of the whole site, committed as crawls commit."""
    repo = archive.repository(DOMAIN)
    repo.create()
    moment = _START + timedelta(days=number)
    tag = commit_tag(times.text(moment), DOMAIN)
    with repo.importer() as importer:
        for name, data in site.crawl(number):
            arc = arc_of(f"https://{DOMAIN}/{name}")
            importer.add_bytes(f"{arc}/data.html", data)
            importer.add_bytes(f"{arc}/data.xml", render(metadata(name, data, times.text(moment), tag)))
        importer.commit(repo.tip(), f"{tag}\n\nbenchmark\n\nWebarc-Kind: crawl\n", moment, tag)


def search(archive: Path, phrase: str, *options: str) -> Run:
    """`webarc when` from the command line."""
    return run(["webarc", "-q", "--archive", archive, "when", "--json", *options, DOMAIN, phrase])


def by_git(archive: Path, *command: str) -> Run:
    """What git finds by itself, in the source of the pages."""
    return run(["git", "-C", archive / DOMAIN, *command], fine=(0, 1))


def grep_all(archive: Path, word: str) -> Run:
    """`git grep` over all commits; it is given a word, since it would not find the phrase."""
    commits = by_git(archive, "rev-list", "main").output.split()
    return by_git(archive, "grep", "-l", "-i", "-F", "-e", word, *commits)


def main() -> None:
    """Make the history, search it for the first time, again, and after one more crawl; then let git search."""
    parser = arguments(__doc__ or "")
    parser.add_argument("--pages", type=int, default=1000)
    parser.add_argument("--versions", type=int, default=50)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    report = Report("When a phrase appeared and disappeared", options.json)
    with contenders.workplace() as folder:
        archive = Archive.create(folder / "archive")
        site = Site(options.pages)
        for number in range(options.versions):
            if number % 10 == 0:
                report.progress(f"crawl {number} of {options.versions}")
            commit(archive, site, number)
        measure(report, archive, site, options.versions, options.repeats)
    measure_text(report, site)


def measure(report: Report, archive: Archive, site: Site, versions: int, repeats: int) -> None:
    """All figures for one archive."""
    root = archive.root
    run(["webarc", "-q", "--archive", root, "db-recover", "--json"])
    report.progress("searching for the first time")
    first = search(root, _PHRASE)
    hits = len(first.output.splitlines())
    report.add("first search", first.seconds, "s", note=f"reads every version; found on {hits} pages")
    target = f"{_TARGET:.0f} or less"
    for name, phrase in _PHRASES.items():
        seconds = median(search(root, phrase).seconds for _ in range(repeats))
        report.add(f"again, {name}", seconds, "s", target=target)
    commit(archive, site, versions)
    run(["webarc", "-q", "--archive", root, "log", "--json", "-n", "1", DOMAIN])
    report.add("after one more crawl", search(root, _PHRASE).seconds, "s", target=target, note="every page changed")
    report.progress("git")
    by_log = by_git(root, "log", "--oneline", "-S", _WRITTEN, "main").seconds
    report.add("git log -S", by_log, "s", note="the source as written, one thread")
    report.add("git grep, all commits", grep_all(root, "harbour").seconds, "s", note="the source, one word, all cores")
    report.show("command line, start-up included")
    cache = cache_file(archive, DOMAIN).stat().st_size
    report.add(
        "cache of texts", cache / 1e6, "MB", note=f"repository: {folder_size(root / DOMAIN / '.git') / 1e6:.0f} MB"
    )
    report.show("on disk")


def measure_text(report: Report, site: Site) -> None:
    """How long the text of one very large page takes."""
    page = b"".join(data for _, data in islice(site.crawl(0), _LARGE_PAGE // 30_000))[:_LARGE_PAGE]
    for name, data in {"pages in a row": page, "nested <div>": b"<div>" * (_LARGE_PAGE // 5)}.items():
        start = time.perf_counter()
        visible_text(data, "text/html", "utf-8")
        report.add(f"5 MB of {name}", time.perf_counter() - start, "s", target="1.5 or less")
    report.show("visible text of one page")


if __name__ == "__main__":
    main()
