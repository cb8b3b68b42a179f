"""Pages of a site whose version at a time was thinned out or forgotten, so that they seem not to have been there."""

from __future__ import annotations

from collections.abc import Iterator

from webarc.archive.catalog import Catalog, moment_of
from webarc.archive.gaps import Gap, uncertain
from webarc.sql.rows import SightingRow, VersionRow

_GONE = (404, 410)


class Lost:
    """What is lost of the state of a domain at a crawl time; `arcs` are those of pages that may look older there."""

    def __init__(self, catalog: Catalog, domain: str, moment: str) -> None:
        self._catalog, self._moment = catalog, moment
        self.arcs = uncertain(catalog.index, domain, moment)

    def gap_of(self, row: VersionRow) -> Gap | None:
        """What is missing then of a page that has this version at another time, if it was there; else None."""
        gap = self.gap_at(row)
        return gap if gap is not None and self._was_there(row, gap) else None

    def gap_at(self, row: VersionRow) -> Gap | None:
        """What may be missing then of a page that has this version; None where nothing is."""
        behind = self.arcs.get(row.arc)
        gap = self._catalog.gaps(row.domain).before(row.arc, behind) if behind else None
        # What had been forgotten by then came anew.
        return gap if gap is not None and gap.time > self._moment else None

    def _was_there(self, row: VersionRow, gap: Gap) -> bool:
        """Whether the page was there then, by the newest that is known of it: versions, removals, sightings."""
        sightings = self._catalog.sightings(row.url)
        seen = max(self._until(filter(_is_good, sightings)), default="")
        gone = max((time for time in self._gone(row, gap, sightings) if time <= self._moment), default="")
        if not any(map(_is_good, sightings)):
            # Only guests brought it: of what came after its removal nothing is known but the gap.
            return gone < self._moment
        return seen != "" and seen >= gone

    def _gone(self, row: VersionRow, gap: Gap, sightings: list[SightingRow]) -> Iterator[str]:
        """When the page was removed, or found gone."""
        for version in self._catalog.index.history(row.domain, row.arc):
            if version.removed_tag:
                yield moment_of(version.removed_tag) or ""
        if "forgotten" in gap.how:
            # Thinning keeps the last version before each removal; forgetting does not, and leaves only the report.
            yield from self._until(sighting for sighting in sightings if sighting.status in _GONE)

    def _until(self, sightings: Iterator[SightingRow]) -> Iterator[str]:
        """When these were last made until the time."""
        for sighting in sightings:
            if (moment_of(sighting.first_tag) or "") <= self._moment:
                yield min(moment_of(sighting.last_tag) or "", self._moment)


def _is_good(sighting: SightingRow) -> bool:
    return 0 < sighting.status < 400 and not sighting.target and not sighting.error
