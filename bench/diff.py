"""`webarc diff` and `webarc changes`: pages of 5 MB, easy and hard ones, and a site of 10,000 pages, beside git.

git compares the source, webarc the text that a reader sees; both words. On hard pages git is stopped after a minute.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from statistics import median

from bench import contenders
from bench.figures import Report, arguments
from bench.measure import Run, run
from bench.versions import DOMAIN, metadata
from webarc.archive import times
from webarc.archive.document import render
from webarc.archive.layout import arc_of
from webarc.archive.metadata import commit_tag
from webarc.archive.reports import CrawlRecord, crawl_paths, render_crawl
from webarc.archive.store import Archive

_START = datetime(2026, 1, 1, tzinfo=times.CET)
_PAGE = 5_000_000
_TARGET = 5.0
_PATIENCE = 60
_STOPPED = 124
_CHANGED, _MOVED = 500, 200


class Texts:
    """Made-up prose: few words are frequent, most are rare."""

    def __init__(self) -> None:
        self.random = Random(7)  # the same texts in every run
        self._words = ["".join(self.random.choices("abcdefghijklmnoprstuvwz", k=3 + n % 8)) for n in range(30_000)]
        self._weights = [1 / rank for rank in range(1, 30_001)]

    def prose(self, count: int) -> list[str]:
        """So many words."""
        return self.random.choices(self._words, self._weights, k=count)

    def edited(self, words: list[str], edits: int) -> list[str]:
        """The same words with some of them replaced."""
        words = list(words)
        for place in self.random.sample(range(len(words)), edits):
            words[place] = self.random.choice(self._words)
        return words


def store(archive: Archive, pages: dict[str, bytes | None], moment: datetime) -> None:
    """One crawl that found these pages new or changed, None gone; committed as crawls commit."""
    repo = archive.repository(DOMAIN)
    repo.create()
    tag = commit_tag(times.text(moment), DOMAIN)
    with repo.importer() as importer:
        for name, data in pages.items():
            arc = arc_of(f"https://{DOMAIN}/{name}")
            document = None if data is None else render(metadata(name, data, times.text(moment), tag))
            for file, content in (("data.html", data), ("data.xml", document)):
                if content is None:
                    importer.drop(f"{arc}/{file}")
                else:
                    importer.add_bytes(f"{arc}/{file}", content)
        # Without its report a crawl is not listed as one.
        record = CrawlRecord(tag, DOMAIN, times.text(moment), times.text(moment), "bench", True, "", {}, {}, ())
        importer.add_bytes(crawl_paths("bench")[0], render_crawl(record))
        importer.commit(repo.tip(), f"{tag}\n\nbenchmark\n\nWebarc-Kind: crawl\n", moment, tag)


def store_both(archive: Archive, old: dict[str, bytes | None], new: dict[str, bytes | None]) -> None:
    """Two crawls, and the index brought up to date."""
    store(archive, old, _START)
    store(archive, new, _START + timedelta(days=1))
    run(["webarc", "-q", "--archive", archive.root, "list"])


def page(words: list[str]) -> bytes:
    """Paragraphs of 40 words."""
    texts = (" ".join(words[start : start + 40]) for start in range(0, len(words), 40))
    return b"<!DOCTYPE html><title>page</title>\n" + "".join(f"<p>{text}.</p>\n" for text in texts).encode()


def line(words: list[str]) -> bytes:
    """All words in one line."""
    return b"<!DOCTYPE html><title>page</title><p>" + " ".join(words).encode()


def large_pages(texts: Texts) -> dict[str, tuple[bytes, bytes]]:
    """Pairs of pages of about 5 MB."""
    count = _PAGE * 4 // 25
    words = texts.prose(count)
    two = [texts.random.choices(("yes", "no"), k=_PAGE * 2 // 7) for _ in range(2)]
    return {
        "300 words changed": (page(words), page(texts.edited(words, 300))),
        "50,000 words changed": (page(words), page(texts.edited(words, 50_000))),
        "one line, 300 words changed": (line(words), line(texts.edited(words, 300))),
        "written anew": (page(words), page(texts.prose(count))),
        "two words in no order": (line(two[0]), line(two[1])),
    }


def site(texts: Texts, pages: int) -> tuple[dict[str, bytes | None], dict[str, bytes | None]]:
    """Pages of 600 words: 500 change in 30 words, 200 go and come under another name with 10 other words."""
    old: dict[str, bytes | None] = {}
    new: dict[str, bytes | None] = {}
    for number in range(pages):
        words = texts.prose(600)
        old[f"p{number}.html"] = page(words)
        if number < _CHANGED:
            new[f"p{number}.html"] = page(texts.edited(words, 30))
        elif number < _CHANGED + _MOVED:
            new |= {f"p{number}.html": None, f"moved{number}.html": page(texts.edited(words, 10))}
    return old, new


def by_git(folder: Path, pair: tuple[bytes, bytes]) -> Run:
    """git's word diff of the two sources."""
    names = ("old", "new")
    for name, data in zip(names, pair, strict=True):
        (folder / name).write_bytes(data)
    command = ["timeout", str(_PATIENCE), "git", "diff", "--no-index", "--word-diff", "--", *names]
    return run(command, cwd=folder, fine=(0, 1, _STOPPED))


def measure_pages(report: Report, folder: Path, texts: Texts, repeats: int) -> None:
    """Each pair with webarc and with git, in turn."""
    pairs = large_pages(texts)
    archive = Archive.create(folder / "pages")
    named = {f"{number}.html": pair for number, pair in enumerate(pairs.values())}
    store_both(
        archive, {path: old for path, (old, _) in named.items()}, {path: new for path, (_, new) in named.items()}
    )
    for (name, pair), path in zip(pairs.items(), named, strict=True):
        report.progress(name)
        command = ["webarc", "--archive", archive.root, "diff", f"https://{DOMAIN}/{path}"]
        ours, theirs = [], []
        for _ in range(repeats):
            ours.append(run(command).seconds)
            theirs.append(by_git(folder, pair))
        mine, git = median(ours), median(each.seconds for each in theirs)
        stopped = "at most " if any(each.code == _STOPPED for each in theirs) else ""
        note = f"git {git:.2f} s, ratio {stopped}{mine / git:.2f}"
        report.add(name, mine, "s", target=f"{_TARGET:.0f} or less", note=note)
    report.show("two versions of a page of 5 MB, start-up included")


def measure_site(report: Report, folder: Path, texts: Texts, pages: int, repeats: int) -> None:
    """The whole site between two crawls, beside git's own list with renames."""
    report.progress(f"a site of {pages} pages")
    archive = Archive.create(folder / "site")
    store_both(archive, *site(texts, pages))
    command = ["webarc", "--archive", archive.root, "changes", "--json", DOMAIN]
    seconds = median(run(command).seconds for _ in range(repeats))
    diff = ["git", "-C", archive.root / DOMAIN, "diff", "-M90%", "-l0", "--stat", "main~1", "main"]
    git = median(run(diff).seconds for _ in range(repeats))
    note = f"git diff -M --stat {git:.2f} s, ratio {seconds / git:.2f}"
    report.add(f"{pages:,} pages, {_CHANGED} changed", seconds, "s", target="10 or less", note=note)
    report.show("webarc changes, start-up included")


def main() -> None:
    """Large pages first, then the site."""
    parser = arguments(__doc__ or "")
    parser.add_argument("--pages", type=int, default=10_000)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    report = Report("What changed", options.json)
    texts = Texts()
    with contenders.workplace() as folder:
        measure_pages(report, folder, texts, options.repeats)
        measure_site(report, folder, texts, options.pages, options.repeats)


if __name__ == "__main__":
    main()
