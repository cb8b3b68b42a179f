"""`webarc status`: is everything well?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from webarc.archive.zones import shown
from webarc.cli.context import Context, command
from webarc.cli.output import json_line, one_line, safe
from webarc.errors import Stalled

if TYPE_CHECKING:
    from webarc.archive.wellbeing import Remark, Wellbeing
    from webarc.sql.state import Schedule

_SHOWN = 20
_DAMAGED = 11
_SOUND = "nothing lost or altered"
_EPILOG = """\b
Examples:
  webarc status
  webarc status --json
\b
"Sound" is what `webarc verify` has proven: nothing that was stored is lost or altered. An archive that
may only be read is well, too; it says so.
\b
Exit codes: 0 nothing is broken, 1 a crawl does not move, 11 something is broken; what to do is said beside it.
"""


@click.command(epilog=_EPILOG)
@click.option("--json", "as_json", is_flag=True, help="Print all of it as one JSON object.")
@command
def status(context: Context, as_json: bool) -> int:
    """Tell whether everything is well.

    Domains, who is at work in them, crawls that were interrupted, the index, the disk, and the next scheduled crawls.
    It only looks, and takes no lock; `webarc verify` proves what this believes.
    """
    from webarc.archive.wellbeing import wellbeing

    found = wellbeing(context.archive(), context.database_url(), context.settings()["crawl.stall_timeout"])
    found.remarks += _missing_files(found)
    if as_json:
        json_line(_as_json(found))
    else:
        for line in _troubles(found) if context.quiet else _lines(found):
            context.echo(safe(line))
    if found.is_well:
        return 0
    return _DAMAGED if any(remark.bad and not remark.hangs for remark in found.remarks) else Stalled.exit_code


def _missing_files(found: Wellbeing) -> Iterator[Remark]:
    """Schedules that cannot run, for their files are gone."""
    from webarc.archive.wellbeing import Remark

    if not found.schedules:
        return
    from webarc.cli.schedule_arguments import placed
    from webarc.cli.schedule_view import missing_files

    for schedule in found.schedules:
        for text in missing_files(placed(schedule, found.root)):
            yield Remark("", f"the schedule {text.rstrip('.')}", bad=True)


def _lines(found: Wellbeing) -> Iterator[str]:
    from webarc.config.units import rough_size

    yield f"Archive    {found.root}"
    yield f"Domains    {found.domains}{_verified(found)}"
    yield f"Index      {_index(found)}"
    if not found.is_writable:
        yield "Access     may be read here, but not written to: by this user, or on a disk that is mounted read-only"
    least = "" if found.usage.whole else "at least "
    taken = f"{least}{rough_size(found.usage.size)} taken, {rough_size(found.history_size)} of it history"
    yield f"Disk       {taken}; {rough_size(found.free)} free"
    yield from _part(
        "At work", [f"{holder.domain or 'all'} {holder.purpose}: {holder.text()}" for holder in found.holders]
    )
    yield from _part("Crawls", [_crawl(each.domain, each.began, each.pid) for each in found.crawls])
    yield from _part("Scheduled", [_due(each) for each in found.schedules])
    yield from _part("Remarks", [_remark(remark) for remark in found.remarks])
    if found.is_well:
        yield "Everything is well."
    else:
        yield "A crawl does not move." if found.hangs else "Something is broken."


def _troubles(found: Wellbeing) -> Iterator[str]:
    """What is broken, and nothing else."""
    for remark in found.remarks:
        if remark.bad:
            yield _remark(remark)


def _remark(remark: Remark) -> str:
    return one_line(f"{remark.domain}: {remark.text}".removeprefix(": "))


def _verified(found: Wellbeing) -> str:
    if not found.domains:
        return ""
    if not found.verified:
        return f", none known to be sound ({_SOUND}); `webarc verify` looks"
    since = f"since {shown(found.oldest_verified)}"
    count = "all" if found.verified == found.domains else str(found.verified)
    return f", {count} found sound {since}: {_SOUND}"


def _index(found: Wellbeing) -> str:
    from webarc.config.units import rough_size

    size = f" ({rough_size(found.index_size)})" if found.index_size else ""
    if not found.behind:
        return f"up to date{size}"
    return f"behind in {found.behind} of {found.domains} domains{size}; the next command that may write there brings it"


def _crawl(domain: str, began: str, pid: int | None) -> str:
    if pid is not None:
        return f"{domain}: running since {shown(began)}, process {pid}"
    return f"{domain}: interrupted, began {shown(began)}; `webarc crawl --resume` goes on with it"


def _due(schedule: Schedule) -> str:
    from webarc.cli.schedule_view import shown_time

    last = "" if schedule.last_exit is None else f", last exit code {schedule.last_exit}"
    return f"{schedule.name}: next {shown_time(schedule.kind, schedule.next_due)}{last}"


def _part(title: str, lines: list[str]) -> Iterator[str]:
    """Lines under a title; the first ones, should there be very many."""
    for number, line in enumerate(lines[:_SHOWN]):
        yield f"{title if not number else '':10} {one_line(line)}"
    if len(lines) > _SHOWN:
        yield f"{'':10} ... and {len(lines) - _SHOWN} more; `webarc status --json` has all of them"


def _as_json(found: Wellbeing) -> dict[str, Any]:
    return {
        "well": found.is_well,
        "archive": str(found.root),
        "writable": found.is_writable,
        "domains": found.domains,
        "verified": found.verified,
        "verifiedSince": found.oldest_verified or None,
        "index": {"behind": found.behind, "size": found.index_size},
        "disk": {
            "taken": found.usage.size,
            "allCounted": found.usage.whole,
            "history": found.history_size,
            "free": found.free,
        },
        "locks": [
            {"domain": each.domain, "lock": each.purpose, "pid": each.pid, "command": each.command, "since": each.since}
            for each in found.holders
        ],
        "crawls": [
            {
                "domain": each.domain,
                "began": each.began,
                "running": each.pid is not None,
                "pid": each.pid,
                "place": str(each.place),
            }
            for each in found.crawls
        ],
        "schedules": [
            {"name": each.name, "next": each.next_due, "lastEnd": each.last_end, "exitCode": each.last_exit}
            for each in found.schedules
        ],
        "scheduler": found.has_scheduler,
        "remarks": [{"domain": each.domain, "text": each.text, "broken": each.bad} for each in found.remarks],
    }
