"""When a phrase appeared on pages and disappeared from them, over the whole history of a page or a domain."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import NamedTuple

from webarc.archive.catalog import Catalog
from webarc.archive.gaps import Gap, Gaps
from webarc.diff.phrases import Phrase
from webarc.diff.text import has_text
from webarc.diff.textindex import Found, Progress, TextIndex
from webarc.sql.rows import VersionRow

# Nobody reads these; whoever wants to look into one gives its URL.
_UNSEEN = ("text/css", "text/javascript", "application/javascript")


class Stay(NamedTuple):
    """From the version in which a phrase appeared to the one without it, or to the crawl that removed the page.

    Before either of the two, versions may be missing that would tell it better.
    """

    appeared: VersionRow
    disappeared: VersionRow | None
    removed_tag: str | None
    unknown_before: Gap | None = None
    unknown_between: Gap | None = None

    def is_open(self) -> bool:
        """Whether the phrase is still there."""
        return self.disappeared is None and self.removed_tag is None


@dataclass(frozen=True, slots=True)
class Occurrence:
    """All stays of a phrase on one page, oldest first."""

    url: str
    stays: tuple[Stay, ...]


@dataclass(slots=True)
class Answer:
    """Where the phrase was, by first appearance, and how much was searched; `lost` versions are not there any more."""

    occurrences: list[Occurrence] = field(default_factory=list)
    pages: int = 0
    versions: int = 0
    unread: int = 0
    lost: int = 0

    def add(self, other: Answer) -> None:
        """Take in another answer."""
        self.occurrences += other.occurrences
        self.pages, self.versions = self.pages + other.pages, self.versions + other.versions
        self.unread, self.lost = self.unread + other.unread, self.lost + other.lost


def find(
    catalog: Catalog, place: str, phrase: Phrase, warn: Callable[[str], None], on_progress: Progress | None = None
) -> Answer:
    """Look for a phrase in all versions of a page or, if `place` is a bare host, of all pages of a domain."""
    answer = Answer()
    domain, pages = _pages(catalog, place)
    for found in TextIndex(catalog.archive, domain, warn, on_progress).search(pages, phrase):
        answer.pages += 1
        answer.versions += len(found.rows)
        answer.unread += len(found.unread)
        answer.lost += found.rows[-1].number - len(found.rows)
        if found.holding:
            stays = (_with_gaps(stay, found, catalog.gaps(domain)) for stay in _stays(found))
            answer.occurrences.append(Occurrence(found.rows[-1].url, tuple(stays)))
    answer.occurrences.sort(key=lambda each: (each.stays[0].appeared.crawl_time, each.url))
    return answer


def _pages(catalog: Catalog, place: str) -> tuple[str, Iterator[Sequence[VersionRow]]]:
    if not catalog.is_domain(place):
        page = catalog.page(place)
        return page.domain, iter([page.versions])
    domain = catalog.domain(place)
    pages = (list(rows) for _, rows in groupby(catalog.index.versions(domain), key=lambda row: row.arc))
    return domain, (rows for rows in pages if any(map(_is_seen, rows)))


def _is_seen(row: VersionRow) -> bool:
    return has_text(row.mime_type) and row.mime_type not in _UNSEEN


def _stays(found: Found) -> Iterator[Stay]:
    """From when to when it was there; a version that cannot be read changes nothing."""
    since: VersionRow | None = None
    for row in found.rows:
        if row.number in found.holding:
            since = since or row
        elif since is not None and row.number not in found.unread:
            yield Stay(since, row, None)
            since = None
        if since is not None and row.removed_tag is not None:
            yield Stay(since, None, row.removed_tag)
            since = None
    if since is not None:
        yield Stay(since, None, None)


def _with_gaps(stay: Stay, found: Found, gaps: Gaps) -> Stay:
    """The same, with what is missing where it begins and ends."""
    if found.rows[-1].number == len(found.rows):
        return stay
    end = _before(gaps, stay.disappeared)
    return stay._replace(unknown_before=_before(gaps, stay.appeared), unknown_between=end)


def _before(gaps: Gaps, row: VersionRow | None) -> Gap | None:
    return None if row is None else gaps.before(row.arc, row.number)
