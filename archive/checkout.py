"""A site as it was at a time, written to a folder as plain files."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from webarc.archive import times
from webarc.archive.catalog import Catalog, moment_of
from webarc.archive.checkout_folder import new_folder
from webarc.archive.checkout_names import HTML, XHTML, relative_link
from webarc.archive.checkout_site import Site, State, shown_type
from webarc.archive.gaps import uncertain
from webarc.archive.instants import instant
from webarc.archive.zones import shown
from webarc.errors import Damaged, NoSuchVersion, UsageProblem
from webarc.sql.rows import VersionRow

# The link to the file of a canonical URL, from the file being written; None if the checkout has none. The second
# argument tells whether the page shows what it refers to, rather than leading there.
Lead = Callable[[str, bool], str | None]
# The bytes of a version with other links.
Relink = Callable[[bytes, VersionRow, Lead], bytes]
Progress = Callable[[int, int], None]
_PAGES = (HTML, XHTML)
_LINKED = (*_PAGES, "text/css", "image/svg+xml")
_MOST_PROBLEMS = 1_000


@dataclass(slots=True)
class Summary:
    """What was written; `start` is the file to open first, if there is any page to open.

    `uncertain` is of how many pages the version of that time may have been thinned out or forgotten.
    """

    domain: str
    when: str
    folder: Path
    pages: int = 0
    requisites: int = 0
    bytes: int = 0
    missing: int = 0
    start: str | None = None
    uncertain: int = 0
    problems: list[str] = field(default_factory=list)

    @property
    def exit_code(self) -> int:
        """0, or that of damage if bytes were lost."""
        return Damaged.exit_code if self.missing else 0


@dataclass(frozen=True, slots=True)
class Wishes:
    """How a checkout is to be written.

    `relink` finds the links of a page; `rewrite` has them lead to the files beside it, else the bytes stay as they
    were; `requisites` adds what pages need from other domains.
    """

    relink: Relink | None = None
    rewrite: bool = False
    requisites: bool = False
    force: bool = False


def check_out(
    catalog: Catalog, domain: str, when: str, folder: Path, wishes: Wishes, on_progress: Progress | None = None
) -> Summary:
    """Write the state of a domain at a crawl time; `on_progress` gets the files written so far and their number."""
    _check_place(catalog.archive.root, folder)
    site = Site(catalog, State(domain, when, wishes.rewrite, wishes.requisites))
    if not len(site):
        raise _nothing(catalog, domain, when)
    with new_folder(folder, force=wishes.force) as place:
        summary = Summary(domain, when, folder, uncertain=len(uncertain(catalog.index, domain, when)))
        writing = _Writing(catalog, site, place, wishes, summary)
        return writing.run(on_progress or _unheard)


class _Writing:
    """One checkout on its way to the disk."""

    def __init__(self, catalog: Catalog, site: Site, place: Path, wishes: Wishes, summary: Summary) -> None:
        self._catalog, self._site, self._place, self._wishes = catalog, site, place, wishes
        self._summary = summary

    def run(self, moved: Progress) -> Summary:
        """Write everything."""
        summary = self._summary
        for row, file in self._site.own():
            summary.pages += self._written(row, file)
            if summary.start is None and shown_type(row) in _PAGES:
                summary.start = file
            moved(summary.pages, len(self._site))
        for row, file in self._site.others():
            summary.requisites += self._written(row, file)
            moved(summary.pages + summary.requisites, len(self._site) + summary.requisites)
        summary.start = self._home() or summary.start
        return summary

    def _home(self) -> str | None:
        return self._site.file_of(f"https://{self._summary.domain}/")

    def _written(self, row: VersionRow, file: str) -> bool:
        path = self._place / file
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._write(row, file, path)
        except Damaged as problem:
            path.unlink(missing_ok=True)
            self._summary.missing += 1
            if len(self._summary.problems) < _MOST_PROBLEMS:
                self._summary.problems.append(str(problem))
            return False
        moment = times.parse(row.create_time).timestamp()
        os.utime(path, (moment, moment))
        self._summary.bytes += path.stat().st_size
        return True

    def _write(self, row: VersionRow, file: str, path: Path) -> None:
        relink = self._wishes.relink
        with path.open("xb") as stream:
            if relink is None or shown_type(row) not in _LINKED:
                self._catalog.copy(row, stream)
                return
            body = self._catalog.read(row)
            relinked = relink(body, row, lambda url, embedded: self._link(file, url, embedded))
            stream.write(relinked if self._wishes.rewrite else body)

    def _link(self, here: str, url: str, embedded: bool) -> str | None:
        there = self._site.file_of(url, embedded)
        return None if there is None else relative_link(here, there)


def moment_named(catalog: Catalog, domain: str, text: str | None, note: Callable[[str], None]) -> str:
    """The crawl time that a time or a commitTag means; without one, or in the future, the newest, with a note."""
    newest = next((moment for tag in catalog.crawl_tags(domain) if (moment := moment_of(tag))), "")
    latest = max(newest, times.text(times.now()))
    if text is None:
        return latest
    if "@" in text:
        return moment_of(catalog.crawl(domain, text)) or latest
    if times.text(instant(text)) > latest:
        note(f"{shown(times.text(instant(text)))} is in the future; this is the newest state.")
        return latest
    return times.text(instant(text, end=True))


def _check_place(root: Path, folder: Path) -> None:
    if folder.resolve().is_relative_to(root.resolve()):
        raise UsageProblem(f"{folder} lies in the archive itself; name a folder outside of it.")


def _nothing(catalog: Catalog, domain: str, when: str) -> NoSuchVersion:
    first = min(filter(None, map(moment_of, catalog.crawl_tags(domain))), default=when)
    if first > when:
        return NoSuchVersion(f"{domain} was not archived yet at {shown(when)}; its first crawl is of {shown(first)}.")
    return NoSuchVersion(f"{domain} had no pages at {shown(when)}; run `webarc log {domain}` to see when it had.")


def _unheard(_done: int, _all: int) -> None:
    pass
