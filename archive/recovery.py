"""The index rebuilt from the XML of all versions in all repositories."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from time import monotonic

from webarc.archive.indexing import Note, Progress, catch_up
from webarc.archive.store import Archive
from webarc.errors import Damaged, GitProblem
from webarc.sql.index import Index

_MOST_PROBLEMS = 1000


@dataclass(frozen=True, slots=True)
class RecoverySummary:
    """What a recovery found; `problems` names what could not be read, up to a thousand of them."""

    domains: int
    versions: int
    problems: tuple[str, ...]
    problem_count: int
    seconds: float

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
    return RecoverySummary(len(chosen), versions, tuple(problems.named), problems.count, monotonic() - began)


def catch_up_all(archive: Archive, index: Index, on_problem: Note | None = None) -> int:
    """Bring the rows of every domain up to date; returns how many versions were missing."""
    return sum(catch_up(archive.repository(domain), index, on_problem) for domain in archive.domains())


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
        except GitProblem as problem:
            # One broken repository must not keep the others out of the index.
            problems.note(f"the repository of {domain} was left out: {problem}")
    return versions
