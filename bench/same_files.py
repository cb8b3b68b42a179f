"""Every file that `wget2 -r` or `wget -r` finds must be in the archive, same bytes; differences are explained."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from bench import contenders
from bench.figures import Report, arguments
from bench.measure import run
from bench.sites import SITES, Server, Site, folder_of, serve
from webarc.archive.layout import METADATA, is_data_file, path_of
from webarc.archive.urls import canonical

_WGETS = {
    "wget2": ["wget2", "-q", "-r", "-l", "inf", "--max-threads=4"],
    "wget": ["wget", "-q", "-r", "-l", "inf"],
}
_INDEX = "index.html"
_MOST_SHOWN = 20


class Archive:
    """What webarc stored of the site, and what it says about the rest."""

    def __init__(self, root: Path, report: Path) -> None:
        self._root = root
        self._reasons = dict(_reasons(report))

    def bytes_of(self, url: str) -> bytes | None:
        """The stored bytes of a URL, from the work tree."""
        folder = self._root / path_of(canonical(url))
        files = [file for file in folder.glob("data.*") if file.is_file() and is_data_file(file.name)]
        return files[0].read_bytes() if files else None

    def reason(self, url: str) -> str:
        """Why a URL is not there, as the crawl's report has it."""
        return self._reasons.get(canonical(url), "no link to it was found")

    def stored(self) -> set[str]:
        """The ARC folders of the archive, relative to it."""
        found = (file.parent.relative_to(self._root).as_posix() for file in self._root.rglob(METADATA))
        return {arc for arc in found if "/.webarc/" not in f"/{arc}/"}


def _reasons(report: Path) -> Iterator[tuple[str, str]]:
    """URL and reason of every line of a report, whatever else stands in it."""
    for found in _objects(json.loads(text) for text in _documents(report.read_text())):
        if "url" in found:
            yield str(found["url"]), str(found.get("reason") or found.get("outcome") or "stored")


def _documents(text: str) -> list[str]:
    """A report is one JSON document or one a line."""
    try:
        json.loads(text)
    except ValueError:
        return [line for line in text.splitlines() if line.strip()]
    return [text]


def _objects(values: object) -> Iterator[dict[str, object]]:
    if isinstance(values, dict):
        yield values
        values = values.values()
    elif isinstance(values, str) or not hasattr(values, "__iter__"):
        return
    for value in values:
        yield from _objects(value)


class Comparison:
    """One tool's files against the archive."""

    def __init__(self, archive: Archive, server: Server) -> None:
        self._archive, self._server = archive, server
        self.same = 0
        self.different: list[str] = []
        self.found: set[str] = set()

    def compare(self, folder: Path) -> None:
        """Looks up every file that the tool wrote."""
        for file in sorted(path for path in folder.rglob("*") if path.is_file()):
            urls = list(self._urls(file.relative_to(folder).as_posix()))
            self.found.update(path_of(canonical(url)) for url in urls)
            self._look_up(urls, file.read_bytes())

    def _look_up(self, urls: list[str], expected: bytes) -> None:
        stored = [self._archive.bytes_of(url) for url in urls]
        if expected in stored:
            self.same += 1
        elif any(data is not None for data in stored):
            self.different.append(f"{urls[0]}: other bytes")
        else:
            self.different.append(f"{urls[0]}: {self._archive.reason(urls[0])}")

    def _urls(self, name: str) -> Iterator[str]:
        """The URLs that a tool's file may come from: a folder's own page is saved as index.html, too."""
        path = quote(name, safe="/?&=;:@!$'()*+,~-._%")
        yield self._server.base + path
        if path.rpartition("/")[2] == _INDEX:
            yield self._server.base + path.removesuffix(_INDEX)

    def only_here(self) -> list[str]:
        """What webarc stored and the tool did not find."""
        return sorted(self._archive.stored() - self.found)


def one_site(site: Site, report: Report) -> None:
    """Crawls a site with all three tools and compares."""
    with serve(folder_of(site)) as server, contenders.workplace() as work:
        url = server.base + site.start
        report.progress(f"{site.name}: webarc")
        contenders.webarc(url, work / "archive", "--report", str(work / "report.json"))
        archive = Archive(work / "archive", work / "report.json")
        report.add("files in the archive", len(archive.stored()))
        remarks = []
        for tool, command in _WGETS.items():
            report.progress(f"{site.name}: {tool}")
            run([*command, "-nH", "-P", work / tool, url], fine=(0, 8))
            comparison = Comparison(archive, server)
            comparison.compare(work / tool)
            report.add(f"found by {tool}, same bytes here", comparison.same)
            report.add(f"found by {tool}, not the same here", len(comparison.different), target="0, or explained")
            report.add(f"stored here, not found by {tool}", len(comparison.only_here()))
            remarks += _remarks(tool, comparison)
    report.show(f"{site.name} ({site.package})")
    report.remarks(remarks)


def _remarks(tool: str, comparison: Comparison) -> list[str]:
    lines = [f"{tool} found {line}" for line in comparison.different]
    lines += [f"only webarc found {arc} (compared with {tool})" for arc in comparison.only_here()]
    more = [f"... and {len(lines) - _MOST_SHOWN} more for {tool}"] if len(lines) > _MOST_SHOWN else []
    return lines[:_MOST_SHOWN] + more


def main() -> None:
    """Both sites, or the one that is named."""
    parser: argparse.ArgumentParser = arguments(__doc__ or "")
    parser.add_argument("--site", choices=SITES, help="only this site")
    options = parser.parse_args()
    report = Report("The same files as wget2 and wget", options.json)
    for site in [SITES[options.site]] if options.site else SITES.values():
        one_site(site, report)


if __name__ == "__main__":
    main()
