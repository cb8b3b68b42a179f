"""`webarc list`: the domains of the archive, the URLs of a domain, or the versions that fulfil a condition."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from webarc.archive.zones import shown
from webarc.cli.columns import TIME, lines
from webarc.cli.context import Context, command
from webarc.cli.output import json_line
from webarc.cli.versions import chosen_domain, opened, peeked, version_json
from webarc.config.units import rough_size
from webarc.errors import Damaged, DatabaseProblem, StorageProblem, UsageProblem, worst

if TYPE_CHECKING:
    from webarc.archive.catalog import Catalog
    from webarc.sql.rows import TotalsRow, VersionRow

_DOCUMENT = (("type", 24), ("url", 80), ("title", 0))
_DOMAIN_COLUMNS = (
    ("domain", 60),
    ("pages", -10),
    ("versions", -10),
    ("size", -8),
    ("first crawl", TIME),
    ("last crawl", 0),
)
_URL_COLUMNS = (("versions", -8), ("size", -8), ("last change", TIME), *_DOCUMENT)
_VERSION_COLUMNS = (("number", -8), ("time", TIME), ("status", -6), ("size", -8), *_DOCUMENT)
_EPILOG = """\b
Fields: number, url, crawlTime, commitTag, status, mimeType, size, sha256, title, domain, path,
createTime, and current (1 while a version is the one that stands in the archive, else 0).
\b
Times: '2026-11-15' is that whole day, 'yesterday' and '3 days ago' are allowed; without a zone they are
in that of the setting times.zone (CET). LIKE and GLOB see times as they are stored, in CET.
\b
Conditions: = <> < > <= >= LIKE (any case) GLOB IN BETWEEN, IS NULL, AND, OR, NOT, lower, upper, length.
\b
Examples:
  webarc list
  webarc list example.org
  webarc list --where "mimeType = 'application/pdf' AND crawlTime >= '2026-11-01'"
  webarc list example.org --where "current = 1 AND title LIKE '%tide%'"
\b
Exit codes: 0 listed, 2 unknown domain or a condition that is not allowed, 3 a domain could not be read,
11 a domain is damaged; it is named, with what the index still knows of it.
"""


@click.command("list", epilog=_EPILOG)
@click.argument("domain", required=False)
@click.option("--where", metavar="EXPR", help="List the versions, old ones too, that fulfil a condition.")
@click.option("--all", "every", is_flag=True, help="With a DOMAIN: also the URLs that are gone.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
@command
def list_(context: Context, domain: str | None, where: str | None, every: bool, as_json: bool) -> int:
    """List the domains of the archive, or the URLs of a domain.

    Domains come with their pages, versions, size of all versions, first and last crawl; the URLs of a DOMAIN with their
    newest version. Times are in the zone of the setting times.zone, CET unless set.
    """
    if every and (domain is None or where is not None):
        raise UsageProblem("--all is for the URLs of a domain; name one, without --where.")
    with opened(context) as catalog:
        if where is not None:
            return _list_versions(context, catalog, domain, where)
        return _list_domains(context, catalog) if domain is None else _list_urls(context, catalog, domain, every)


# -- domains ------------------------------------------------------------------------------------------------------


def _list_domains(context: Context, catalog: Catalog) -> int:
    codes: list[int] = []
    found = _totals(context, catalog, catalog.known_domains(), codes)
    if context.as_json:
        for each in found:
            json_line(_totals_json(each))
        return worst(codes)
    table = [_totals_row(each) for each in found]
    if table:
        lines(_DOMAIN_COLUMNS, table)
    elif not any(codes):
        context.note("the archive is empty; fill it with `webarc crawl`.")
    return worst(codes)


def _totals(context: Context, catalog: Catalog, domains: list[str], codes: list[int]) -> Iterator[TotalsRow]:
    for domain in domains:
        if _is_caught_up(context, catalog, domain, codes):
            yield catalog.index.totals(domain)


def _is_caught_up(context: Context, catalog: Catalog, domain: str, codes: list[int]) -> bool:
    try:
        catalog.catch_up(domain)
    except DatabaseProblem:
        raise
    except (StorageProblem, Damaged) as problem:
        # One broken repository must not hide the others.
        context.warn(str(problem) if isinstance(problem, Damaged) else f"{domain}: {problem}")
        codes.append(problem.exit_code)
        return False
    codes.append(_code(catalog, domain))
    return True


def _code(catalog: Catalog, domain: str) -> int:
    """What is shown of a damaged domain is what the index still knows."""
    return Damaged.exit_code if domain in catalog.damaged else 0


def _totals_row(each: TotalsRow) -> tuple[str, ...]:
    figures = (str(each.pages), str(each.versions), rough_size(each.size))
    return each.domain, *figures, shown(each.first_crawl or ""), shown(each.last_crawl or "")


def _totals_json(each: TotalsRow) -> dict[str, object]:
    return {
        "domain": each.domain,
        "pages": each.pages,
        "versions": each.versions,
        "size": each.size,
        "firstCrawl": each.first_crawl,
        "lastCrawl": each.last_crawl,
    }


# -- URLs and versions --------------------------------------------------------------------------------------------


def _list_urls(context: Context, catalog: Catalog, text: str, every: bool) -> int:
    domain = chosen_domain(context, catalog, text)
    found = peeked((row, count) for row, count in catalog.index.urls(domain) if every or row.is_current)
    if found is None:
        context.note(f"{domain} has no pages{'' if every else ' now; --all lists those that are gone'}.")
    elif context.as_json:
        for row, count in found:
            json_line(version_json(row) | {"versions": count, "current": bool(row.is_current)})
    else:
        lines(_URL_COLUMNS, (_url_row(row, count) for row, count in found))
    return _code(catalog, domain)


def _url_row(row: VersionRow, count: int) -> tuple[str, ...]:
    url = row.url if row.is_current else f"{row.url} (gone)"
    return str(count), rough_size(row.length), shown(row.crawl_time), row.mime_type, url, row.title or ""


def _list_versions(context: Context, catalog: Catalog, text: str | None, where: str) -> int:
    from webarc.archive.instants import span
    from webarc.sql.where import condition

    wanted = condition(where, span)
    domain = chosen_domain(context, catalog, text) if text is not None else None
    codes = [] if domain is None else [_code(catalog, domain)]
    for each in catalog.known_domains() if domain is None else ():
        _is_caught_up(context, catalog, each, codes)
    found = peeked(catalog.index.matching(wanted, domain))
    if found is None:
        context.note("no version fulfils the condition.")
    elif context.as_json:
        for row in found:
            json_line(version_json(row))
    else:
        lines(_VERSION_COLUMNS, map(_version_row, found))
    return worst(codes)


def _version_row(row: VersionRow) -> tuple[str, ...]:
    figures = (str(row.number), shown(row.crawl_time), str(row.status), rough_size(row.length))
    return *figures, row.mime_type, row.url, row.title or ""
