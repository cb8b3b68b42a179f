"""The versions of one page that are chosen to go."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter

from webarc.sql.index import Index
from webarc.sql.rows import VersionRow


@dataclass(frozen=True, slots=True)
class Going:
    """Versions that go, oldest first; `whole` if no other one of the page stays.

    `blobs` are their documents and data files, without those that a version which stays has, too.
    """

    url: str
    arc: str
    numbers: tuple[int, ...]
    tags: tuple[str, ...]
    sha256s: tuple[str, ...]
    blobs: tuple[str, ...]
    size: int
    first: str
    last: str
    whole: bool


Choice = Callable[[Index], Iterable[Going]]


def going(rows: list[VersionRow], numbers: Container[int] | None = None) -> Going | None:
    """The versions of a page with these numbers (None: all); None if there are none."""
    chosen = [row for row in rows if numbers is None or row.number in numbers]
    if not chosen:
        return None
    staying = {row.data_blob for row in rows if not (numbers is None or row.number in numbers)}
    return Going(
        url=chosen[-1].url,
        arc=chosen[-1].arc,
        numbers=tuple(row.number for row in chosen),
        tags=tuple(row.commit_tag for row in chosen),
        sha256s=tuple(row.sha256 for row in chosen),
        blobs=tuple(blob for row in chosen for blob in _blobs(row) if blob not in staying),
        size=sum(row.length for row in chosen),
        first=chosen[0].crawl_time,
        last=chosen[-1].crawl_time,
        whole=len(chosen) == len(rows),
    )


def _blobs(row: VersionRow) -> tuple[str, ...]:
    return (row.document_blob, row.data_blob) if row.data_blob else (row.document_blob,)


def pages(index: Index, domain: str) -> Iterator[list[VersionRow]]:
    """All versions of each page of a domain, oldest first."""
    for _, rows in groupby(index.versions(domain), key=attrgetter("arc")):
        yield list(rows)


def of_page(domain: str, arc: str, numbers: Container[int] | None = None) -> Choice:
    """Versions of one page."""

    def choose(index: Index) -> Iterator[Going]:
        found = going(index.history(domain, arc), numbers)
        if found is not None:
            yield found

    return choose


def of_domain(domain: str) -> Choice:
    """Every version of every page."""

    def choose(index: Index) -> Iterator[Going]:
        for rows in pages(index, domain):
            found = going(rows)
            if found is not None:
                yield found

    return choose
