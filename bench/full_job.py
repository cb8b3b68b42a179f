"""The full job (fetch, filter, XML, rsync, commit, index) beside the shell script a user would write, and Scrapy.

Contenders alternate on the same server; medians are compared. Memory is sampled in a run of its own, because looking
at it costs time.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from bench import contenders
from bench.figures import Report, arguments
from bench.measure import folder_size
from bench.part import part_of
from bench.sites import JDK, POSTGRESQL, SITES, Server, Site, folder_of, serve
from webarc.archive.layout import domain_folder

_MEGABYTE = 1e6


@dataclass(slots=True)
class Times:
    """Seconds of each repeat, and what the server counted in the last one."""

    webarc: list[float] = field(default_factory=list)
    again: list[float] = field(default_factory=list)
    peer: list[float] = field(default_factory=list)
    scrapy: list[float] = field(default_factory=list)
    pages: dict[str, int] = field(default_factory=dict)
    not_modified: int = 0
    growth: float = 0.0


class FullJob:
    """Measures one site."""

    def __init__(self, root: Path, start: str, report: Report) -> None:
        self._root, self._start, self._report = root, start, report
        self.times = Times()

    def measure(self, repeats: int, *, rivals: bool = True, scrapy_repeats: int = 0) -> Times:
        """All repeats, the contenders taking turns."""
        with serve(self._root) as server:
            for number in range(repeats):
                self._report.progress(f"{self._root.name}: round {number + 1} of {repeats}")
                with contenders.workplace() as work:
                    self._webarc(server, work / "archive")
                if rivals:
                    with contenders.workplace() as work:
                        self._peer(server, work / "peer")
            for _ in range(scrapy_repeats):
                self._report.progress("scrapy")
                self.times.scrapy.append(contenders.scrapy(server.base + self._start).seconds)
                self.times.pages["scrapy"] = server.answers()[200]
        return self.times

    def _peer(self, server: Server, folder: Path) -> None:
        self.times.peer.append(contenders.peer(server.base + self._start, folder).seconds)
        self.times.pages["peer"] = server.answers()[200]

    def _webarc(self, server: Server, archive: Path) -> None:
        """A first crawl into an empty archive, and a second one of the unchanged site."""
        url = server.base + self._start
        objects = archive / domain_folder(server.domain) / ".git" / "objects"
        self.times.webarc.append(contenders.webarc(url, archive).seconds)
        self.times.pages["webarc"] = server.answers()[200]
        first = folder_size(objects)
        self.times.again.append(contenders.webarc(url, archive).seconds)
        self.times.not_modified = server.answers()[304]
        self.times.growth = (folder_size(objects) - first) / first

    def peak_memory(self) -> int:
        """The most memory that webarc's process tree held at once during a first crawl."""
        with serve(self._root) as server, contenders.workplace() as work:
            self._report.progress("memory")
            return contenders.webarc(server.base + self._start, work / "archive", watch_memory=True).peak_memory


def one_site(site: Site, options: argparse.Namespace, report: Report) -> Times:
    """All figures of one site."""
    job = FullJob(folder_of(site), site.start, report)
    times = job.measure(options.repeats, scrapy_repeats=options.scrapy_repeats)
    pages, ours = times.pages["webarc"], median(times.webarc)
    speed = f"{times.pages['webarc'] / ours:,.0f} pages/s"
    report.add("webarc, full job", ours, "s", note=f"{pages:,} pages, {speed}, {_spread(times.webarc)}")
    peers = median(times.peer)
    report.add("wget2 + rsync + git", peers, "s", note=f"{times.pages['peer']:,} pages, {_spread(times.peer)}")
    report.add("ratio", ours / peers, target="at most 1.0" if site is JDK else "")
    again = median(times.again)
    report.add("second crawl, nothing changed", again, "s", note=_spread(times.again))
    report.add("ratio to the first", again / ours, target="at most 0.5")
    report.add("requests answered 304", times.not_modified, note=f"of {pages:,}")
    report.add("growth of the git objects", times.growth * 100, "%", target="under 5 %")
    if times.scrapy:
        report.add("Scrapy, fetching alone", median(times.scrapy), "s", note=f"{times.pages['scrapy']:,} pages")
        report.add("ratio to Scrapy", ours / median(times.scrapy), target="at most 0.5")
    report.add("peak memory of the process tree", job.peak_memory() / _MEGABYTE, "MB", target="under 400 MB")
    report.show(f"{site.name} ({site.package})")
    return times


def growth(whole: Times, options: argparse.Namespace, report: Report) -> None:
    """How much more a page costs among 10,000 than among 1,000."""
    part = FullJob(part_of(JDK, 1000), JDK.start, report).measure(options.repeats, rivals=False)
    large = 1000 * median(whole.webarc) / whole.pages["webarc"]
    small = 1000 * median(part.webarc) / part.pages["webarc"]
    report.add(f"cost of a page among {part.pages['webarc']:,}", small, "ms")
    report.add(f"cost of a page among {whole.pages['webarc']:,}", large, "ms")
    report.add("ratio", large / small, target="at most 1.2")
    report.show("cost per page")


def _spread(seconds: list[float]) -> str:
    return f"{min(seconds):.2f} to {max(seconds):.2f} s in {len(seconds)} runs"


def main() -> None:
    """Both sites, then the cost of a page."""
    parser = arguments(__doc__ or "")
    parser.add_argument("--site", choices=SITES, help="only this site")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--scrapy-repeats", type=int, default=1, help="0 leaves Scrapy out")
    options = parser.parse_args()
    report = Report("The full job", options.json)
    sites = [SITES[options.site]] if options.site else [POSTGRESQL, JDK]
    times = {site.name: one_site(site, options, report) for site in sites}
    if JDK.name in times:
        growth(times[JDK.name], options, report)


if __name__ == "__main__":
    main()
