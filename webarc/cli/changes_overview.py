"""`webarc changes` without a domain: what the last crawls changed in every site, in one table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from webarc.cli.context import Context
from webarc.cli.output import counted, json_line, rows
from webarc.errors import Damaged, DatabaseProblem, StorageProblem, worst

if TYPE_CHECKING:
    from webarc.archive.catalog import Catalog
    from webarc.diff.reading import Reading
    from webarc.diff.site import SiteChanges

_COLUMNS = ("domain", "changed", "moved", "added", "removed", "unchanged", "from", "to")


class _Site(NamedTuple):
    domain: str
    tags: tuple[str, str]
    found: SiteChanges
    remarks: list[str]


def show_all(context: Context, catalog: Catalog, reading: Reading, count: int | None, when_changed: int) -> int:
    """Show every domain that changed, that with most changes first; returns the exit code."""
    codes: list[int] = []
    domains = catalog.known_domains()
    sites = list(_compared(context, catalog, reading, domains, codes))
    changed = sorted((site for site in sites if site.found.differing()), key=_most_changed)
    if context.as_json:
        _print_objects(sorted(sites, key=_most_changed), count)
    elif changed:
        rows(_COLUMNS, [_cells(site) for site in changed[:count]])
        for site in changed[:count]:
            for remark in site.remarks:
                context.note(f"{site.domain}: {remark}")
    once = len(domains) - len(sites) - sum(map(bool, codes))
    alone = f"; {counted(once, 'domain')} crawled only once" if once else ""
    context.note(f"{len(changed):,} of {counted(len(domains), 'domain')} changed{alone}.")
    return worst([*codes, Damaged.exit_code if reading.unreadable else 0, when_changed if changed else 0])


def _compared(
    context: Context, catalog: Catalog, reading: Reading, domains: list[str], codes: list[int]
) -> Iterator[_Site]:
    from webarc.archive.crawl_pair import last_pair
    from webarc.cli.changes import remarks_on
    from webarc.diff.site import compared

    for domain in domains:
        try:
            pair = last_pair(catalog, domain)
            if pair is not None:
                tags = pair.old, pair.new
                yield _Site(domain, tags, compared(catalog, domain, tags, reading), list(remarks_on(pair)))
        except DatabaseProblem:
            raise
        except (StorageProblem, Damaged) as problem:
            # One broken repository must not hide the others.
            context.warn(str(problem) if domain in str(problem) else f"{domain}: {problem}")
            codes.append(problem.exit_code)


def _print_objects(sites: list[_Site], count: int | None) -> None:
    from webarc.cli.changes import objects

    for site in sites:
        for line in objects(site.found, site.found.at_most(count), site.domain, site.tags, site.remarks):
            json_line(line)


def _most_changed(site: _Site) -> tuple[int, str]:
    return -site.found.differing(), site.domain


def _cells(site: _Site) -> list[str]:
    return [site.domain, *(f"{figure:,}" for figure in site.found.counts().values()), *site.tags]
