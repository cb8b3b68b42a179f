"""What a repair replaced is kept, and here it is told where, with the finding that it belongs to if there is one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath

from webarc.archive.findings import Finding, note
from webarc.archive.worktree import SHOWN

_NAMED = 3


class Kept:
    """Where the repairs of one domain have put what stood at paths of its folder."""

    def __init__(self, domain: str, kept: Iterable[Mapping[str, Path]]) -> None:
        self._domain = domain
        self._places = {path: str(place) for each in kept for path, place in each.items()}
        self._told: set[str] = set()

    def told(self, finding: Finding) -> Finding:
        """The finding, mended, with the place of what it is about."""
        place = next((self._places[name] for name in _names(finding) if name in self._places), "")
        self._told.add(place)
        return finding.repaired(place)

    def rest(self) -> Iterator[Finding]:
        """A note for all else that was replaced."""
        # Which commit the folder shows is webarc's own note, and says nothing when all files were looked at.
        places = sorted({place for path, place in self._places.items() if path != SHOWN} - self._told)
        if places:
            more = f" and {len(places) - _NAMED} more" if len(places) > _NAMED else ""
            yield note(self._domain, "repository", f"what was replaced is kept in {', '.join(places[:_NAMED])}{more}")


def _names(finding: Finding) -> Iterator[str]:
    """The paths that a finding may be about."""
    yield finding.path
    yield f".git/objects/{finding.object_id[:2]}/{finding.object_id[2:]}"
    # Some findings name a ref as git does, or a pack when it is its index that was replaced.
    yield f".git/{finding.path}"
    yield f"{finding.path.removesuffix('.pack')}.idx"
    # A whole folder may be in the way.
    yield from map(str, PurePosixPath(finding.path).parents)
