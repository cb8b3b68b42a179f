"""The index: every version of every file and every crawl, to be asked quickly; git and the XML are the truth."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

from sqlalchemy import ColumnElement, Connection
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError

from webarc.errors import UsageProblem
from webarc.sql.batch import Batch
from webarc.sql.database import Database, run, run_all, run_many
from webarc.sql.postgresql import PostgresDatabase
from webarc.sql.readonly import ReadOnlyFile, writable
from webarc.sql.rows import CrawlRow, CurrentRow, DefinitionRow, GuestRow, SightingRow, TotalsRow, VersionRow
from webarc.sql.search import matching
from webarc.sql.sqlite import SqliteFile

_SQLITE = "sqlite:///"
_PAGE = 1000
# Behind every commitTag, in every collation of a database.
LAST = "9999"
_ARCS_AT_A_TIME = 500


class Index:
    """The index at a database URL (`sqlite:///FILE` or `postgresql+psycopg://...`), made empty if there is none."""

    def __init__(self, where: str | Database) -> None:
        self._database = _database(where) if isinstance(where, str) else where

    @classmethod
    def at(cls, path: Path) -> Index:
        """The index in a SQLite file."""
        return cls(SqliteFile(path, "index"))

    @classmethod
    def to_read(cls, where: str) -> Index:
        """The index at a database URL; a file that may not be written to can still be read."""
        path = _file(where)
        return cls(where if path is None or writable(path) else ReadOnlyFile(path))

    def transaction(self) -> AbstractContextManager[Connection]:
        """A transaction that may write, for statements run with `webarc.sql.database.run`."""
        return self._database.writing()

    def close(self) -> None:
        """Let go of all connections."""
        self._database.close()

    @property
    def read_only(self) -> bool:
        """Whether it can only be read, as in a folder that the user may not write to."""
        return isinstance(self._database, ReadOnlyFile)

    @property
    def set_aside(self) -> Path | None:
        """Where a file that was not ours went when a rebuilt index took its place."""
        return self._database.set_aside

    @contextmanager
    def rebuilt(self) -> Iterator[Index]:
        """A new, empty index that takes this one's place at the end, if nothing goes wrong inside."""
        with self._database.rebuilt() as fresh:
            yield Index(fresh)

    def domains(self) -> list[str]:
        """The domains that have rows, sorted."""
        with self._database.reading() as connection:
            return sorted(row.name for row in run(connection, "domains"))

    def indexed_commit(self, domain: str) -> str | None:
        """The commit up to which the rows of a domain tell what git holds."""
        with self._database.reading() as connection:
            return run(connection, "domain_commit", domain=domain).scalar()

    def knows(self, domain: str) -> bool:
        """Whether there may be rows of a domain, though perhaps not of a whole commit."""
        with self._database.reading() as connection:
            return run(connection, "domain_commit", domain=domain).first() is not None

    def write(self, batch: Batch) -> bool:
        """Write a batch; False, and nothing written, if someone else has moved the domain on meanwhile."""
        steps = batch.steps()
        with self._database.writing() as connection:
            run(connection, "domain_add", domain=batch.domain, folder=batch.folder)
            run(connection, "domain_hold", domain=batch.domain, folder=batch.folder)
            if run(connection, "domain_commit", domain=batch.domain).scalar() != batch.after:
                return False
            for name, rows in steps:
                run_many(connection, name, rows)
            if batch.upto is not None:
                run(connection, "domain_advance", domain=batch.domain, indexed_commit=batch.upto)
        return True

    def forget(self, domain: str) -> None:
        """Remove all rows of a domain."""
        with self._database.writing() as connection:
            run_all(connection, "domain_forget", domain=domain)

    def current(self, domain: str, arcs: Sequence[str]) -> dict[str, CurrentRow]:
        """What stands at the tip in these ARC folders of a domain; ARCs that are not there are left out."""
        found: dict[str, CurrentRow] = {}
        with self._database.reading() as connection:
            for start in range(0, len(arcs), _ARCS_AT_A_TIME):
                part = list(arcs[start : start + _ARCS_AT_A_TIME])
                rows = run(connection, "current", domain=domain, arcs=part)
                found.update((row.arc, row) for row in map(CurrentRow._make, rows))
        return found

    def current_count(self, domain: str) -> int:
        """How many ARCs a domain has at the tip."""
        return self._count("current_count", domain)

    def current_arcs(self, domain: str) -> Iterator[CurrentRow]:
        """Everything that stands at the tip of a domain, by ARC folder; no lock is held between the rows."""
        last = ""
        while page := self._page("current_page", domain=domain, arc=last):
            rows = [CurrentRow._make(row) for row in page]
            yield from rows
            last = rows[-1].arc

    def remember_validators(self, domain: str, rows: Iterable[tuple[str, str, str]]) -> None:
        """Keep newer validators (ARC, ETag, Last-Modified) of versions that were found unchanged."""
        remaining = iter(rows)
        while part := list(islice(remaining, _PAGE)):
            values = [{"domain": domain, "arc": arc, "etag": etag, "last_modified": date} for arc, etag, date in part]
            with self._database.writing() as connection:
                run_many(connection, "validator_set", values)

    def version_count(self, domain: str) -> int:
        """How many versions a domain has in all."""
        return self._count("version_count", domain)

    def versions_of(self, domain: str, commit_tag: str) -> int:
        """How many versions came with a commit."""
        with self._database.reading() as connection:
            return int(run(connection, "version_tagged", domain=domain, commit_tag=commit_tag).scalar() or 0)

    def history(self, domain: str, arc: str) -> list[VersionRow]:
        """All versions of one ARC, oldest first."""
        with self._database.reading() as connection:
            return [VersionRow._make(row) for row in run(connection, "version_history", domain=domain, arc=arc)]

    def versions(self, domain: str) -> Iterator[VersionRow]:
        """All versions of a domain, by ARC folder and number; no lock is held between the rows."""
        arc, number = "", 0
        while page := self._page("version_page", domain=domain, arc=arc, number=number):
            rows = [VersionRow._make(row) for row in page]
            yield from rows
            arc, number = rows[-1].arc, rows[-1].number

    def crawls(self, domain: str) -> list[CrawlRow]:
        """All crawls of a domain, oldest first."""
        with self._database.reading() as connection:
            return [_crawl(row) for row in run(connection, "crawls", domain=domain)]

    def definitions(self, domain: str) -> dict[str, DefinitionRow]:
        """The crawl definitions of a domain with the last crawl of each."""
        with self._database.reading() as connection:
            return {row.name: DefinitionRow._make(row) for row in run(connection, "definitions", domain=domain)}

    def sightings_of(self, domain: str, url: str) -> list[SightingRow]:
        """What came of one URL in all crawls of a domain, oldest first."""
        with self._database.reading() as connection:
            return [SightingRow._make(row) for row in run(connection, "sighting_history", domain=domain, url=url)]

    def sightings(self, domain: str) -> Iterator[SightingRow]:
        """What came of every URL in all crawls of a domain, by URL; no lock is held between the rows."""
        last = {"url": "", "definition": "", "first_tag": ""}
        while page := self._page("sighting_page", domain=domain, **last):
            rows = [SightingRow._make(row) for row in page]
            yield from rows
            last = {"url": rows[-1].url, "definition": rows[-1].definition, "first_tag": rows[-1].first_tag}

    def arcs(self, domain: str) -> Iterator[str]:
        """Every ARC that a domain has or had, sorted."""
        last = ""
        while page := self._page("arc_page", domain=domain, arc=last):
            yield from (row.arc for row in page)
            last = page[-1].arc

    def versions_at(self, domain: str, moment: str) -> Iterator[VersionRow]:
        """The newest version of every ARC at a crawl time, by ARC, those removed by then included."""
        last = ""
        while page := self._page("version_at", domain=domain, arc=last, moment=moment):
            yield from (VersionRow._make(row) for row in page if row.number is not None)
            last = page[-1].arc

    def urls(self, domain: str) -> Iterator[tuple[VersionRow, int]]:
        """The newest version of every ARC that a domain has or had, by ARC, and how many versions there are."""
        last = ""
        while page := self._page("url_page", domain=domain, arc=last):
            yield from ((VersionRow._make(row[:-1]), int(row.versions)) for row in page)
            last = page[-1].arc

    def matching(self, condition: ColumnElement[bool], domain: str | None = None) -> Iterator[VersionRow]:
        """The versions that fulfil a condition (see `webarc.sql.where`), of one domain or of all."""
        return matching(self._database, condition, domain, _PAGE)

    def crawls_between(self, domain: str, since: str = "", before: str = LAST) -> Iterator[CrawlRow]:
        """The crawls of a domain, newest first; both ends are beginnings of commitTags, the second one excluded."""
        while page := self._page("crawl_page", domain=domain, since=since, before=before):
            yield from map(_crawl, page)
            before = page[-1].commit_tag

    def crawl_tags(self, domain: str, before: str = LAST) -> Iterator[str]:
        """The commitTags of the crawls of a domain, newest first, from one excluded."""
        while page := self._page("crawl_tags", domain=domain, before=before):
            yield from (row.commit_tag for row in page)
            before = page[-1].commit_tag

    def guest_visits(self, domain: str) -> list[GuestRow]:
        """The crawls of other domains that brought versions to this one, newest first."""
        with self._database.reading() as connection:
            rows = run(connection, "guest_visits", domain=domain)
            return [GuestRow(row.commit_tag, row.crawl_time, int(row.versions), int(row.size)) for row in rows]

    def newest_change(self, domain: str) -> str | None:
        """The commitTag of the last crawl that brought a version to a domain or removed one, as a guest or not."""
        with self._database.reading() as connection:
            found: str | None = run(connection, "version_newest", domain=domain).scalar()
            return found

    def has_gaps(self, domain: str) -> bool:
        """Whether versions of a domain were thinned out or forgotten while later ones of the same page stayed."""
        with self._database.reading() as connection:
            return run(connection, "version_gap", domain=domain).first() is not None

    def totals(self, domain: str) -> TotalsRow:
        """How much a domain has in all."""
        with self._database.reading() as connection:
            pages = int(run(connection, "current_count", domain=domain).scalar() or 0)
            found = run(connection, "domain_totals", domain=domain).one()
        return TotalsRow(domain, pages, int(found.versions), int(found.size), found.first_time, found.last_time)

    def _page(self, name: str, **values: Any) -> Sequence[Any]:
        with self._database.reading() as connection:
            return run(connection, name, page=_PAGE, **values).fetchall()

    def _count(self, name: str, domain: str) -> int:
        with self._database.reading() as connection:
            return int(run(connection, name, domain=domain).scalar() or 0)


def _file(url: str) -> Path | None:
    # Taken as it stands: a folder may have a question mark or a percent sign in its name.
    return Path(url.removeprefix(_SQLITE)) if url.startswith(_SQLITE) and url != _SQLITE else None


def _database(url: str) -> Database:
    if path := _file(url):
        return SqliteFile(path, "index")
    try:
        parsed = make_url(url)
    except ArgumentError:
        raise UsageProblem(
            "the database URL cannot be read; write sqlite:///FILE or postgresql+psycopg://..."
        ) from None
    kind = parsed.get_backend_name()
    if kind == "postgresql":
        return PostgresDatabase(parsed)
    raise UsageProblem(f"a {kind} database cannot hold the index; use sqlite:///FILE or postgresql+psycopg://...")


def _crawl(row: Any) -> CrawlRow:
    values = row._asdict()
    values["complete"] = bool(values["complete"])
    values["options"], values["counts"] = json.loads(values["options"]), json.loads(values["counts"])
    values["held"] = tuple(json.loads(values["held"]))
    return CrawlRow(**values)
