"""`webarc db-recover`: the index, built anew from the XML of every version in the archive."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING

import click

from webarc.cli.context import Context, command
from webarc.cli.output import json_line, safe

if TYPE_CHECKING:
    from webarc.archive.indexing import Progress
    from webarc.archive.recovery import RecoverySummary

_PLAIN_EVERY = 10.0
_EPILOG = """\b
Example:
  webarc --archive archive db-recover
\b
Exit codes: 0 all versions were read, 11 some could not be; they are named, and the rest is in the index.
"""


@click.command("db-recover", epilog=_EPILOG)
@click.option("--json", "as_json", is_flag=True, help="Print the result as one JSON object.")
@command
def db_recover(context: Context, as_json: bool) -> int:
    """Rebuild the index from every version in the archive.

    The old index stays in use until the new one is complete.
    """
    return recover_with_progress(context)


def recover_with_progress(context: Context) -> int:
    """Rebuild the index, showing how far it is; the exit code says whether anything could not be read."""
    from webarc.archive.recovery import recover
    from webarc.sql.index import Index

    archive = context.archive()
    index = Index(context.database_url())
    try:
        with _progress(context, archive.domains()) as moved:
            summary = recover(archive, index, moved)
    finally:
        index.close()
    _show(context, summary)
    return summary.exit_code


def _show(context: Context, summary: RecoverySummary) -> None:
    if context.as_json:
        figures = {"domains": summary.domains, "versions": summary.versions, "seconds": round(summary.seconds, 3)}
        json_line(
            {**figures, "problemCount": summary.problem_count, "problems": list(summary.problems), **_aside(summary)}
        )
        return
    if summary.set_aside is not None:
        context.warn(
            f"{summary.set_aside} is what stood in the index's place and was none; delete it if you need it no more."
        )
    for problem in summary.problems:
        context.warn(problem)
    unread = f", {summary.problem_count} could not be read" if summary.problem_count else ""
    context.echo(
        f"The index is rebuilt: {_counted(summary.versions, 'version')} of {_counted(summary.domains, 'domain')} "
        f"in {summary.seconds:.1f} s{unread}."
    )


def _aside(summary: RecoverySummary) -> dict[str, str]:
    return {} if summary.set_aside is None else {"setAside": str(summary.set_aside)}


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


@contextmanager
def _progress(context: Context, domains: list[str]) -> Iterator[Progress]:
    """A bar on a terminal, a line now and then elsewhere, nothing for machines."""
    if context.as_json or context.quiet:
        yield lambda domain, versions: None
    elif sys.stderr.isatty():
        with _bar(domains) as moved:
            yield moved
    else:
        yield _plain(context)


def _plain(context: Context) -> Progress:
    said = monotonic()

    def moved(domain: str, versions: int) -> None:
        nonlocal said
        if monotonic() - said >= _PLAIN_EVERY:
            said = monotonic()
            context.note(f"{domain}: {versions} versions read")

    return moved


@contextmanager
def _bar(domains: list[str]) -> Iterator[Progress]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    place = {domain: number for number, domain in enumerate(domains)}
    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("domains, {task.description}", markup=False))
    with Progress(*columns, TimeElapsedColumn(), console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("reading", total=len(domains))

        def moved(domain: str, versions: int) -> None:
            bar.update(task, completed=place.get(domain, 0), description=f"{safe(domain)}: {versions} versions")

        yield moved
