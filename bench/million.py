"""A generated site of a million URLs: how much memory each URL costs that the crawl knows of and has not fetched.

Every page links to a hundred others, so ten thousand pages make a million URLs known. The server counts which URLs it
has named, and the memory of the crawl's processes is sampled beside that count.
"""

from __future__ import annotations

import multiprocessing
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path

from bench import contenders
from bench.figures import Report, arguments
from bench.measure import Run
from bench.pages import serve

_URLS = 1_000_000
_LINKS = 100
# Starting the processes and filling the caches is no matter of URLs: what comes before this many is left out.
_SETTLED = 50_000
_STOPPED_BY_A_LIMIT = 13


class Site:
    """Pages 0 to 999,999; page n links to the pages 100 n + 1 to 100 n + 100, or to some known ones after the end."""

    def __init__(self, urls: int) -> None:
        self._urls = urls
        self._named = bytearray(urls)
        self.known: Synchronized[int] = multiprocessing.Value("l", 0)

    def page(self, target: str) -> bytes | None:
        """The page of one URL."""
        number = 0 if target == "/" else _number(target)
        if number is None or number >= self._urls:
            return None
        links = range(_LINKS * number + 1, _LINKS * number + _LINKS + 1)
        numbers = [link if link < self._urls else link * 7919 % self._urls for link in links]
        self._name(numbers)
        items = "".join(f'<li><a href="/page/of/the/generated/site/{link}.html">{link}</a>\n' for link in numbers)
        return f"<title>page {number}</title><ul>{items}</ul>".encode()

    def _name(self, numbers: list[int]) -> None:
        fresh = 0
        for number in numbers:
            if not self._named[number]:
                self._named[number] = 1
                fresh += 1
        self.known.value += fresh


def _number(target: str) -> int | None:
    name = target.rpartition("/")[2].removesuffix(".html")
    return int(name) if name.isdigit() else None


def slope(samples: list[tuple[int, int]]) -> float:
    """Bytes per known URL: the straight line that fits the samples best."""
    count = len(samples)
    mean_known = sum(known for known, _ in samples) / count
    mean_memory = sum(memory for _, memory in samples) / count
    over = sum((known - mean_known) * (memory - mean_memory) for known, memory in samples)
    under = sum((known - mean_known) ** 2 for known, _ in samples)
    return over / under if under else 0.0


def crawl(fetched: int, *, program: str | Path = "webarc") -> tuple[Run, int, list[tuple[int, int]]]:
    """Crawls until so many pages are fetched; gives the run, the known URLs, and the memory as they grew."""
    site = Site(_URLS)
    samples: list[tuple[int, int]] = []

    def sample(memory: int) -> None:
        samples.append((site.known.value, memory))

    with serve(site.page, ["127.0.0.1"]) as [url], contenders.workplace() as work:
        limit = ["--max-pages", str(fetched)]
        fine = (0, _STOPPED_BY_A_LIMIT)
        result = contenders.webarc(url, work / "archive", *limit, on_sample=sample, fine=fine, program=program)
    known = site.known.value
    return result, known, [pair for pair in samples if _SETTLED <= pair[0] < known]


def main() -> None:
    """Crawls until --max-pages stops it."""
    parser = arguments(__doc__ or "")
    parser.add_argument("--max-pages", type=int, default=10_200)
    options = parser.parse_args()
    report = Report("A million URLs", options.json)
    report.progress(f"crawling until {options.max_pages:,} pages are fetched")
    result, known, growing = crawl(options.max_pages)
    first, last = growing[0], growing[-1]
    report.add("known URLs", known, note=f"{options.max_pages:,} fetched in {result.seconds:.1f} s")
    report.add(f"memory at {first[0]:,} URLs", first[1] / 1e6, "MB")
    report.add(f"memory at {last[0]:,} URLs", last[1] / 1e6, "MB")
    report.add(
        "growth per known URL, first to last",
        (last[1] - first[1]) / (last[0] - first[0]),
        "bytes",
        target="at most 200",
    )
    report.add("growth per known URL, fitted line", slope(growing), "bytes", target="at most 200")
    report.add("peak memory of the process tree", result.peak_memory / 1e6, "MB")
    report.show("memory per known URL")


if __name__ == "__main__":
    main()
