"""The live index beside a rebuilt one: every row that differs, named."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

from webarc.sql.index import Index

Key = tuple[Any, ...]
_Read = Callable[[], Iterator[tuple[Key, Any]]]


class Difference(NamedTuple):
    """One row that is not the same; a missing row is None."""

    table: str
    key: Key
    live: dict[str, Any] | None
    rebuilt: dict[str, Any] | None

    def text(self) -> str:
        """What differs, in words."""
        if self.live is None:
            return f"the index lacks a row of {self.table}"
        if self.rebuilt is None:
            return f"the index has a row of {self.table} that git does not bear out"
        names = [name for name in self.rebuilt if self.rebuilt[name] != self.live.get(name)]
        told = [f"{name} {self.live.get(name)!r} where git has {self.rebuilt[name]!r}" for name in names[:3]]
        return f"the index has a row of {self.table} with {', '.join(told)}"

    def about(self, name: str) -> Any:
        """A column of the row, as git bears it out or else as the index has it."""
        return (self.rebuilt or self.live or {}).get(name)


def differences(live: Index, rebuilt: Index, domain: str) -> Iterator[Difference]:
    """The rows of a domain that differ; neither index is locked meanwhile."""
    for table in ("domain", "version", "crawl", "definition", "sighting"):
        yield from _compared(table, partial(_rows, live, domain, table), partial(_rows, rebuilt, domain, table))


def _compared(table: str, found: _Read, expected: _Read) -> Iterator[Difference]:
    # Hashes, not rows: a million of them fit into memory, and databases do not agree on the order of texts.
    known = {hash(key): hash(row) for key, row in expected()}
    changed = {key: row for key, row in found() if known.pop(hash(key), None) != hash(row)}
    if not changed and not known:
        return
    true = {key: row for key, row in expected() if key in changed or hash(key) in known}
    for key in sorted({*changed, *true}, key=repr):
        yield Difference(table, key, _named(changed.get(key)), _named(true.get(key)))


def _rows(index: Index, domain: str, table: str) -> Iterator[tuple[Key, Any]]:
    """Keys and rows of a table, all hashable."""
    if table == "domain":
        yield (domain,), _Domain(index.indexed_commit(domain))
    elif table == "version":
        yield from (((row.arc, row.number), row) for row in index.versions(domain))
    elif table == "crawl":
        for row in index.crawls(domain):
            plain = row._replace(options=_flat(row.options), counts=_flat(row.counts))
            yield (row.commit_tag, row.definition), plain
    elif table == "definition":
        yield from (((row.name,), row) for row in index.definitions(domain).values())
    else:
        yield from (((row.url, row.definition, row.first_tag), row) for row in index.sightings(domain))


class _Domain(NamedTuple):
    indexed_commit: str | None


def _flat(values: dict[str, Any]) -> Any:
    return tuple(sorted(values.items()))


def _named(row: Any) -> dict[str, Any] | None:
    return None if row is None else dict(row._asdict())
