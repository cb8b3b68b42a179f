"""`webarc checkout`: a site as it was at a time, as plain files to browse."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

import click

from webarc.archive.zones import shown
from webarc.cli.context import Context, command
from webarc.cli.output import counted, json_line, safe
from webarc.cli.versions import chosen_domain, opened

if TYPE_CHECKING:
    from webarc.archive.checkout import Progress, Summary, Wishes

_PLAIN_EVERY = 10.0
_EPILOG = """\b
Example:
  webarc checkout example.org --at 2026-11-15 --links relative old-site
\b
Exit codes: 0 all is written, 2 DIR is not empty or there was nothing then, 3 DIR cannot be written,
11 the bytes of some files are lost; they are named, and the rest is written.
"""


@click.command("checkout", epilog=_EPILOG)
@click.argument("domain")
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--at", metavar="TIME", help="The state at this time, or after the crawl with this commitTag. [now]")
@click.option(
    "--links",
    type=click.Choice(["kept", "relative"]),
    default="kept",
    show_default=True,
    help="Keep every byte as it was sent, or have links lead to the files, so that a browser can open them.",
)
@click.option(
    "--with-requisites/--without-requisites",
    "requisites",
    default=None,
    help="Also what pages show from other domains of the archive, in DIR/_other. [with --links relative]",
)
@click.option("--force", is_flag=True, help="Add to a folder that is not empty; files of the same names are replaced.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as one JSON object.")
@command
def checkout(
    context: Context,
    domain: str,
    directory: Path,
    at: str | None,
    links: str,
    requisites: bool | None,
    force: bool,
    as_json: bool,
) -> int:
    """Write a site as it was at a time to a folder.

    DIR must be new or empty. It gets all files at once in the end, or none.
    """
    from webarc.archive.checkout import check_out, moment_named

    with opened(context) as catalog:
        name = chosen_domain(context, catalog, domain)
        wishes = _wishes(links == "relative", requisites, force)
        when = moment_named(catalog, name, at, context.note)
        with _progress(context) as moved:
            summary = check_out(catalog, name, when, directory, wishes, moved)
    _show(context, summary)
    return summary.exit_code


def _wishes(rewrite: bool, requisites: bool | None, force: bool) -> Wishes:
    from webarc.archive.checkout import Wishes
    from webarc.crawler.relinking import relinked

    wanted = rewrite if requisites is None else requisites
    # Pages are read for what they need, too, even if they are then written as they are.
    return Wishes(relinked if rewrite or wanted else None, rewrite, wanted, force)


def _show(context: Context, summary: Summary) -> None:
    if context.as_json:
        json_line(_as_json(summary))
        return
    from webarc.config.units import rough_size

    for problem in summary.problems:
        context.warn(problem)
    parts = f" and {counted(summary.requisites, 'requisite')} of other domains" if summary.requisites else ""
    if summary.missing:
        context.warn(f"lost and not written: {counted(summary.missing, 'file')}.")
    context.tell(
        f"{safe(summary.domain)} at {shown(summary.when)}: {counted(summary.pages, 'file')}{parts}, "
        f"{rough_size(summary.bytes)} in {safe(str(summary.folder))}."
    )
    if summary.uncertain:
        context.note(
            f"Of {counted(summary.uncertain, 'page')} the version of then may have been thinned out or forgotten; "
            "an older one was written, if there is any."
        )
    if summary.start is not None:
        context.tell(f"Open {safe(str(summary.folder / summary.start))}")


def _as_json(summary: Summary) -> dict[str, object]:
    return {
        "domain": summary.domain,
        "at": summary.when,
        "folder": str(summary.folder),
        "pages": summary.pages,
        "requisites": summary.requisites,
        "uncertain": summary.uncertain,
        "bytes": summary.bytes,
        "missing": summary.missing,
        "start": summary.start,
        "problems": summary.problems,
    }


@contextmanager
def _progress(context: Context) -> Iterator[Progress]:
    """A bar on a terminal, a line now and then elsewhere, nothing for machines."""
    if context.as_json or context.quiet:
        yield lambda done, total: None
    elif sys.stderr.isatty():
        with _bar() as moved:
            yield moved
    else:
        yield _plain(context)


def _plain(context: Context) -> Progress:
    said = monotonic()

    def moved(done: int, total: int) -> None:
        nonlocal said
        if monotonic() - said >= _PLAIN_EVERY:
            said = monotonic()
            context.note(f"{done} of {total} files written")

    return moved


@contextmanager
def _bar() -> Iterator[Progress]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("files"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("writing", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
