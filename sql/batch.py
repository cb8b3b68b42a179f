"""What one or more commits change in the index, collected before the transaction that writes it begins."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

# Neither database keeps a lone surrogate, and PostgreSQL keeps no NUL.
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
# Within one commit: what stood there goes before what comes, and a definition moves on when its rows are written.
_ORDER = (
    "version_remove",
    "version_replace",
    "version_add",
    "version_touch",
    "crawl_add",
    "sighting_close_all",
    "sighting_close",
    "sighting_open",
    "definition_set",
)
Row = dict[str, Any]


class Batch:
    """Rows of one domain that go into the index together, if it still stands at the commit `after`.

    A batch may end in the middle of a commit; its rows may then be written again without harm.
    """

    def __init__(self, domain: str, folder: str, after: str | None) -> None:
        self.domain, self.folder, self.after = domain, folder, after
        self.upto: str | None = None
        self.size = 0
        self.versions = 0
        self._steps: list[tuple[str, list[Row]]] = []
        self._commit: dict[str, list[Row]] = {}

    def version(self, arc: str, commit_tag: str, columns: Mapping[str, Any], number: int | None = None) -> None:
        """A crawl brought a new version of an ARC; it gets the next number unless one is given."""
        row = self._add("version_add", {"arc": arc, "commit_tag": commit_tag, "number": number, **columns})
        self._commit.setdefault("version_replace", []).append(row)
        self.versions += 1

    def lost(self, arc: str) -> None:
        """A crawl brought a version whose document cannot be read: the one before is no longer current."""
        self._add("version_replace", {"arc": arc, "commit_tag": ""})

    def removed(self, arc: str, removed_tag: str) -> None:
        """An ARC is gone from the tip."""
        self._add("version_remove", {"arc": arc, "commit_tag": "", "removed_tag": removed_tag})

    def touched(self, arc: str, commit_tag: str, document_blob: str, touching_tag: str) -> None:
        """Something other than a crawl wrote an ARC's document, which belongs to the version of commit_tag."""
        self._add("version_touch", {"arc": arc, "commit_tag": commit_tag, "document_blob": document_blob})
        self._add("version_remove", {"arc": arc, "commit_tag": commit_tag, "removed_tag": touching_tag})

    def crawl(self, columns: Mapping[str, Any]) -> None:
        """A crawl ended; options, counts and held URLs are kept as JSON."""
        texts = {name: json.dumps(columns[name], sort_keys=True) for name in ("options", "counts", "held")}
        self._add("crawl_add", {**columns, **texts, "complete": int(columns["complete"])})

    def opened(self, definition: str, commit_tag: str, sighting: tuple[str, int, str, str, str]) -> None:
        """From this crawl on, a URL has this outcome: url, status, error, target, mark."""
        url, status, error, target, mark = sighting
        row = {"url": url, "status": status, "error": error, "target": target, "mark": mark}
        self._add("sighting_open", {"definition": definition, "first_tag": commit_tag, **row})

    def closed(self, definition: str, commit_tag: str, url: str, last_tag: str) -> None:
        """With this crawl, a URL no longer has the outcome it had up to last_tag."""
        self._add("sighting_close", _ending(definition, commit_tag, last_tag) | {"url": url})

    def closed_all(self, definition: str, commit_tag: str, last_tag: str) -> None:
        """With this crawl, all outcomes known up to last_tag have ended."""
        self._add("sighting_close_all", _ending(definition, commit_tag, last_tag))

    def moved_on(self, definition: str, last_tag: str, urls_blob: str | None) -> None:
        """All open outcomes of a definition last until this crawl."""
        self._add("definition_set", {"definition": definition, "last_tag": last_tag, "urls_blob": urls_blob})

    def end(self, commit: str) -> None:
        """All rows of a commit are in."""
        self._fold()
        self.upto = commit
        self.size += 1

    def steps(self) -> list[tuple[str, list[Row]]]:
        """Names of statements and the rows to run them with, in order."""
        self._fold()
        return self._steps

    def _add(self, name: str, row: Row) -> Row:
        row["domain"] = self.domain
        row = _storable(row)
        self._commit.setdefault(name, []).append(row)
        self.size += 1
        return row

    def _fold(self) -> None:
        self._steps += [(name, self._commit[name]) for name in _ORDER if name in self._commit]
        self._commit = {}


def _ending(definition: str, commit_tag: str, last_tag: str) -> Row:
    return {"definition": definition, "first_tag": commit_tag, "last_tag": last_tag}


def _storable(row: Row) -> Row:
    if not _UNSTORABLE.search("".join([value for value in row.values() if isinstance(value, str)])):
        return row
    return {name: _shown(value) if isinstance(value, str) else value for name, value in row.items()}


def _shown(text: str) -> str:
    return _UNSTORABLE.sub(lambda match: match.group().encode("unicode_escape").decode(), text)
