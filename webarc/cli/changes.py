"""`webarc changes`: what changed in a whole site between two crawls."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

import click

from webarc.cli.changed_exit_code import changed_exit_code_option
from webarc.cli.context import Context, command
from webarc.cli.diff import at_most_two
from webarc.cli.output import counted, json_line, rows
from webarc.cli.versions import chosen_domain, opened, version_json
from webarc.diff.shares import rounded, written
from webarc.errors import CHANGED, Damaged, UsageProblem, worst

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from webarc.archive.catalog import Catalog
    from webarc.archive.crawl_pair import CrawlPair
    from webarc.diff.reading import Reading
    from webarc.diff.site import SiteChanges
    from webarc.sql.rows import VersionRow

# Of what changed in a page so much is shown in the report.
_CHARACTERS = 2000
_EPILOG = """\b
Examples:
  webarc changes
  webarc changes example.org
  webarc changes example.org "a month ago" --html changes.html
  webarc changes example.org 2026-11-15T23:50:00@example.org -1
\b
A and B are commitTags, times (the last crawl until then), or -1, -2, ... for the last crawl, the one
before, ... A alone is compared with the newest state. Without them it is the last crawl that followed
links and found something with the one before of the same start URLs and options; what other crawls,
such as those of single pages (--depth 0), and guests changed since is in. Where that are not simply the
last two crawls, it is said.
\b
Without a DOMAIN all domains are compared so: one line for each that changed, the one with most changes
first.
\b
The score of a changed page is 1 - the similarity of its words: 0 if all are the same, 1 if none is.
Moved is what has the same bytes or a similarity of 0.9 or more under another URL.
\b
Exit codes: 0 compared, 2 no such domain or crawl, 3 the report could not be written, 11 some versions
are damaged; they are named, and the rest was compared; 20 with --changed-exit-code if anything differs.
"""


@click.command("changes", epilog=_EPILOG, context_settings={"ignore_unknown_options": True})
@click.argument("domain", metavar="[DOMAIN]", required=False)
@click.argument("crawls", metavar="[A] [B]", nargs=-1, type=click.UNPROCESSED)
@click.option("-n", "count", type=click.IntRange(min=0), metavar="COUNT", help="Show at most so many pages of a kind.")
@click.option("--html", "html", metavar="FILE", help="Write a report as one web page instead; - is standard output.")
@changed_exit_code_option("anything differs")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a page, after one with the figures.")
@command
def changes(
    context: Context,
    domain: str | None,
    crawls: tuple[str, ...],
    count: int | None,
    html: str | None,
    changed_exit_code: bool,
    as_json: bool,
) -> int:
    """Show what changed in a whole site between two times, or in all sites.

    Pages added, removed and moved, and those that changed, most changed ones first.
    """
    from webarc.cli.changes_overview import show_all
    from webarc.diff.site import compared

    if domain is None:
        if html is not None:
            raise UsageProblem("--html is about one domain; name it.")
        with opened(context) as catalog:
            when_changed = CHANGED if changed_exit_code else 0
            return show_all(context, catalog, reading_of(context, catalog), count, when_changed)
    at_most_two(domain, crawls)
    with opened(context) as catalog:
        domain = chosen_domain(context, catalog, domain)
        chosen = _chosen(catalog, domain, crawls)
        if chosen is None:
            once = len(list(islice(catalog.crawl_tags(domain), 2))) < 2
            said = f"{domain} was crawled only once" if once else f"only one crawl of {domain} found something"
            context.note(f"{said}; there is nothing to compare yet.")
            return 0
        tags, remarks = chosen
        for remark in remarks:
            context.note(remark)
        found = compared(catalog, domain, tags, reading_of(context, catalog), _CHARACTERS if html else 0)
    _show(context, found, domain, tags, remarks, count, html)
    return worst(
        [Damaged.exit_code if found.unreadable else 0, CHANGED if changed_exit_code and _differs(found) else 0]
    )


def _differs(found: SiteChanges) -> bool:
    return any(count for kind, count in found.counts().items() if kind != "unchanged")


def reading_of(context: Context, catalog: Catalog) -> Reading:
    """Reads versions, and says on a terminal how far it is."""
    from webarc.cli.patience import Patience
    from webarc.diff.reading import Reading

    patience = Patience(context)
    return Reading(catalog, context.warn, lambda count: patience(f"reading what changed, {count} versions so far"))


def _chosen(catalog: Catalog, domain: str, crawls: tuple[str, ...]) -> tuple[tuple[str, str], list[str]] | None:
    """The commitTags of the two crawls and what to say of them; None if there is only one and none was asked for."""
    from webarc.archive.crawl_pair import last_pair, newest_tag

    if crawls:
        old = catalog.crawl(domain, crawls[0])
        return (old, catalog.crawl(domain, crawls[1]) if len(crawls) > 1 else newest_tag(catalog, domain)), []
    pair = last_pair(catalog, domain)
    return None if pair is None else ((pair.old, pair.new), list(remarks_on(pair)))


def remarks_on(pair: CrawlPair) -> Iterator[str]:
    """What is compared, where that are not simply the last two crawls."""
    if remark := _unlike(pair):
        yield remark
    elif pair.new != pair.crawl:
        later = "what other crawls and guests changed since is in"
        yield f"{pair.crawl} is the last crawl that is like {pair.old}; {later}."
    if pair.passed_over:
        later = f"{counted(pair.passed_over, 'crawl')} after {pair.new}"
        if pair.empty == pair.passed_over:
            yield f"{later} found nothing and changed nothing."
        else:
            yield f"{later} changed nothing{f', {pair.empty:,} of them found nothing' if pair.empty else ''}."


def _unlike(pair: CrawlPair) -> str:
    """Why no two crawls that are alike are compared; empty if they are."""
    from webarc.archive.crawl_pair import DIFFERENT, GUESTS, SINGLE

    which = "followed links and found something" if pair.links else "found something"
    if pair.kind == DIFFERENT:
        return f"No two of its crawls that {which} have the same start URLs and options; these are two different ones."
    if pair.kind == SINGLE:
        beside = "what came after it" if pair.old == pair.crawl else "the state before it"
        return f"Only one of its crawls {which}, {pair.crawl}; it is compared with {beside}."
    return "Only crawls of other domains found something of it." if pair.kind == GUESTS else ""


def _show(
    context: Context,
    found: SiteChanges,
    domain: str,
    tags: tuple[str, str],
    remarks: Sequence[str],
    count: int | None,
    html: str | None,
) -> None:
    if found.uncertain:
        context.note(
            f"Of {counted(found.uncertain, 'page')} a version of one of these times may have been thinned out or "
            "forgotten; an older one was compared instead."
        )
    if found.unknown:
        context.note(
            f"Of {counted(len(found.unknown), 'page')} the versions of these times were thinned out or forgotten: "
            "whether they changed, came or went cannot be told."
        )
    shown = found.at_most(count)
    if html is not None:
        _write(shown, domain, tags, found.figures(), html)
    if context.as_json:
        for line in objects(found, shown, domain, tags, remarks):
            json_line(line)
    elif html != "-":
        context.echo(f"{tags[0]} -> {tags[1]}: {found.figures()}.")
        if html is None and (cells := list(_cells(shown))):
            rows(("change", "score", "words", "page"), cells)


def _write(shown: SiteChanges, domain: str, tags: tuple[str, str], figures: str, html: str) -> None:
    from webarc.cli.delivery import delivered
    from webarc.diff.report import report

    with delivered(html) as target:
        for piece in report(shown, domain, tags, figures):
            target.write(piece.encode())
        target.flush()


def objects(
    found: SiteChanges, shown: SiteChanges, domain: str, tags: tuple[str, str], remarks: Sequence[str]
) -> Iterator[dict[str, object]]:
    """The figures, then the pages that are shown."""
    figures: dict[str, object] = {**found.counts(), "uncertain": found.uncertain, "unknown": len(found.unknown)}
    figures |= {"remarks": list(remarks)} if remarks else {}
    yield {"change": "summary", "domain": domain, "from": tags[0], "to": tags[1], **figures}
    for page in shown.changed:
        score = None if page.score is None else rounded(page.score)
        words = {"wordsAdded": page.added, "wordsRemoved": page.removed}
        missing = {"missing": list(page.gap.numbers)} if page.gap else {}
        yield {"change": "changed", "score": score, **words, **_versions(page.old, page.new), **missing}
    for move in shown.moved:
        yield {"change": "moved", "similarity": rounded(move.similarity), **_versions(move.old, move.new)}
    yield from ({"change": "added", **_versions(None, row)} for row in shown.added)
    yield from ({"change": "removed", **_versions(row, None)} for row in shown.removed)
    for unknown in shown.unknown:
        missing = {"missing": list(unknown.gap.numbers)}
        yield {"change": "unknown", "url": unknown.page.url, **_versions(None, None), **missing}


def _versions(old: VersionRow | None, new: VersionRow | None) -> dict[str, object]:
    return {"old": version_json(old) if old else None, "new": version_json(new) if new else None}


def _cells(shown: SiteChanges) -> Iterator[tuple[str, str, str, str]]:
    for page in shown.changed:
        score = "?" if page.score is None else written(page.score)
        words = "" if page.added is None else f"+{page.added} -{page.removed}"
        yield "changed", score, words, f"{page.page.url} ({page.gap})" if page.gap else page.page.url
    for move in shown.moved:
        yield "moved", written(1 - move.similarity), "", f"{move.old.url} -> {move.new.url}"
    yield from (("added", "", "", row.url) for row in shown.added)
    yield from (("removed", "", "", row.url) for row in shown.removed)
    yield from (("unknown", "", "", f"{unknown.page.url} ({unknown.gap})") for unknown in shown.unknown)
