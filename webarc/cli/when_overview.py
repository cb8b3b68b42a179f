"""`webarc when` without a domain: where a phrase is or was in the whole archive, in one table."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from webarc.archive.zones import shown
from webarc.cli.context import Context
from webarc.cli.output import json_line, rows
from webarc.errors import Damaged, DatabaseProblem, StorageProblem, worst

if TYPE_CHECKING:
    from webarc.archive.catalog import Catalog
    from webarc.diff.occurrences import Answer
    from webarc.diff.phrases import Phrase

_COLUMNS = ("domain", "pages", "still there", "first appeared")


def show_all(
    context: Context,
    catalog: Catalog,
    text: str,
    phrase: Phrase,
    most: int | None,
    moved: Callable[[int], None],
) -> int:
    """Show every domain that has or had the phrase, that with most pages first; returns the exit code."""
    from webarc.cli.when import occurrence_json, sum_up
    from webarc.diff.occurrences import Answer

    codes: list[int] = []
    answers = dict(_searched(context, catalog, phrase, moved, codes))
    found = sorted((domain for domain in answers if answers[domain].occurrences), key=lambda name: _size(answers, name))
    if context.as_json:
        for domain in found:
            for occurrence in answers[domain].occurrences[:most]:
                json_line(occurrence_json(occurrence))
    elif found:
        rows(_COLUMNS, [_cells(domain, answers[domain]) for domain in found[:most]])
    everything = Answer()
    for answer in answers.values():
        everything.add(answer)
    sum_up(context, text, everything)
    return worst([*codes, Damaged.exit_code if everything.unread else 0])


def _searched(
    context: Context, catalog: Catalog, phrase: Phrase, moved: Callable[[int], None], codes: list[int]
) -> Iterator[tuple[str, Answer]]:
    from webarc.diff.occurrences import find

    for domain in catalog.domains():
        try:
            yield domain, find(catalog, domain, phrase, context.warn, moved)
        except DatabaseProblem:
            raise
        except (StorageProblem, Damaged) as problem:
            # One broken repository must not hide the others.
            context.warn(str(problem) if domain in str(problem) else f"{domain}: {problem}")
            codes.append(problem.exit_code)


def _size(answers: dict[str, Answer], domain: str) -> tuple[int, str]:
    return -len(answers[domain].occurrences), domain


def _cells(domain: str, answer: Answer) -> list[str]:
    found = answer.occurrences
    there = sum(occurrence.stays[-1].is_open() for occurrence in found)
    first = found[0].stays[0]
    by = "by " if first.unknown_before else ""
    return [domain, f"{len(found):,}", f"{there:,}", f"{by}{shown(first.appeared.crawl_time)}"]
