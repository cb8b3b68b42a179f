"""How far a command is that works through domains: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import NamedTuple

from webarc.cli.context import Context
from webarc.cli.output import safe

_PLAIN_EVERY = 10.0


class Advance(NamedTuple):
    """What the work calls: `moved` with a domain and how many versions were seen, `done` with one that is done."""

    moved: Callable[[str, int], None]
    done: Callable[[str], None]


@contextmanager
def advancing(context: Context, domains: int, verb: str) -> Iterator[Advance]:
    """Show progress for the eyes of a person; nothing for machines."""
    if context.as_json or context.quiet:
        yield Advance(lambda domain, versions: None, lambda domain: None)
    elif sys.stderr.isatty():
        with _bar(domains) as advance:
            yield advance
    else:
        yield _plain(context, verb)


def _plain(context: Context, verb: str) -> Advance:
    said = monotonic()

    def moved(domain: str, versions: int) -> None:
        nonlocal said
        if monotonic() - said >= _PLAIN_EVERY:
            said = monotonic()
            context.note(f"{domain}: {versions} versions {verb}")

    return Advance(moved, lambda domain: None)


@contextmanager
def _bar(domains: int) -> Iterator[Advance]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("domains, {task.description}", markup=False))
    bar = Progress(*columns, TimeElapsedColumn(), console=Console(stderr=True), transient=True)
    task = bar.add_task("reading", total=domains)

    def moved(domain: str, versions: int) -> None:
        # Not before there is something to show: the bar is a thread, and the work forks its processes first.
        bar.start()
        bar.update(task, description=f"{safe(domain)}: {versions} versions")

    def done(_domain: str) -> None:
        bar.start()
        bar.advance(task)

    try:
        yield Advance(moved, done)
    finally:
        bar.stop()
