"""`webarc retain`: old versions thinned out, as backups are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from webarc.cli.context import Context, command
from webarc.cli.forget_view import confirm, show_result
from webarc.cli.lock_wait import lock_wait_option
from webarc.cli.output import counted, json_line, rows, say_error
from webarc.errors import WebarcError, worst

if TYPE_CHECKING:
    from webarc.archive.catalog import Catalog
    from webarc.archive.retention import Keep

_EPILOG = """\b
Examples:
  webarc retain --keep daily=30,monthly=12 --dry-run
  webarc retain --keep last=10,yearly=all --yes example.org
\b
Exit codes: 0 fine, 2 wrong usage or nobody to ask, 3 disk or git, 12 a domain is being crawled, 13 you said no.
"""


@click.command(epilog=_EPILOG)
@click.argument("domains", nargs=-1, metavar="[DOMAIN]...")
@click.option(
    "--keep",
    required=True,
    metavar="RULES",
    help="last, hourly, daily, weekly, monthly, yearly: how many of each stay.",
)
@click.option("--dry-run", is_flag=True, help="Only show what would go.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@lock_wait_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
@command
def retain(
    context: Context,
    domains: tuple[str, ...],
    keep: str,
    dry_run: bool,
    yes: bool,
    lock_wait: float,
    as_json: bool,
) -> int:
    """Thin out old versions, of the domains given or of all.

    Of each page the newest version of every one of the last so many days, months and so on stays; a version stays if
    any rule keeps it. The newest version of a page and the last one before a removal always stay. What goes, goes for
    good; the other versions keep their numbers, and the history of the domain is rewritten.
    """
    from webarc.archive.retention import parse_keep
    from webarc.cli.takedowns import finish_interrupted
    from webarc.cli.versions import chosen_domain, opened

    rules = parse_keep(keep)
    finish_interrupted(context, lock_wait)
    with opened(context) as catalog:
        named = [chosen_domain(context, catalog, text, exact=True) for text in domains]
        chosen = list(dict.fromkeys(named or catalog.domains()))
        thinning = _shown(context, catalog, chosen, rules, dry_run, show=dry_run or not (context.quiet and yes))
    if dry_run or not thinning:
        return 0
    if not yes:
        confirm("Let these versions go for good?")
    return worst([_thinned(context, domain, rules, lock_wait) for domain in thinning])


def _shown(
    context: Context, catalog: Catalog, domains: list[str], keep: Keep, dry_run: bool, *, show: bool
) -> list[str]:
    """Show what would go; returns the domains where something would."""
    from webarc.archive.retention import thinned
    from webarc.config.units import rough_size

    lines, found = [], []
    for domain in domains:
        catalog.catch_up(domain)
        count, pages, size = 0, 0, 0
        for page in thinned(domain, keep)(catalog.index):
            count, pages, size = count + len(page.numbers), pages + 1, size + page.size
        total = catalog.index.version_count(domain)
        lines.append([domain, f"{total:,}", f"{total - count:,}", f"{count:,}", f"{pages:,}", rough_size(size)])
        found += [domain] if count else []
        if context.as_json and dry_run:
            json_line({"domain": domain, "versions": total, "going": count, "pages": pages, "size": size})
    if not context.as_json:
        if lines and show:
            rows(("domain", "versions", "stay", "go", "pages", "size"), lines)
        if not found:
            context.note(f"Nothing goes: {counted(len(domains), 'domain')} looked at.")
    return found


def _thinned(context: Context, domain: str, keep: Keep, lock_wait: float) -> int:
    from webarc.archive.forgetting import Forgetting, Order
    from webarc.archive.retention import thinned
    from webarc.cli.forget import user_name

    order = Order(domain, thinned(domain, keep), f"retain {keep}", user_name(), takedown=False)
    try:
        result = Forgetting(context.archive(), context.database_url()).forget(order, lock_wait)
    except WebarcError as error:
        say_error(type(error).__name__, f"{domain}: {error}", context.as_json)
        return error.exit_code
    show_result(context, result, [])
    return 0
