"""`webarc get`: the bytes of a page as it was at a time."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, BinaryIO

import click

from webarc.archive.zones import shown
from webarc.cli.context import Context, command
from webarc.cli.output import json_line
from webarc.cli.versions import note_stand_in, opened, version_json
from webarc.errors import UsageProblem

if TYPE_CHECKING:
    from webarc.archive.catalog import Catalog, Page
    from webarc.sql.rows import VersionRow

_EPILOG = """\b
Examples:
  webarc get https://example.org/ > page.html
  webarc get example.org/report.pdf --at "2026-11-15 23:50" -o report.pdf
  webarc get example.org/ --version 3 --headers
\b
Exit codes: 0 the bytes were written, 2 the archive has no such page or version, 3 the file could not
be written, 11 the version is damaged.
"""


@click.command(epilog=_EPILOG)
@click.argument("url", metavar="URL")
@click.option("--at", metavar="TIME", help="The version that was current then. [the newest]")
@click.option("--version", "number", type=int, metavar="N", help="The version of a number; -1 is the newest.")
@click.option("--commit", "tag", metavar="TAG", help="The version that was current after a crawl, by its commitTag.")
@click.option("-o", "--output", metavar="FILE", help="Where to write the bytes; - is standard output, even a terminal.")
@click.option("--headers", is_flag=True, help="Print the headers of the response before the bytes.")
@click.option("--json", "as_json", is_flag=True, help="Print what is known about the version instead of its bytes.")
@command
def get(
    context: Context,
    url: str,
    at: str | None,
    number: int | None,
    tag: str | None,
    output: str | None,
    headers: bool,
    as_json: bool,
) -> None:
    """Print a page as it was at a time.

    Nothing is fetched from the web. A time may be written like 2026-11-15, '2026-11-15 23:50', 20261115235000 (UTC),
    yesterday or '3 days ago'; without a zone it is in that of the setting times.zone, CET unless set. Of a page that is
    gone the last version is given.
    """
    if sum(each is not None for each in (at, number, tag)) > 1:
        raise UsageProblem("--at, --version and --commit exclude each other; give one of them.")
    with opened(context) as catalog:
        page = catalog.page(url)
        row = _chosen(context, catalog, page, at, number, tag)
        if output is not None or not as_json:
            _write(catalog, row, output, headers and not as_json)
        if as_json:
            json_line(version_json(row) | (_headers_json(catalog, row) if headers else {}))


def _chosen(
    context: Context, catalog: Catalog, page: Page, at: str | None, number: int | None, tag: str | None
) -> VersionRow:
    from webarc.archive import times
    from webarc.archive.instants import instant

    if number is not None:
        return page.number(number)
    if tag is not None:
        row = catalog.tagged(page, tag)
        note_stand_in(context, catalog, page, row, tag)
        return _noted(context, catalog, row, tag.partition("@")[0].replace("T", " "))
    if at is None:
        return _noted(context, catalog, page.newest(), times.text(times.now()))
    when = instant(at, end=True)
    if when > times.now() and instant(at) > times.now():
        context.note(f"{shown(times.text(when))} is in the future; this is the newest version.")
    row = page.at(when)
    note_stand_in(context, catalog, page, row, at)
    return _noted(context, catalog, row, times.text(when))


def _noted(context: Context, catalog: Catalog, row: VersionRow, moment: str) -> VersionRow:
    """The version, after saying that the page had gone by then if it had."""
    from webarc.archive.catalog import removed_before
    from webarc.archive.chronicle import removal_of

    if removed_before(row, moment):
        found = removal_of(catalog, row)
        what = f"{found.kind} to {found.target}" if found.target else found.kind
        context.note(f"{row.url} was {what} at {shown(found.time)}; this is its last version before, {row.number}.")
    return row


def _write(catalog: Catalog, row: VersionRow, output: str | None, headers: bool) -> None:
    from webarc.cli.delivery import delivered, print_on_terminal
    from webarc.cli.response import head

    before = head(catalog.metadata(row)) if headers else b""
    if output is None and sys.stdout.isatty():
        print_on_terminal(catalog, row, before)
        return
    with delivered(output) as target:
        _copy(catalog, row, before, target)


def _copy(catalog: Catalog, row: VersionRow, before: bytes, target: BinaryIO) -> None:
    target.write(before)
    catalog.copy(row, target)
    target.flush()


def _headers_json(catalog: Catalog, row: VersionRow) -> dict[str, object]:
    return {"headers": [list(pair) for pair in catalog.metadata(row).response.headers]}
