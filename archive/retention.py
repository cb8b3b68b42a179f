"""Which old versions stay: the newest one of each of the last so many hours, days, weeks, months and years.

As with restic, each rule is applied by itself and a version stays if any rule keeps it; periods without a version do
not count. The newest version of a page, and the last one before each removal, stay in any case.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from webarc.archive import times
from webarc.archive.going import Choice, Going, going, pages
from webarc.errors import UsageProblem
from webarc.sql.index import Index
from webarc.sql.rows import VersionRow

_PERIODS: dict[str, Callable[[VersionRow], str]] = {
    "last": lambda row: row.commit_tag,
    "hourly": lambda row: row.crawl_time[:13],
    "daily": lambda row: row.crawl_time[:10],
    "weekly": lambda row: times.parse(row.crawl_time).strftime("%G-%V"),
    "monthly": lambda row: row.crawl_time[:7],
    "yearly": lambda row: row.crawl_time[:4],
}
_ALL = "all"


@dataclass(frozen=True, slots=True)
class Keep:
    """How many periods of each kind keep a version; None: all of them."""

    counts: tuple[tuple[str, int | None], ...]

    def __str__(self) -> str:
        return ",".join(f"{name}={_ALL if count is None else count}" for name, count in self.counts)

    def numbers(self, rows: list[VersionRow]) -> set[int]:
        """The numbers of the versions of a page that stay; the rows are oldest first."""
        kept = {row.number for row in rows if row.removed_tag is not None}
        kept.add(rows[-1].number)
        for name, count in self.counts:
            newest: dict[str, int] = {}
            for row in reversed(rows):
                newest.setdefault(_PERIODS[name](row), row.number)
            kept.update(list(newest.values())[:count])
        return kept


def parse_keep(text: str) -> Keep:
    """`daily=30,monthly=12`; raises UsageProblem."""
    counts: dict[str, int | None] = {}
    for part in text.split(","):
        name, _, count = (word.strip().lower() for word in part.partition("="))
        if name not in _PERIODS or name in counts or not (count == _ALL or (count.isdecimal() and int(count) > 0)):
            raise UsageProblem(
                f"--keep {text!r} cannot be read at {part.strip()!r}; "
                f"write it like daily=30,monthly=12, each of {', '.join(_PERIODS)} once, with a number or {_ALL!r}."
            )
        counts[name] = None if count == _ALL else int(count)
    return Keep(tuple((name, counts[name]) for name in _PERIODS if name in counts))


def thinned(domain: str, keep: Keep) -> Choice:
    """The versions of a domain that do not stay."""

    def choose(index: Index) -> Iterator[Going]:
        for rows in pages(index, domain):
            kept = keep.numbers(rows)
            found = going(rows, {row.number for row in rows} - kept)
            if found is not None:
                yield found

    return choose
