"""Pages of a site whose version at a time was thinned out or forgotten, so that they seem not to have been there."""

from __future__ import annotations

from webarc.archive.catalog import Catalog, moment_of
from webarc.archive.gaps import Gap, uncertain
from webarc.sql.rows import SightingRow, VersionRow


class Lost:
    """What is lost of the state of a domain at a crawl time; `arcs` are those of pages that may look older there."""

    def __init__(self, catalog: Catalog, domain: str, moment: str) -> None:
        self._catalog, self._moment = catalog, moment
        self.arcs = uncertain(catalog.index, domain, moment)

    def gap_of(self, row: VersionRow) -> Gap | None:
        """What is missing then of a page that has this version at another time, if it was there; else None."""
        behind = self.arcs.get(row.arc)
        gap = self._catalog.gaps(row.domain).before(row.arc, behind) if behind else None
        if gap is None or gap.time <= self._moment:
            # What had been forgotten by then came anew.
            return None
        return gap if self._was_there(row) else None

    def _was_there(self, row: VersionRow) -> bool:
        """Whether crawls had found the page by then; of what only guests brought nothing is known but the gap."""
        found = [sighting for sighting in self._catalog.sightings(row.url) if _is_good(sighting)]
        return not found or any((moment_of(sighting.first_tag) or "") <= self._moment for sighting in found)


def _is_good(sighting: SightingRow) -> bool:
    return 0 < sighting.status < 400 and not sighting.target and not sighting.error
