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
    resume: bool = False


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

    def as_json(self) -> dict[str, Any]:
        """The result as machines get it, in `--json` and in the report."""
        values = asdict(self)
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
