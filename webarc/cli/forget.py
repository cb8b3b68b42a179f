"""`webarc forget`: a page or a domain taken out of the history for good."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from webarc.cli.columns import TIME, lines
from webarc.cli.context import Context, command
from webarc.cli.forget_view import confirm, page_lines, show_result
from webarc.cli.lock_wait import lock_wait_option
from webarc.cli.output import counted
from webarc.errors import UnknownURL, UsageProblem

if TYPE_CHECKING:
    from webarc.archive.catalog import Catalog
    from webarc.archive.forgetting import Order
    from webarc.archive.twins import Twin

_MOST_SHOWN = 20
# More versions elsewhere than this are summed up.
_MOST_NAMED = 5
_COLUMNS = (("page", 80), ("versions", 20), ("size", -8), ("first", TIME), ("last", 0))
_EPILOG = """\b
Examples:
  webarc forget https://example.org/private.html --reason "asked for by its author"
  webarc forget https://example.org/a --version 3 --version 4 --reason "court order 12/26" --yes
  webarc forget example.org --reason "contract ended"
\b
Exit codes: 0 forgotten, 2 no such page or version, or nobody to ask, 3 disk or git, 12 being crawled, 13 you said no.
"""


@click.command(epilog=_EPILOG)
@click.argument("what", metavar="URL|DOMAIN")
@click.option("--reason", required=True, metavar="TEXT", help="Why; the tombstone says it for ever.")
@click.option("--version", "numbers", multiple=True, type=int, metavar="N", help="Only this version; may be repeated.")
@click.option("--by", metavar="NAME", help="By whom. [your user name]")
@click.option("--yes", is_flag=True, help="Do not ask.")
@lock_wait_option
@click.option("--json", "as_json", is_flag=True, help="Print the result as one JSON object.")
@command
def forget(
    context: Context,
    what: str,
    reason: str,
    numbers: tuple[int, ...],
    by: str | None,
    yes: bool,
    lock_wait: float,
    as_json: bool,
) -> int:
    """Take a page, some versions of it, or every page of a domain out of the history for good.

    The history of the domain is rewritten without them and checked before it takes the old one's place; a tombstone
    says what went, when, why and by whom. Numbers of other versions stay as they are. Clones and backups are not
    reached: make them again. A later crawl brings the page back as a new version if it is still on the web and not
    excluded.
    """
    from webarc.archive.forgetting import Forgetting
    from webarc.cli.takedowns import finish_interrupted
    from webarc.cli.versions import opened
    from webarc.diff.textcache import forget_text

    if not reason.strip():
        raise UsageProblem("--reason is empty; say why, the tombstone will show it.")
    finish_interrupted(context, lock_wait)
    with opened(context) as catalog:
        asked = _asked(catalog, what, numbers, reason, by or user_name())
        # Where somebody is asked, what will go is part of the question.
        if not (context.quiet and yes):
            _show(context, asked)
        _warn_of_twins(context, asked)
        if not yes:
            confirm("Forget this for good?")
        archive = catalog.archive
    result = Forgetting(archive, context.database_url(), forget_text).forget(asked.order, lock_wait)
    show_result(context, result, [twin.url for twin in asked.twins])
    return 0


@dataclass(frozen=True, slots=True)
class _Asked:
    """What the command line asks for."""

    order: Order
    lines: list[list[str]]
    versions: int
    twins: list[Twin]


def _asked(catalog: Catalog, what: str, numbers: tuple[int, ...], reason: str, by: str) -> _Asked:
    from webarc.archive.forgetting import Order
    from webarc.archive.going import of_domain, of_page
    from webarc.archive.recovery import catch_up_all
    from webarc.archive.twins import twins

    if catalog.is_domain(what):
        if numbers:
            raise UsageProblem(f"{what} is a whole domain and has no versions; name a page with --version.")
        domain, arc = catalog.domain(what, exact=True), None
        order = Order(domain, of_domain(domain), reason, by, everything=True)
    else:
        domain, arc, chosen = _page(catalog, what, numbers)
        order = Order(domain, of_page(domain, arc, chosen), reason, by)
    found = list(order.choice(catalog.index))
    if not found:
        raise UsageProblem(f"{what} has no page left to forget.")
    # All of them: the same bytes may be anywhere.
    catch_up_all(catalog.archive, catalog.index)
    versions = sum(len(page.numbers) for page in found)
    return _Asked(order, list(page_lines(found)), versions, twins(catalog.index, domain, arc, found))


def _page(catalog: Catalog, what: str, numbers: tuple[int, ...]) -> tuple[str, str, set[int] | None]:
    """Domain, ARC and the chosen versions of the page that was named, and no other."""
    from webarc.archive.spellings import lookups, spellings
    from webarc.archive.urls import key_of

    page = catalog.page(what)
    if key_of(page.url) not in {key_of(url) for url in spellings(what)}:
        near = [each for url in lookups(what) for each in (url, *catalog.cleaned(url))]
        how = "the nearest is" if key_of(page.url) in map(key_of, near) else "it redirects to"
        raise UnknownURL(f"{what} has no versions, {how} {page.url}; name that one to forget it.")
    return page.domain, page.arc, {page.number(number).number for number in numbers} or None


def _show(context: Context, asked: _Asked) -> None:
    """What will go."""
    if context.as_json:
        return
    lines(_COLUMNS, asked.lines[:_MOST_SHOWN])
    if len(asked.lines) > _MOST_SHOWN:
        context.echo(f"... and {counted(len(asked.lines) - _MOST_SHOWN, 'page')} more")
    context.echo(f"{counted(asked.versions, 'version')} of {counted(len(asked.lines), 'page')} will go.")


def _warn_of_twins(context: Context, asked: _Asked) -> None:
    """Who else has the same bytes."""
    if context.as_json:
        return
    if len(asked.twins) > _MOST_NAMED:
        context.warn(_summed_up(asked.twins))
        return
    for twin in asked.twins:
        context.warn(
            f"version {twin.number} of {twin.url} holds the same bytes and stays; forget it, too, if it must go."
        )


def _summed_up(twins: list[Twin]) -> str:
    """Where the same bytes are, host by host: a notice or an icon may be everywhere."""
    hosts = Counter(twin.domain for twin in twins).most_common()
    named = ", ".join(f"{host} ({count:,})" for host, count in hosts[:_MOST_SHOWN])
    more = f" and {counted(len(hosts) - _MOST_SHOWN, 'host')} more" if len(hosts) > _MOST_SHOWN else ""
    digest = Counter(twin.sha256 for twin in twins).most_common(1)[0][0]
    pages = counted(len({(twin.domain, twin.arc) for twin in twins}), "page")
    return (
        f"{counted(len(twins), 'version')} of {pages} on {counted(len(hosts), 'host')} hold the same bytes and stay: "
        f"{named}{more}; forget them, too, if they must go: `webarc list --where \"sha256 = '{digest}'\"` names them."
    )


def user_name() -> str:
    """Who is at work, as far as the system knows."""
    from getpass import getuser

    try:
        return getuser()
    except (KeyError, OSError):
        return "unknown"
