"""What one process of a verification does: it takes a task, looks, mends if it may, and tells what it found."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import NamedTuple

from webarc.archive import leftovers
from webarc.archive.crew import Line
from webarc.archive.domaincheck import DomainCheck, Outcome
from webarc.archive.findings import Finding, note
from webarc.archive.indexcheck import IndexCheck, check_database
from webarc.archive.indexing import catch_up
from webarc.archive.repairing import Repair
from webarc.archive.repository import Repository
from webarc.archive.store import Archive
from webarc.archive.verified import last_verified
from webarc.sql.index import Index
from webarc.sql.inspection import index_file

DATABASES, HISTORY, INDEX, REPAIR = "databases", "history", "index", "repair"
MOVED, FOUND = "moved", "found"
_MOST_ROUNDS = 6
_EVERY = 0.3


@dataclass(frozen=True, slots=True)
class Wishes:
    """What a verification is to do."""

    repair: bool = False
    since_last: bool = False
    index_only: bool = False


class Task(NamedTuple):
    """One part of the work on one domain; a repair gets what was found, and whether the index can be compared."""

    part: str
    domain: str
    findings: tuple[Finding, ...] = ()
    compare: bool = False


class Inspector:
    """The work; made before the processes are, each of which opens the index for itself."""

    def __init__(self, root: Path, database: str, wishes: Wishes, staging: Path) -> None:
        self._archive, self._database, self._wishes, self._staging = Archive(root), database, wishes, staging
        self._check: IndexCheck | None = None
        self._live: Index | None = None

    def __call__(self, task: Task, line: Line) -> None:
        """Do one task."""
        if task.part == DATABASES:
            line.tell((FOUND, Outcome(self._databases())))
            return
        repo, progress = self._archive.repository(task.domain), _Progress(line)
        if task.part == HISTORY:
            cleared = self._clear_leftovers(repo) if self._wishes.repair else []
            outcome = self._history(repo, progress.moved)
            outcome.findings += cleared
        elif task.part == INDEX:
            outcome = self._index(repo, progress)
        else:
            outcome = self._repair(repo, task, progress)
        line.tell((FOUND, outcome))

    def _databases(self) -> list[Finding]:
        file = index_file(self._database)
        found = check_database(file, "index") if file is not None else []
        return found + check_database(self._archive.state_file, "state")

    def _history(self, repo: Repository, moved: Callable[[int], None]) -> Outcome:
        last = last_verified(repo.git_dir) if self._wishes.since_last else None
        before = _identity(repo)
        outcome = DomainCheck(repo, last.commit if last else None, moved).run()
        if any(finding.is_damage for finding in outcome.findings) and before != _identity(repo):
            # The repository was swapped for a rewritten one while it was looked at.
            outcome = DomainCheck(repo, None, moved).run()
        return outcome

    def _index(self, repo: Repository, progress: _Progress) -> Outcome:
        check = self._index_check()
        found = check.run(repo, progress.of_index)
        # Otherwise the versions are counted by those who read all of them.
        return Outcome(found, versions=check.count(repo) if self._wishes.index_only else 0)

    def _index_check(self) -> IndexCheck:
        if self._check is None:
            self._live = Index.to_read(self._database)
            rebuilt = Index.at(self._staging / f"index-{os.getpid()}.db")
            self._check = IndexCheck(self._live, rebuilt, tells_damage=self._wishes.index_only)
        return self._check

    def _clear_leftovers(self, repo: Repository) -> list[Finding]:
        """Remove the locks and unfinished packs of git processes that were killed."""
        with self._archive.lock_tree(repo.domain):
            removed = leftovers.clear(repo.git_dir)
        what = f"{len(removed)} files that killed processes left were removed"
        return [note(repo.domain, "repository", what)] if removed else []

    # -- repair -----------------------------------------------------------------------------------------------

    def _repair(self, repo: Repository, task: Task, progress: _Progress) -> Outcome:
        """Mend and look again, as long as that brings something: what one damage hides comes to light so."""
        findings, outcome, problems = list(task.findings), Outcome(list(task.findings)), list[str]()
        kept: dict[str, Path] = {}
        for _ in range(_MOST_ROUNDS):
            problems = self._mend(repo, findings, kept)
            outcome = self._history(repo, progress.moved)
            if task.compare:
                outcome.findings += self._index_check().run(repo, progress.of_index)
            left = [finding for finding in outcome.findings if finding.is_damage]
            if not left or {finding.key() for finding in left} == {finding.key() for finding in findings}:
                break
            findings = left
        failed = (f"a repair failed: {problem.rstrip('.')}" for problem in problems)
        outcome.findings += [note(repo.domain, "repository", what) for what in failed]
        outcome.kept = kept
        return outcome

    def _mend(self, repo: Repository, findings: list[Finding], kept: dict[str, Path]) -> list[str]:
        """Returns what could not be done; `kept` is told where that is which was replaced."""
        if any(finding.kind != "index" for finding in findings):
            with self._archive.lock_tree(repo.domain):
                repair = Repair(repo)
                problems = repair.run(findings)
                # What was there first is what was found.
                kept.update(repair.kept | kept)
                return problems
        self._index_check()
        assert self._live is not None
        if self._live.read_only:
            return ["the index may not be written to"]
        self._live.forget(repo.domain)
        catch_up(repo, self._live)
        return []


class _Progress:
    """Tells how far a task is, now and then."""

    def __init__(self, line: Line) -> None:
        self._line, self._next = line, 0.0

    def moved(self, count: int) -> None:
        """So many versions or files were seen."""
        if monotonic() >= self._next:
            self._next = monotonic() + _EVERY
            self._line.tell((MOVED, count))

    def of_index(self, _domain: str, versions: int) -> None:
        """So many versions are in the rebuilt index."""
        self.moved(versions)


def _identity(repo: Repository) -> int | None:
    try:
        return repo.git_dir.stat().st_ino
    except OSError:
        return None
