"""The index rebuilt from the XML of all versions in all repositories.

Several processes read, a domain each, and one writes. What git cannot read is left out and named, and everything else
is in the new index, which takes over in any case: the rows of the old one would be no truer for staying. A repository
that cannot be read at all has no rows, rather than some, until it is restored; the first command that uses it then
reads it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any, cast

from webarc.archive.crew import Crew, Line, cores
from webarc.archive.gitenv import require_git
from webarc.archive.importer import MAIN
from webarc.archive.indexing import Progress, catch_up
from webarc.archive.refs import ref_value
from webarc.archive.store import Archive
from webarc.archive.walk import Note
from webarc.errors import Damaged, GitProblem, WebarcError
from webarc.sql.batch import Batch
from webarc.sql.index import Index

_MOST_PROBLEMS = 1000
# Small enough that reading and writing keep each other company, large enough that transactions cost little.
_ROWS_AT_A_TIME = 10_000
_WRITE, _NOTE = "write", "note"
Done = Callable[[str], None]


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
    archive: Archive,
    index: Index,
    on_progress: Progress | None = None,
    domains: Iterable[str] | None = None,
    on_done: Done | None = None,
) -> RecoverySummary:
    """Build a new index that replaces the old one when it is complete; with domains, renew the rows of those only.

    `on_progress` gets a domain and how many of its versions are in, `on_done` a domain that is complete.
    """
    require_git()
    began = monotonic()
    chosen = archive.domains() if domains is None else list(domains)
    with Crew(_Reader(archive.root), min(cores(), max(len(chosen), 1))) as crew:
        writing = _Writing(archive, crew, on_progress, on_done)
        if domains is None:
            with index.rebuilt() as fresh:
                writing.read(fresh, chosen)
                # Crawls go on meanwhile; what they brought is read too before the new index takes over.
                writing.read(fresh, [domain for domain in archive.domains() if _is_behind(archive, fresh, domain)])
        else:
            for domain in chosen:
                index.forget(domain)
            writing.read(index, chosen)
    return writing.summary(len(chosen), monotonic() - began, index.set_aside)


def catch_up_all(archive: Archive, index: Index, on_problem: Note | None = None) -> int:
    """Bring the rows of every domain up to date; returns how many versions were missing."""
    domains = sorted({*archive.domains(), *index.domains()})
    return sum(catch_up(archive.repository(domain), index, on_problem) for domain in domains)


def heaviest_first(archive: Archive, domains: Iterable[str]) -> list[str]:
    """Domains in an order that keeps all processes at work until the end."""
    return sorted(domains, key=lambda domain: (-_weight(archive.repository(domain).git_dir), domain))


class _Reader:
    """What a reading process does with a domain: its rows go down the line instead of into a database."""

    def __init__(self, root: Path) -> None:
        self._archive = Archive(root)

    def __call__(self, domain: str, line: Line) -> None:
        """Read all that is missing of a domain."""
        index = cast("Index", _Remote(line))
        problems = Problems(lambda text: line.tell((_NOTE, text)))
        try:
            catch_up(self._archive.repository(domain), index, problems.add, rows_at_a_time=_ROWS_AT_A_TIME)
        except (GitProblem, Damaged) as problem:
            # One broken repository must not keep the others out of the index.
            problems.add(f"the repository of {domain} was left out: {problem}")
            index.forget(domain)


class _Remote:
    """The index as a reading process has it: each method is run by the one that writes."""

    def __init__(self, line: Line) -> None:
        self._line = line

    def write(self, batch: Batch) -> bool:
        """Send a batch on its way; if somebody else has moved the domain on, the next question tells."""
        self._line.tell((_WRITE, batch))
        return True

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return lambda *values: self._line.ask((name, values))


class _Writing:
    """The one process that writes."""

    def __init__(self, archive: Archive, crew: Crew, on_progress: Progress | None, on_done: Done | None) -> None:
        self._archive, self._crew, self._on_progress, self._on_done = archive, crew, on_progress, on_done
        self._problems = Problems()
        self._versions: dict[str, int] = {}

    def read(self, index: Index, domains: list[str]) -> None:
        """Have domains read and write their rows."""

        def hear(domain: str, message: tuple[str, Any]) -> Any:
            name, value = message
            if name == _NOTE:
                return self._problems.add(value)
            return self._write(index, value) if name == _WRITE else getattr(index, name)(*value)

        self._crew.run(heaviest_first(self._archive, domains), hear, self._ended)

    def summary(self, domains: int, seconds: float, set_aside: Path | None) -> RecoverySummary:
        """What was found in all."""
        named = tuple(self._problems.named)
        return RecoverySummary(domains, sum(self._versions.values()), named, self._problems.count, seconds, set_aside)

    def _write(self, index: Index, batch: Batch) -> None:
        if index.write(batch):
            self._versions[batch.domain] = self._versions.get(batch.domain, 0) + batch.versions
            if self._on_progress is not None:
                self._on_progress(batch.domain, self._versions[batch.domain])

    def _ended(self, domain: str, error: WebarcError | None) -> tuple[()]:
        if error is not None:
            raise error
        if self._on_done is not None:
            self._on_done(domain)
        return ()


class Problems:
    """What could not be read, each problem once; the first thousand are named, all are counted."""

    def __init__(self, heard: Note | None = None) -> None:
        self.named: list[str] = []
        self.count = 0
        self._heard = heard

    def add(self, problem: str) -> None:
        """Take in one."""
        if problem in self.named:
            return
        self.count += 1
        if len(self.named) < _MOST_PROBLEMS:
            self.named.append(problem)
        if self._heard is not None:
            self._heard(problem)


def _is_behind(archive: Archive, index: Index, domain: str) -> bool:
    return ref_value(archive.repository(domain).git_dir, MAIN) != index.indexed_commit(domain)


def _weight(git_dir: Path) -> int:
    total = 0
    # A repository may be swapped for another, or be gone, while it is looked at.
    with suppress(OSError):
        for pack in (git_dir / "objects" / "pack").glob("*.pack"):
            total += pack.stat().st_size
    return total
