"""`webarc compact`: the repositories packed tightly, and what dead processes left taken away."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from webarc.cli.context import Context, command
from webarc.cli.lock_wait import lock_wait_option
from webarc.cli.output import json_line, rows, say_error
from webarc.errors import WebarcError, worst

if TYPE_CHECKING:
    from webarc.archive.compaction import Compaction
    from webarc.archive.store import Archive

_EPILOG = """\b
Examples:
  webarc compact
  webarc compact example.org
\b
Exit codes: 0 fine, 2 no such domain, 3 disk or git, 12 a domain is being crawled; the others were packed.
"""


@click.command(epilog=_EPILOG)
@click.argument("domains", nargs=-1, metavar="[DOMAIN]...")
@lock_wait_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
@command
def compact(context: Context, domains: tuple[str, ...], lock_wait: float, as_json: bool) -> int:
    """Pack the repositories tightly, of the domains given or of all.

    Nothing is lost: versions are stored as differences to each other where that is shorter, and a graph of the
    commits makes look-ups fast. Temp dirs of crawls that were killed and cannot be resumed are removed. A cheap form
    of this runs by itself after every so many crawls (setting compact.every).
    """
    from webarc.archive.gitenv import require_git
    from webarc.archive.temp_dirs import prune_staging
    from webarc.cli.versions import chosen_domain, opened

    require_git()
    context.archive().check_writable()
    with opened(context) as catalog:
        archive = catalog.archive
        chosen = [chosen_domain(context, catalog, text) for text in domains] or archive.domains()
    done, codes = [], []
    for domain in dict.fromkeys(chosen):
        try:
            done.append(_compacted(context, archive, domain, lock_wait))
        except WebarcError as error:
            say_error(type(error).__name__, str(error), as_json)
            codes.append(error.exit_code)
    removed, freed = prune_staging(archive)
    _show(context, done, removed, freed, failed=bool(codes))
    return worst(codes)


def _compacted(context: Context, archive: Archive, domain: str, lock_wait: float) -> Compaction:
    from webarc.archive import compaction

    result = compaction.compact(archive, domain, lock_wait)
    for warning in result.warnings:
        context.warn(warning)
    if context.as_json:
        before, after = result.before, result.after
        sizes = {"sizeBefore": before.size, "size": after.size, "packsBefore": before.packs, "packs": after.packs}
        loose = {"looseBefore": before.loose, "loose": after.loose, "seconds": round(result.seconds, 3)}
        json_line({"domain": domain, **sizes, **loose})
    return result


def _show(context: Context, done: list[Compaction], removed: int, freed: int, *, failed: bool) -> None:
    from webarc.config.units import rough_size

    if context.as_json:
        json_line({"tempDirs": removed, "size": freed})
        return
    if done and not context.quiet:
        before, after = sum(each.before.size for each in done), sum(each.after.size for each in done)
        lines = [_line(each) for each in done]
        total = ["all", rough_size(before), rough_size(after), "", "", f"{sum(each.seconds for each in done):.1f} s"]
        rows(("domain", "before", "after", "packs", "loose", "took"), [*lines, total] if len(done) > 1 else lines)
    elif not removed and not failed:
        context.note("there was nothing to pack.")
    if removed:
        context.note(f"{removed} temp dirs of dead processes removed, {rough_size(freed)}")


def _line(each: Compaction) -> list[str]:
    from webarc.config.units import rough_size

    before, after = each.before, each.after
    sizes = [rough_size(before.size), rough_size(after.size)]
    counts = [f"{before.packs} -> {after.packs}", f"{before.loose} -> {after.loose}"]
    return [each.domain, *sizes, *counts, f"{each.seconds:.1f} s"]
