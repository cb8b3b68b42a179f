"""Interrupted crawls: the note in a temp dir that tells which crawl it belongs to, and finding those to go on with."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from webarc.archive.staging import RESUMABLE
from webarc.archive.store import Archive
from webarc.crawler.job import Job
from webarc.crawler.limits import FetchLimits
from webarc.crawler.options import SECRET, CrawlOptions

_FORMAT = 1


@dataclass(frozen=True, slots=True)
class Interrupted:
    """A crawl that did not reach its end; `committed` is the commitTag under which its files went in, if they did."""

    place: Path
    domain: str
    starts: tuple[str, ...]
    definition: str
    began: str
    options: CrawlOptions
    has_secrets: bool = False
    committed: str = ""


def note(place: Path, job: Job, definition: str, began: str) -> None:
    """Mark a temp dir as that of a crawl which can go on if it is interrupted; secrets are not written down."""
    options = asdict(job.options)
    values = {
        "format": _FORMAT,
        "domain": job.domain,
        "starts": list(job.starts),
        "definition": definition,
        "began": began,
        "options": {name: value for name, value in options.items() if name not in SECRET},
        "has_secrets": bool(job.credentials) or any(options.get(name) for name in SECRET),
        "committed": "",
    }
    _write(place, values)


def note_commit(place: Path, tag: str) -> None:
    """Remember that what the crawl fetched so far is in git."""
    values = json.loads((place / RESUMABLE).read_text("utf-8"))
    _write(place, {**values, "committed": tag})


def interrupted(archive: Archive) -> Iterator[Interrupted]:
    """The crawls in temp dirs that no living process holds, newest first."""
    for place in archive.resumable_staging():
        with suppress(OSError, ValueError, KeyError, TypeError):
            yield _read(place)


def _read(place: Path) -> Interrupted:
    values = json.loads((place / RESUMABLE).read_text("utf-8"))
    if values["format"] != _FORMAT:
        raise ValueError("of another version of webarc")
    return Interrupted(
        place,
        values["domain"],
        tuple(values["starts"]),
        values["definition"],
        values["began"],
        _options(values["options"]),
        values["has_secrets"],
        values["committed"],
    )


def _options(values: dict[str, Any]) -> CrawlOptions:
    known = {field.name for field in fields(CrawlOptions)}
    plain = {name: _frozen(value) for name, value in values.items() if name in known and name != "limits"}
    return replace(CrawlOptions(), **plain, limits=FetchLimits(**values["limits"]))


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


def _write(place: Path, values: dict[str, Any]) -> None:
    target = place / RESUMABLE
    target.parent.mkdir(exist_ok=True)
    fresh = target.with_name(f"{target.name}.new")
    fresh.write_text(json.dumps(values, default=str), "utf-8")
    os.replace(fresh, target)  # noqa: PTH105 - whole or not at all
