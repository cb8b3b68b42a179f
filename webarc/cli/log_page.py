"""The entries of a page's log: versions with what changed in them, removals, what was forgotten."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from webarc.archive.zones import shown
from webarc.cli.columns import TIME
from webarc.cli.versions import version_json
from webarc.config.units import rough_size
from webarc.errors import Damaged
from webarc.sql.rows import VersionRow

if TYPE_CHECKING:
    from webarc.archive.catalog import Catalog, Page
    from webarc.archive.chronicle import Event, Forgetting, Removal
    from webarc.archive.gaps import Gap
    from webarc.cli.context import Context

COLUMNS = (
    ("number", -8),
    ("time", TIME),
    ("status", -6),
    ("size", -8),
    ("change", -9),
    ("words", -20),
    ("commitTag", 100),
    ("title", 0),
)
# So much is read to count words; at 20,000 bytes a version, the 400 newest ones.
_BUDGET = 8_000_000


class PageLog:
    """Shows what happened to one page; `page` is None where nothing but tombstones is left."""

    def __init__(self, context: Context, catalog: Catalog, page: Page | None, events: list[Event]) -> None:
        from webarc.diff.wordcounts import WordCounts

        self._context, self._catalog, self._page = context, catalog, page
        rows = [event for event in events if isinstance(event, VersionRow)]
        compared = [before for before in map(self._before, rows) if before is not None]
        newest_first = sorted({row.number: row for row in (*rows, *compared)}.items(), reverse=True)
        self._words = WordCounts([row for _, row in newest_first], self._read, _BUDGET)

    def finish(self) -> None:
        """Say what was left out."""
        if self._words.spent:
            self._context.note("words were counted in the newest versions only; use --until to see others.")

    def cells(self, event: Event) -> tuple[str, ...]:
        """An entry as a line of the table."""
        if isinstance(event, VersionRow):
            return self._version_cells(event)
        from webarc.archive.chronicle import Removal

        return _removal_cells(event) if isinstance(event, Removal) else _forgotten_cells(event)

    def as_json(self, event: Event) -> dict[str, object]:
        """An entry as an object; versions are those without `event`."""
        if isinstance(event, VersionRow):
            return version_json(event) | self._change_json(event)
        from webarc.archive.chronicle import Removal

        return _removal_json(event) if isinstance(event, Removal) else forgotten_json(event)

    def _version_cells(self, row: VersionRow) -> tuple[str, ...]:
        before = self._before(row)
        words = self._words.change(before, row) if before else None
        counted = f"+{words[0]} -{words[1]}" if words else ""
        figures = (str(row.number), shown(row.crawl_time), str(row.status), rough_size(row.length))
        return *figures, _change(before, row, self._gap(row)), counted, row.commit_tag, row.title or ""

    def _change_json(self, row: VersionRow) -> dict[str, object]:
        before = self._before(row)
        added, removed = (self._words.change(before, row) if before else None) or (None, None)
        growth = row.length - before.length if before else None
        gap = self._gap(row)
        figures = {"bytesChange": growth, "wordsAdded": added, "wordsRemoved": removed}
        return figures | {"missingBefore": list(gap.numbers) if gap else []}

    def _gap(self, row: VersionRow) -> Gap | None:
        """What is missing right before a version; the tombstones are read only if there is something."""
        before = self._before(row)
        if row.number == (before.number if before else 0) + 1:
            return None
        return self._catalog.gaps(row.domain).before(row.arc, row.number)

    def _before(self, row: VersionRow) -> VersionRow | None:
        return self._page.before(row) if self._page else None

    def _read(self, rows: list[VersionRow]) -> Iterator[bytes | None]:
        for data in self._catalog.read_many(rows):
            if isinstance(data, Damaged):
                # One damaged version costs its own figures and no others.
                self._context.warn(str(data))
            yield data if isinstance(data, bytes) else None


def _change(before: VersionRow | None, row: VersionRow, gap: Gap | None) -> str:
    if before is None:
        return f"after {gap.numbers[-1]}" if gap else "new"
    if before.sha256 == row.sha256:
        return "type"
    growth = row.length - before.length
    return f"{'-' if growth < 0 else '+'}{rough_size(abs(growth))}"


def _removal_cells(event: Removal) -> tuple[str, ...]:
    where = f"to {event.target}" if event.target else ""
    status = str(event.status) if event.status else ""
    return "-", shown(event.time), status, "", event.kind, "", event.tag, where


def _removal_json(event: Removal) -> dict[str, object]:
    return {
        "event": event.kind,
        "url": event.url,
        "crawlTime": event.time,
        "commitTag": event.tag,
        "status": event.status,
        "target": event.target,
    }


def _forgotten_cells(event: Forgetting) -> tuple[str, ...]:
    from webarc.archive.tombstones import ranges

    which = f"versions {ranges(event.numbers)}, by {event.by}: {event.reason}"
    return "-", shown(event.time), "", "", "forgotten", "", event.tag, which


def forgotten_json(event: Forgetting) -> dict[str, Any]:
    """What was forgotten, as an object."""
    return {
        "event": "forgotten",
        "url": event.url,
        "pages": event.pages,
        "time": event.time,
        "commitTag": event.tag,
        "reason": event.reason,
        "by": event.by,
        "numbers": list(event.numbers),
        "sha256s": list(event.sha256s),
    }
