"""What is to go from a domain's history: versions of some pages, or every page."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from webarc.archive.layout import ADDED_FILES, INTERNAL, arc_file

_COMMIT_TAG = re.compile(rb"<commitTag>([^<]*)</commitTag>")


@dataclass(frozen=True, slots=True)
class Doom:
    """ARC -> the commitTags of the versions that go, or None for everything that was ever there.

    With `everything` all ARCs go, also those that the index does not know. `blobs` must be in none of them, whatever
    version somebody made them part of by hand.
    """

    arcs: Mapping[str, frozenset[str] | None] = field(default_factory=dict)
    everything: bool = False
    blobs: frozenset[str] = frozenset()

    def touches(self, arc: str | None) -> bool:
        """Whether something of an ARC goes."""
        return arc is not None and (self.everything or arc in self.arcs)

    def takes_all(self, arc: str) -> bool:
        """Whether nothing of an ARC stays."""
        return self.everything or self.arcs[arc] is None

    def takes(self, arc: str, tag: str | None, blobs: Iterable[str]) -> bool:
        """Whether the version of a commitTag with these blobs goes."""
        return self.takes_all(arc) or tag in (self.arcs[arc] or ()) or not self.blobs.isdisjoint(blobs)

    def is_partial(self) -> bool:
        """Whether some page keeps versions."""
        return not self.everything and any(tags is not None for tags in self.arcs.values())


def owner(path: str) -> str | None:
    """The ARC that a path inside a domain folder belongs to: as its document, its metadata or an added file."""
    if path.startswith(f"{INTERNAL}/"):
        return None
    arc, added, _ = path.partition(f"/{ADDED_FILES}/")
    if added:
        return arc
    place = arc_file(path)
    return place[0] if place else None


def tag_in(document: bytes | None) -> str | None:
    """The commitTag in a data.xml, found even if the rest of it cannot be read."""
    found = _COMMIT_TAG.search(document or b"")
    return found.group(1).decode("utf-8", "replace") if found else None
