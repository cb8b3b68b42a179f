"""How `webarc schedule list` shows schedules: their times with a zone, and what became of their last run."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from webarc.archive.zones import LOCAL, shown
from webarc.cli.columns import TIME

if TYPE_CHECKING:
    from webarc.cli.schedule_arguments import Placed
    from webarc.sql.state import Schedule

_CRON = "cron"
COLUMNS = (
    ("name", 64),
    ("when", 40),
    ("next", TIME),
    ("last start", TIME),
    ("last end", TIME),
    ("exit code", -9),
    ("crawl", 0),
)


def shown_time(kind: str, stored: str) -> str:
    """A time of a schedule: that of a cron expression is local, as the expression is."""
    return shown(stored, LOCAL if kind == _CRON else None)


def cells(placed: Placed, *, is_running: bool) -> tuple[str, ...]:
    """A schedule as a line of the table; `is_running` tells whether a scheduler serves the archive."""
    each = placed.schedule
    return (
        each.name,
        f"{each.spec} local" if each.kind == _CRON else f"every {each.spec}",
        shown_time(each.kind, each.next_due),
        shown_time(each.kind, each.last_start) if each.last_start else "never",
        _end(each, is_running=is_running),
        "" if each.last_exit is None else str(each.last_exit),
        shlex.join(each.argv),
    )


def _end(each: Schedule, *, is_running: bool) -> str:
    if each.last_end:
        return shown_time(each.kind, each.last_end)
    if not each.last_start:
        return ""
    return "going on" if is_running else "interrupted"


def remarks(placed: Placed) -> Iterator[str]:
    """What the table cannot say about a schedule."""
    each = placed.schedule
    yield from missing_files(placed)
    if each.skipped:
        yield f"{each.name}: the run of {shown_time(each.kind, each.skipped)} was skipped; {each.remark}."
    elif each.remark and not placed.missing:
        yield f"{each.name}: of its last run: {each.remark.rstrip('.')}."


def missing_files(placed: Placed) -> Iterator[str]:
    """The files that a schedule needs and that are nowhere."""
    for file in placed.missing:
        yield f"{placed.schedule.name}: {file} is missing; put it back, or remove the schedule and add it anew."


def as_object(placed: Placed) -> dict[str, Any]:
    """A schedule as an object."""
    each = placed.schedule
    return {
        "name": each.name,
        each.kind: each.spec,
        "next": each.next_due,
        "lastStart": each.last_start,
        "lastEnd": each.last_end,
        "exitCode": each.last_exit,
        "skipped": each.skipped,
        "remark": each.remark,
        "missing": list(placed.missing),
        "argv": list(each.argv),
    }
