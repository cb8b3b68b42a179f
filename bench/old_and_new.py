"""Two trees of webarc in alternating rounds: is the new one slower than the old one, or does it need more memory?

    python -m bench.old_and_new ../old-tree --rounds 9

The old tree is a clone with a `.venv` (`make lint` makes one). A median counts as worse if it is more than 5 % higher
and no round of the new tree was as low as some round of the old one.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import median

from bench import contenders, latency, million, pages
from bench.figures import Report, arguments
from bench.sites import SITES, Site, folder_of, serve

_ALLOWED = 1.05
_FETCHED = 10_200
_MEGABYTE = 1e6
# Figures of one measurement: name and value.
Figures = Iterator[tuple[str, float]]
# A figure in each round of the old tree, and of the new one.
Rounds = tuple[list[float], list[float]]
Measure = Callable[[Path], Figures]


def full_job(site: Site, program: Path) -> Figures:
    """A first crawl, and a second one of the unchanged site."""
    with serve(folder_of(site)) as server, contenders.workplace() as work:
        url = server.base + site.start
        for crawl in ("first crawl", "second crawl"):
            yield f"{site.name}, {crawl}, s", contenders.webarc(url, work / "archive", program=program).seconds


def memory(site: Site, program: Path) -> Figures:
    """The most memory that the process tree held at once in a first crawl."""
    with serve(folder_of(site)) as server, contenders.workplace() as work:
        url, archive = server.base + site.start, work / "archive"
        peak = contenders.webarc(url, archive, program=program, watch_memory=True).peak_memory
        yield f"{site.name}, peak memory, MB", peak / _MEGABYTE


def slow_servers(program: Path) -> Figures:
    """The crawls of `bench.latency`."""
    for name, count, options in latency.CRAWLS:
        with pages.serve(latency.page, latency.HOSTS[:count], latency.DELAY) as urls:
            yield f"latency, {name}, s", latency.seconds(urls, *options, program=program)


def a_million(program: Path) -> Figures:
    """The crawl of `bench.million`."""
    result, _, growing = million.crawl(_FETCHED, program=program)
    yield "million, time, s", result.seconds
    yield "million, memory for each URL, bytes", million.slope(growing)
    yield "million, peak memory, MB", result.peak_memory / _MEGABYTE


def measures() -> dict[str, Measure]:
    """What can be measured, by name."""
    found: dict[str, Measure] = {"latency": slow_servers, "million": a_million}
    for site in SITES.values():
        found[site.name] = lambda program, site=site: full_job(site, program)  # type: ignore[misc]
        found[f"{site.name}-memory"] = lambda program, site=site: memory(site, program)  # type: ignore[misc]
    return found


def rounds(measure: Measure, programs: Sequence[Path], count: int, report: Report) -> dict[str, Rounds]:
    """Old and new take turns in going first."""
    found: dict[str, Rounds] = {}
    for number in range(count):
        report.progress(f"round {number + 1} of {count}")
        for side in (0, 1) if number % 2 else (1, 0):
            for name, value in measure(programs[side]):
                found.setdefault(name, ([], []))[side].append(value)
    return found


def is_worse(before: list[float], after: list[float]) -> bool:
    """More than 5 % beyond what chance explains."""
    return median(after) > _ALLOWED * median(before) and min(after) > max(before)


def main() -> int:
    """Every measurement, or those that are named; 1 if one of them is worse."""
    parser = arguments(__doc__ or "")
    parser.add_argument("old", type=Path, help="a clone of the tree to compare with")
    parser.add_argument("--new", type=Path, default=Path(sys.prefix).parent, help="the tree to look at; this one")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--only", nargs="+", choices=measures(), help="only these")
    options = parser.parse_args()
    report = Report("Old and new", options.json)
    programs = [tree.resolve() / ".venv" / "bin" / "webarc" for tree in (options.old, options.new)]
    worse = []
    for chosen in options.only or measures():
        found = rounds(measures()[chosen], programs, options.rounds, report)
        for name, (before, after) in found.items():
            spread = f"old {_spread(before)}, new {_spread(after)}"
            report.add(name, median(after) / median(before), target="at most 1.05", note=spread)
            if is_worse(before, after):
                worse.append(f"{name} is worse.")
        report.show(f"{chosen}: new / old, {options.rounds} rounds")
    report.remarks(worse)
    return 1 if worse else 0


def _spread(values: list[float]) -> str:
    return f"{median(values):.3g} ({min(values):.3g} to {max(values):.3g})"


if __name__ == "__main__":
    sys.exit(main())
