"""The entries of a domain's log: crawls with their figures, what guests brought, what was forgotten."""

from __future__ import annotations

from typing import TYPE_CHECKING

from webarc.archive.zones import shown
from webarc.cli.columns import TIME
from webarc.cli.log_page import forgotten_json
from webarc.config.units import rough_size, shown_duration
from webarc.sql.rows import CrawlRow, GuestRow

if TYPE_CHECKING:
    from webarc.archive.chronicle import DomainEvent

_FIGURES = ("fetched", "new", "changed", "unchanged", "gone", "moved", "failed", "filtered", "skipped")
COLUMNS = (
    ("time", TIME),
    *((name, -10) for name in _FIGURES),
    ("bytes", -8),
    ("took", 10),
    ("commitTag", 100),
    ("complete", 0),
)


def cells(event: DomainEvent) -> tuple[str, ...]:
    """An entry as a line of the table."""
    if isinstance(event, CrawlRow):
        figures = [str(event.counts.get(name, 0)) for name in _FIGURES]
        size, took = rough_size(event.counts.get("bytes", 0)), shown_duration(event.counts.get("seconds", 0))
        held = f", {len(event.held)} removals held back" if event.held else ""
        complete = "yes" if event.complete else f"no, {event.reason}" if event.reason else "no"
        return shown(event.crawl_time), *figures, size, took, event.commit_tag, f"{complete}{held}"
    if isinstance(event, GuestRow):
        figures = [str(event.versions) if name == "fetched" else "" for name in _FIGURES]
        size = rough_size(event.size)
        return shown(event.crawl_time), *figures, size, "", event.commit_tag, "as a guest of another domain"
    said = f"forgotten: {event.url or f'{event.pages} pages'}, by {event.by}: {event.reason}"
    return shown(event.time), *[""] * (len(_FIGURES) + 2), event.tag, said


def as_json(event: DomainEvent) -> dict[str, object]:
    """An entry as an object; crawls are those without `event`."""
    if isinstance(event, CrawlRow):
        return {
            "commitTag": event.commit_tag,
            "crawlTime": event.crawl_time,
            "endTime": event.end_time,
            "domain": event.domain,
            "definition": event.definition,
            "complete": event.complete,
            "reason": event.reason,
            "counts": event.counts,
            "options": event.options,
            "held": list(event.held),
        }
    if isinstance(event, GuestRow):
        figures = {"versions": event.versions, "size": event.size}
        return {"event": "guest", "commitTag": event.commit_tag, "crawlTime": event.crawl_time, **figures}
    return forgotten_json(event)
