"""How `forget` and `retain` show what goes, ask, and tell what was done."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import click

from webarc.archive.zones import shown
from webarc.cli.context import Context
from webarc.cli.output import counted, json_line
from webarc.errors import Stopped, UsageProblem

if TYPE_CHECKING:
    from webarc.archive.forgetting import Forgotten
    from webarc.archive.going import Going


def page_lines(found: Iterable[Going]) -> Iterator[list[str]]:
    """What goes of each page, as cells."""
    from webarc.archive.tombstones import ranges
    from webarc.config.units import rough_size

    for page in found:
        yield [page.url, ranges(page.numbers), rough_size(page.size), shown(page.first), shown(page.last)]


def confirm(question: str) -> None:
    """Ask, and raise Stopped unless the answer is yes; where nobody can answer, that is a mistake."""
    if not sys.stdin.isatty():
        raise UsageProblem(
            "there is no terminal to ask on, so nothing was done; give --yes to go ahead without asking."
        )
    if not click.confirm(question, err=True):
        raise Stopped("nothing was changed.")


def show_result(context: Context, result: Forgotten, twins: list[str]) -> None:
    """What was done, and what is left for the user to do."""
    from webarc.archive.tombstones import ranges
    from webarc.config.units import rough_size

    for warning in result.warnings:
        context.warn(warning)
    if context.as_json:
        pages = [{"url": page.url, "numbers": list(page.numbers)} for page in result.going]
        about = {"domain": result.domain, "commitTag": result.commit_tag, "versions": result.versions}
        json_line(
            {**about, "size": result.size, "pages": pages, "sameBytes": twins, "seconds": round(result.seconds, 3)}
        )
        return
    if not result.going:
        context.tell(f"{result.domain}: nothing to do")
        return
    what = f"{counted(result.versions, 'version')} of {counted(len(result.going), 'page')}, {rough_size(result.size)}"
    if len(result.going) == 1:
        what = f"{result.going[0].url} {ranges(result.going[0].numbers)}, {rough_size(result.size)}"
    context.tell(f"{result.domain}: forgot {what} in {result.seconds:.1f} s; the tombstone is {result.commit_tag}")
    context.note(
        f"The history of {result.domain} was rewritten: clones of it, backups and snapshots still hold what went; "
        "make clones again (git pull would mix the two), and delete old backups."
    )
