"""The journal of a takedown: what was decided, durable before the first step, gone after the last one."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from webarc.archive.doom import Doom
from webarc.archive.durable import sync_folders
from webarc.archive.failures import storage
from webarc.archive.layout import domain_folder
from webarc.archive.store import Archive
from webarc.errors import Damaged

_ENDING = ".forget"


@dataclass(frozen=True, slots=True)
class Decision:
    """What goes from a domain; `tag` is the commitTag of the tombstone, `files` its files.

    A `takedown` is for good and leaves no trace anywhere; otherwise old versions are only thinned out.
    `blobs` are the documents and data files that must not be left of a takedown.
    """

    domain: str
    tag: str
    takedown: bool
    everything: bool
    arcs: dict[str, list[str] | None]
    blobs: list[str]
    files: list[str]

    def doom(self) -> Doom:
        """The same, as the history is read by."""
        arcs = {arc: None if tags is None else frozenset(tags) for arc, tags in self.arcs.items()}
        return Doom(arcs, self.everything, frozenset(self.blobs))


def note(archive: Archive, decision: Decision) -> None:
    """Write the journal of a domain, durably; it has at most one."""
    file = _file(archive, decision.domain)
    fresh = file.with_name(f"{file.name}.new")
    with storage("writing the journal"):
        with fresh.open("w", encoding="utf-8", errors="surrogateescape") as target:
            json.dump(asdict(decision), target)
            target.flush()
            os.fsync(target.fileno())
        fresh.replace(file)
        sync_folders(archive.journal)


def noted(archive: Archive, domain: str) -> Decision | None:
    """What was decided for a domain and is not done yet."""
    return _read(_file(archive, domain))


def all_noted(archive: Archive) -> Iterator[Decision]:
    """Everything that was decided and is not done yet, or is being done."""
    for file in sorted(archive.journal.glob(f"*{_ENDING}")):
        decision = _read(file)
        if decision is not None:
            yield decision


def strike(archive: Archive, domain: str) -> None:
    """Remove the journal of a domain: all is done, or nothing was begun."""
    with storage("removing the journal"):
        _file(archive, domain).unlink(missing_ok=True)
        sync_folders(archive.journal)


def _file(archive: Archive, domain: str) -> Path:
    return archive.journal / f"{domain_folder(domain)}{_ENDING}"


def _read(file: Path) -> Decision | None:
    try:
        return Decision(**json.loads(file.read_text("utf-8", "surrogateescape")))
    except FileNotFoundError:
        return None
    except (ValueError, TypeError) as problem:
        raise Damaged(
            f"the journal {file} cannot be read ({problem}); delete it and run `webarc forget` again."
        ) from problem
