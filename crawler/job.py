"""One domain's share of a run: what an instance is told when it starts and what it reports when it ends."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from webarc.crawler.options import CrawlOptions

COUNTS = (
    "fetched",
    "new",
    "changed",
    "unchanged",
    "gone",
    "moved",
    "failed",
    "filtered",
    "skipped",
    "bytes",
    "seconds",
)


@dataclass(frozen=True, slots=True)
class Job:
    """The start URLs of one domain, and all that an instance needs to crawl them."""

    domain: str
    starts: tuple[str, ...]
    options: CrawlOptions
    archive: Path
    database: str
    start_time: datetime
    owned_elsewhere: frozenset[str]
    credentials: tuple[str, str] | None = None
    report: Path | None = None
    lock_wait: float | None = None
    skip_busy: bool = False
    """Leave the domain out if another crawl is at work in it; other locks are waited for all the same."""
    resume: bool = False
    zone: str = "CET"
    claims: Path | None = None
    """Where the instances of a run note which domains they have joined."""
    lock_turn: float | None = None
    """How long to wait for the domain before another one gets this place; None: as long as it takes."""
    told_to_wait: bool = False
    """People know already that this domain is waited for."""


@dataclass(slots=True)
class Result:
    """How an instance ended."""

    domain: str
    commit_tag: str = ""
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(COUNTS, 0))
    complete: bool = False
    reason: str = ""
    held: int = 0
    also: list[str] = field(default_factory=list)
    traps: list[dict[str, Any]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    error: str = ""
    error_class: str = ""
    exit_code: int = 0
    busy: bool = False
    """Somebody else is at work in the domain, and nothing was begun."""
    landings: list[str] = field(default_factory=list)
    """Pages of domains of other instances that start URLs redirect to."""
    urls: Path | None = None
    """The list of every URL with its outcome, if it was asked for."""

    def has_news(self) -> bool:
        """Whether the crawl changed what stands in the archive."""
        return any(self.counts[name] for name in ("new", "changed", "gone", "moved"))

    def as_json(self) -> dict[str, Any]:
        """The result as machines get it, in `--json` and in the report."""
        values = asdict(self)
        for name in ("busy", "landings", "urls"):
            del values[name]
        for name, shown in (("commit_tag", "commitTag"), ("exit_code", "exitCode"), ("error_class", "errorClass")):
            values[shown] = values.pop(name)
        return values


@dataclass(frozen=True, slots=True)
class Progress:
    """Where an instance stands."""

    domain: str
    pages: int
    bytes: int
    queue: int
    errors: int
    known: int
    state: str


def sentence(counts: dict[str, int], reason: str) -> str:
    """How a crawl went, as its commit says it."""
    figures = ", ".join(f"{name} {counts[name]}" for name in COUNTS)
    return f"{figures}\ncomplete: {'no, ' + reason if reason else 'yes'}"
