"""`webarc log`: the versions of a page with what changed in each, or the crawls of a domain with their figures."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

import click

from webarc.archive.zones import shown
from webarc.cli.columns import lines
from webarc.cli.context import Context, command
from webarc.cli.output import json_line
from webarc.cli.versions import opened, peeked

if TYPE_CHECKING:
    from webarc.archive.catalog import Catalog, Page
    from webarc.archive.chronicle import Event

_FOREVER = "9999"
_EPILOG = """\b
Examples:
  webarc log https://example.org/news/
  webarc log example.org --since "3 months ago" -n 20
\b
Exit codes: 0 listed, 2 unknown page or domain, or a time that cannot be read.
"""


@click.command(epilog=_EPILOG)
@click.argument("target", metavar="URL|DOMAIN")
@click.option("--since", metavar="TIME", help="Only what came then or later.")
@click.option("--until", metavar="TIME", help="Only what came then or before.")
@click.option("-n", "--number", "most", type=click.IntRange(min=1), metavar="N", help="Only the N newest entries.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
@command
def log(context: Context, target: str, since: str | None, until: str | None, most: int | None, as_json: bool) -> None:
    """List the versions of a page, or the crawls of a domain, newest first.

    For every version: its number, time, status, size, by how much it grew or shrank, how many words of the visible text
    came and went, and its title. That a page was found gone or moved, or that versions were forgotten, is an entry of
    its own; "after 2" as a change says that version 2 was thinned out. A bare host is a DOMAIN, anything else a URL.
    Times are in the zone of the setting times.zone, CET unless set.
    """
    from webarc.archive import times
    from webarc.archive.instants import instant

    first = times.text(instant(since)) if since else ""
    last = times.text(instant(until, end=True)) if until else _FOREVER
    with opened(context) as catalog:
        show = _log_domain if catalog.is_domain(target) else _log_page
        show(context, catalog, target, (first, last), most)


def _log_page(context: Context, catalog: Catalog, target: str, span: tuple[str, str], most: int | None) -> None:
    from webarc.archive.chronicle import time_of
    from webarc.cli.log_page import COLUMNS, PageLog

    page, events = _events(catalog, target)
    chosen = [event for event in events if span[0] <= time_of(event) <= span[1]][:most]
    if not chosen:
        context.note(f"nothing of {target} is from that time; its newest entry is of {shown(time_of(events[0]))}.")
        return
    entries = PageLog(context, catalog, page, chosen)
    if context.as_json:
        for event in chosen:
            json_line(entries.as_json(event))
    else:
        lines(COLUMNS, map(entries.cells, chosen))
    entries.finish()


def _events(catalog: Catalog, target: str) -> tuple[Page | None, list[Event]]:
    """A page and what happened to it; of a page that was forgotten there are only the tombstones."""
    from webarc.archive.chronicle import forgettings_of, page_events
    from webarc.archive.spellings import lookups
    from webarc.errors import UnknownURL

    try:
        page = catalog.page(target)
    except UnknownURL:
        stones: list[Event] = [each for url in lookups(target) for each in forgettings_of(catalog, url)]
        if not stones:
            raise
        return None, stones[::-1]
    return page, page_events(catalog, page)


def _log_domain(context: Context, catalog: Catalog, target: str, span: tuple[str, str], most: int | None) -> None:
    from webarc.archive.catalog import just_after
    from webarc.archive.chronicle import domain_events
    from webarc.cli.log_domain import COLUMNS, as_json, cells

    domain = catalog.domain(target)
    # A commitTag begins with its time, written with a T.
    since, until = span[0].replace(" ", "T"), span[1] if span[1] == _FOREVER else just_after(span[1])
    events = peeked(domain_events(catalog, domain, since, until))
    if events is None:
        known = f"in that time; see all with `webarc log {domain}`" if since or until != _FOREVER else "yet"
        context.note(f"{domain} has no crawl {known}.")
    elif context.as_json:
        for event in islice(events, most):
            json_line(as_json(event))
    else:
        lines(COLUMNS, map(cells, islice(events, most)))
