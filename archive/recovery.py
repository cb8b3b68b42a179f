"""The index rebuilt from the XML of all versions in all repositories.

What git cannot read is left out and named, and everything else is in the new index, which takes over in any case: the
rows of the old one would be no truer for staying. A repository that cannot be read at all has no rows, rather than
some, until it is restored; the first command that uses it then reads it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

from webarc.archive.indexing import Progress, catch_up
from webarc.archive.store import Archive
from webarc.archive.walk import Note
from webarc.errors import Damaged, GitProblem
from webarc.sql.index import Index

_MOST_PROBLEMS = 1000


@dataclass(frozen=True, slots=True)
class RecoverySummary:
    """What a recovery found; `problems` names what could not be read, up to a thousand of them.

    `set_aside` is where a file went that stood in the index's place and was none.
    """

    domains: int
    versions: int
    problems: tuple[str, ...]
    problem_count: int
    seconds: float
    set_aside: Path | None = None

    @property
    def exit_code(self) -> int:
        """0, or that of damage if something could not be read."""
        return Damaged.exit_code if self.problem_count else 0


def recover(
    archive: Archive, index: Index, on_progress: Progress | None = None, domains: Iterable[str] | None = None
) -> RecoverySummary:
    """Build a new index that replaces the old one when it is complete; with domains, renew the rows of those only."""
    began = monotonic()
    problems = _Problems()
    if domains is not None:
        chosen = list(domains)
        for domain in chosen:
            index.forget(domain)
        versions = _read(archive, index, chosen, problems, on_progress)
    else:
        chosen = archive.domains()
        with index.rebuilt() as fresh:
            versions = _read(archive, fresh, chosen, problems, on_progress)
            # Crawls go on meanwhile; what they brought is read too before the new index takes over.
            versions += _read(archive, fresh, archive.domains(), problems, on_progress)
    seconds = monotonic() - began
    return RecoverySummary(len(chosen), versions, tuple(problems.named), problems.count, seconds, index.set_aside)


def catch_up_all(archive: Archive, index: Index, on_problem: Note | None = None) -> int:
    """Bring the rows of every domain up to date; returns how many versions were missing."""
    domains = sorted({*archive.domains(), *index.domains()})
    return sum(catch_up(archive.repository(domain), index, on_problem) for domain in domains)


class _Problems:
    def __init__(self) -> None:
        self.named: list[str] = []
        self.count = 0

    def note(self, problem: str) -> None:
        if problem in self.named:
            return
        self.count += 1
        if len(self.named) < _MOST_PROBLEMS:
            self.named.append(problem)


def _read(archive: Archive, index: Index, domains: list[str], problems: _Problems, on_progress: Progress | None) -> int:
    versions = 0
    for domain in domains:
        try:
            versions += catch_up(archive.repository(domain), index, problems.note, on_progress)
        except (GitProblem, Damaged) as problem:
            # One broken repository must not keep the others out of the index.
            problems.note(f"the repository of {domain} was left out: {problem}")
            index.forget(domain)
    return versions
