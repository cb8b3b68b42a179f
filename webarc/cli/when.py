"""`webarc when`: on which pages and in which versions a phrase appeared and disappeared."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from webarc.archive.zones import shown
from webarc.cli.context import Context, command
from webarc.cli.output import counted, json_line, safe
from webarc.cli.patience import Patience
from webarc.cli.versions import opened, version_json
from webarc.errors import Damaged

if TYPE_CHECKING:
    from webarc.archive.gaps import Gap
    from webarc.diff.occurrences import Answer, Occurrence, Stay
    from webarc.sql.rows import VersionRow

_EPILOG = """\b
Examples:
  webarc when "free shipping"
  webarc when example.org "free shipping"
  webarc when --word https://example.org/terms "cookie"
  webarc when example.org -- "-10 %"
\b
The phrase is looked for in the text that a reader sees: not in scripts, styles and attributes, but
across markup such as <b>. Case, white space and the spelling of accents do not matter. Style sheets
and scripts are searched only if their own URL is given. The first search in a domain reads all its
versions (the first 16 MiB of each) and remembers their text; later ones read only what is new.
\b
With the PHRASE alone all domains are searched: one line for each that has it, the one with most pages
first. Where versions were thinned out, "in or before" says that the phrase may be older than the first
version that has it.
\b
Exit codes: 0 searched, whether found or not; 2 no such page or domain; 11 some versions could not be
read; they are named, and the others were searched.
"""


@click.command("when", epilog=_EPILOG)
@click.argument("place", metavar="[DOMAIN|URL]", required=False)
@click.argument("text", metavar="PHRASE", required=False)
@click.option("--word", is_flag=True, help="Find whole words only, not parts of longer ones.")
@click.option("-n", "--number", "most", type=click.IntRange(min=1), metavar="N", help="Only the first N pages.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a page.")
@command
def when(context: Context, place: str | None, text: str | None, word: bool, most: int | None, as_json: bool) -> int:
    """Find when a phrase appeared and disappeared.

    Pages are listed by their first appearance; for each, every time from when to when it was there.
    """
    if place is None:
        raise click.UsageError("Missing argument 'PHRASE'.")
    from webarc.cli.when_overview import show_all
    from webarc.diff.occurrences import find
    from webarc.diff.phrases import Phrase

    phrase, patience = Phrase(place if text is None else text, word=word), Patience(context)

    def moved(versions: int) -> None:
        patience(f"reading the text of what is new, {versions} versions so far")

    with opened(context) as catalog:
        if text is None:
            return show_all(context, catalog, place, phrase, most, moved)
        answer = find(catalog, place, phrase, context.warn, moved)
    for occurrence in answer.occurrences[:most]:
        if as_json:
            json_line(occurrence_json(occurrence))
        else:
            _show(context, occurrence)
    sum_up(context, text, answer)
    return Damaged.exit_code if answer.unread else 0


def occurrence_json(occurrence: Occurrence) -> dict[str, object]:
    """A page with all times that the phrase was there."""
    stays = [{"appeared": version_json(stay.appeared), **_end_json(stay)} for stay in occurrence.stays]
    return {"url": occurrence.url, "stillThere": occurrence.stays[-1].is_open(), "ranges": stays}


def _end_json(stay: Stay) -> dict[str, object]:
    gone = None if stay.disappeared is None else version_json(stay.disappeared)
    removed = (
        None if stay.removed_tag is None else {"crawlTime": _time(stay.removed_tag), "commitTag": stay.removed_tag}
    )
    missing = {"missingBefore": _numbers(stay.unknown_before), "missingBetween": _numbers(stay.unknown_between)}
    return {"disappeared": gone, "pageRemoved": removed, **missing}


def _numbers(gap: Gap | None) -> list[int]:
    return [] if gap is None else list(gap.numbers)


def _show(context: Context, occurrence: Occurrence) -> None:
    context.echo(safe(occurrence.url))
    for stay in occurrence.stays:
        context.echo(safe(f"  {_event('appeared', stay.appeared, stay.unknown_before)}, {_end(stay)}"))


def _end(stay: Stay) -> str:
    if stay.disappeared is not None:
        return _event("disappeared", stay.disappeared, stay.unknown_between)
    if stay.removed_tag is not None:
        return f"page removed {shown(_time(stay.removed_tag))} ({stay.removed_tag})"
    return "still there"


def _event(what: str, row: VersionRow, gap: Gap | None) -> str:
    if gap is not None:
        return f"{what} by {shown(row.crawl_time)} in or before version {row.number} ({row.commit_tag}; {gap})"
    return f"{what} {shown(row.crawl_time)} in version {row.number} ({row.commit_tag})"


def _time(tag: str) -> str:
    from webarc.archive.catalog import moment_of

    return moment_of(tag) or tag.partition("@")[0]


def sum_up(context: Context, text: str, answer: Answer) -> None:
    """What was searched; that nothing was found is a result, too."""
    searched = f"{counted(answer.versions, 'version')} of {counted(answer.pages, 'page')}"
    if answer.lost:
        searched += f", {answer.lost:,} more {'was' if answer.lost == 1 else 'were'} thinned out or forgotten before"
    found = answer.occurrences
    if not found:
        say = context.note if context.as_json else context.echo
        say(safe(f"{text!r} is in none of {searched}."))
        return
    there = sum(occurrence.stays[-1].is_open() for occurrence in found)
    context.note(f"On {counted(len(found), 'page')}, still there on {there:,}; searched {searched}.")
