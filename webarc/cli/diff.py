"""`webarc diff`: what changed between two versions of a page."""

from __future__ import annotations

import gc
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from webarc.cli.changed_exit_code import changed_exit_code_option
from webarc.cli.context import Context, command
from webarc.cli.output import json_line
from webarc.cli.versions import note_stand_in, opened
from webarc.errors import CHANGED

if TYPE_CHECKING:
    from webarc.archive.catalog import Catalog, Page
    from webarc.diff.pair import VersionPair
    from webarc.sql.rows import VersionRow

_FROM_THE_END = re.compile(r"-\d+", re.ASCII)
_EPILOG = """\b
Examples:
  webarc diff https://example.org/
  webarc diff example.org/terms 3 5
  webarc diff example.org/terms "a month ago"
  webarc diff --source -U 10 example.org/terms -3 -1
\b
A and B are version numbers (-1 is the newest), commitTags or times. Without them the last two versions
are compared; A alone is compared with the newest.
\b
Marks: [-removed-] and {+added+} words, colours instead on a terminal; -removed and +added lines with
--source. White space does not count as a change of words.
\b
Exit codes: 0 compared; if the versions differ, 1 with --exit-code, 20 with --changed-exit-code;
2 no such page or version; 11 a version is damaged.
"""


# A negative number would be taken for an option.
@click.command("diff", epilog=_EPILOG, context_settings={"ignore_unknown_options": True})
@click.argument("url", metavar="URL")
@click.argument("versions", metavar="[A] [B]", nargs=-1, type=click.UNPROCESSED)
@click.option("--text", "mode", flag_value="text", default=True, help="Words of the visible text. [default]")
@click.option("--source", "mode", flag_value="source", help="Lines of the source, as a unified diff.")
@click.option("--stat", is_flag=True, help="Only how much changed.")
@click.option(
    "-U",
    "--context",
    "around",
    type=click.IntRange(min=0),
    default=3,
    metavar="LINES",
    help="Unchanged lines shown around a change. [3]",
)
@click.option(
    "--color",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    help="Mark changes by colours. [auto: on a terminal]",
)
@click.option("--exit-code", is_flag=True, help="End with 1 if the versions differ.")
@changed_exit_code_option("the versions differ")
@click.option("--json", "as_json", is_flag=True, help="Print the comparison as one JSON object.")
@command
def diff(
    context: Context,
    url: str,
    versions: tuple[str, ...],
    mode: str,
    stat: bool,
    around: int,
    color: str,
    exit_code: bool,
    changed_exit_code: bool,
    as_json: bool,
) -> int:
    """Show what changed between two versions of a page.

    Of files that are no texts: sizes, types, and how much of their bytes is the same.
    """
    from webarc.cli.diff_json import as_object
    from webarc.cli.diff_view import DiffView
    from webarc.diff.pair import VersionPair

    at_most_two(url, versions)
    with _uncollected(), opened(context) as catalog:
        page = catalog.page(url)
        pair = VersionPair(catalog, *_chosen(context, catalog, page, versions), source=mode == "source")
        if pair.partial:
            context.warn("the versions are so large that only their beginnings were compared.")
        if as_json:
            json_line(as_object(pair, None if stat else around))
        else:
            _say_why_nothing(context, catalog, page, pair)
            DiffView(pair, around, color).show(stat)
    if not pair.different:
        return 0
    return 1 if exit_code else CHANGED if changed_exit_code else 0


@contextmanager
def _uncollected() -> Iterator[None]:
    """Without Python's search for cycles: millions of words make none, and it would take a third of the time."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def at_most_two(place: str, versions: tuple[str, ...]) -> None:
    """A and B are two at most, and what looks like an option is none that there is."""
    for text in (place, *versions):
        if text.startswith("-") and not _FROM_THE_END.fullmatch(text):
            context = click.get_current_context()
            known = [name for option in context.command.params for name in option.opts if name.startswith("--")]
            raise click.NoSuchOption(text, possibilities=known, ctx=context)
    if len(versions) > 2:
        raise click.UsageError(f"two can be compared, not {len(versions)} (put times with blanks in quotes)")


def _chosen(context: Context, catalog: Catalog, page: Page, versions: tuple[str, ...]) -> tuple[VersionRow, VersionRow]:
    if not versions:
        old, new = page.versions[-2:][0], page.newest()
        if page.has_gap_after(old):
            context.note(
                f"{catalog.gaps(page.domain).after(page.arc, old.number)}; these are the last two that are left."
            )
        return old, new
    found = [_named(context, catalog, page, text.strip()) for text in versions]
    return found[0], found[1] if len(found) > 1 else page.newest()


def _named(context: Context, catalog: Catalog, page: Page, text: str) -> VersionRow:
    row = catalog.chosen(page, text)
    if text.lstrip("+-") != str(row.number) and not _FROM_THE_END.fullmatch(text):
        note_stand_in(context, catalog, page, row, text)
    return row


def _say_why_nothing(context: Context, catalog: Catalog, page: Page, pair: VersionPair) -> None:
    """A sentence where there is nothing to show."""
    if len(page.versions) == 1:
        gap = catalog.gaps(page.domain).before(page.arc, pair.new.number) if pair.new.number > 1 else None
        left = f"only one version left; {gap}, so there is" if gap else "only one version; there is"
        context.note(f"{page.url} has {left} nothing to compare yet.")
    elif pair.old.number == pair.new.number:
        context.note(f"both are version {pair.new.number} of {page.url}.")
    elif not pair.different:
        context.note(f"versions {pair.old.number} and {pair.new.number} of {page.url} are the same.")
    elif pair.words is not None and not pair.words.different:
        context.note("the words of the visible text are the same; see what changed with --source.")
    elif pair.lines is not None and not pair.lines.different:
        context.note("only the encoding of the source changed.")
