"""Everything that can be proven about one domain's repository and work tree.

Nothing is locked while history is read, so a crawl may go on meanwhile. What looks wrong, and could look so because
of a crawl, is looked at again under the shared lock.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from webarc.archive.ailments import main_is_lost
from webarc.archive.clone import is_clone
from webarc.archive.findings import LOST, REPAIR, Finding, note
from webarc.archive.fsck import Fsck
from webarc.archive.gitdir import check_files, check_start, packs_without_index, unreadable_refs
from webarc.archive.gitenv import git
from webarc.archive.history import Commit
from webarc.archive.importer import MAIN
from webarc.archive.objectcheck import ObjectCheck
from webarc.archive.objects import ObjectReader
from webarc.archive.proof import Proof
from webarc.archive.refs import Refs, read_head, read_refs
from webarc.archive.repository import Repository
from webarc.archive.settling import settle
from webarc.archive.tagging import check_refs
from webarc.archive.treecheck import TreeCheck
from webarc.archive.walk import commits_beyond, legible_commits
from webarc.archive.worktree import SHOWN, mend
from webarc.errors import Damaged, GitProblem, NoSpace, StorageProblem


@dataclass(slots=True)
class Outcome:
    """What the check of a domain found; `tip` is the commit up to which its history was read.

    `kept` tells where a repair has put what stood at paths of the domain folder.
    """

    findings: list[Finding] = field(default_factory=list)
    tip: str | None = None
    versions: int = 0
    files: int = 0
    kept: dict[str, Path] = field(default_factory=dict)


class DomainCheck:
    """The check of one domain; `after` is the commit up to which it was proven before, None to prove all of it."""

    def __init__(self, repo: Repository, after: str | None, moved: Callable[[int], None]) -> None:
        self._repo, self._after, self._moved = repo, after, moved
        self._outcome = Outcome()
        self._keys: set[tuple[str, ...]] = set()

    def run(self) -> Outcome:
        """All that is wrong."""
        if self._repo.exists() and is_clone(self._repo.git_dir):
            self._tell_all([note(self._repo.domain, "repository", each.rstrip(".")) for each in settle(self._repo)])
        start = check_start(self._repo)
        self._tell_all(start)
        if not start:
            try:
                self._look()
            except NoSpace:
                raise
            except (StorageProblem, Damaged) as problem:
                self._tell(Finding(self._repo.domain, "repository", str(problem).rstrip("."), REPAIR))
        if any(finding.is_damage for finding in self._outcome.findings):
            self._tell_all(packs_without_index(self._repo))
        return self._outcome

    def _look(self) -> None:
        refs = read_refs(self._repo.git_dir)
        tip = refs.value(MAIN)
        if tip is None or refs.is_unusable():
            self._tell_all(self._without_main(refs))
            return
        self._settle(tip, refs.value(SHOWN))
        self._tell_all(check_files(self._repo, refs))
        with self._repo.reader() as reader:
            commits = self._commits(reader)
            if not commits:
                return
            self._read(reader, commits)
            self._tell_all(self._refs(reader, commits))
        self._look_at_files()

    def _look_at_files(self) -> None:
        tree = TreeCheck(self._repo, self._moved)
        try:
            self._tell_all(tree.run())
        except GitProblem:
            if not any(finding.object_id for finding in self._outcome.findings):
                raise
            what = "its files could not be compared with git, of which something cannot be read"
            self._tell(note(self._repo.domain, "worktree", what))
        self._outcome.files = tree.files

    def _without_main(self, refs: Refs) -> Iterator[Finding]:
        yield from unreadable_refs(self._repo, refs)
        # A crawl that was killed before its first commit leaves a repository without anything.
        if main_is_lost(self._repo.git_dir):
            yield Finding(self._repo.domain, "ref", "there is no branch main", REPAIR, path=MAIN)

    def _settle(self, tip: str, shown: str | None) -> None:
        """Complete what a killed crawl has left undone, as any command that writes to the domain does."""
        if tip == shown or read_head(self._repo.git_dir) != MAIN:
            return
        with suppress(GitProblem):
            if shown is not None:
                git(["merge-base", "--is-ancestor", shown, tip], self._repo.git_dir)
            try:
                with self._repo.archive.lock_tree(self._repo.domain):
                    warnings = mend(self._repo)
                self._tell_all([note(self._repo.domain, "worktree", each.rstrip(".")) for each in warnings])
            except StorageProblem as problem:
                self._tell(note(self._repo.domain, "worktree", f"it is behind git and stays so: {problem}"))

    def _commits(self, reader: ObjectReader) -> list[Commit]:
        try:
            return legible_commits(self._repo, reader, self._unreadable)
        except (GitProblem, Damaged) as problem:
            # What to do about it is said by the finding.
            what = f"main cannot be read: {str(problem).partition('; ')[0]}".rstrip(".")
            self._tell(Finding(self._repo.domain, "ref", what, LOST, path=MAIN))
            return []

    # -- history ----------------------------------------------------------------------------------------------

    def _read(self, reader: ObjectReader, commits: list[Commit]) -> None:
        tip = commits[-1].id
        newer = commits_beyond(self._repo, reader, self._after) if self._after else None
        # If what was proven then is not part of this history, all of it is to be proven again.
        after = self._after if self._after == tip or newer else None
        fsck = Fsck(self._repo.git_dir, [tip]) if after is None else None
        try:
            proof = Proof(self._repo, reader, self._tell, self._moved)
            proof.over(commits if after is None else newer or [], after)
            objects = ObjectCheck(self._repo, reader, commits, self._outcome.findings)
            self._tell_all(objects.complaints(fsck.complaints()) if fsck else objects.since(after, tip))
            for text in () if objects.names_all else proof.unreadable:
                self._unreadable(text)
        finally:
            if fsck is not None:
                fsck.stop()
        self._outcome.tip, self._outcome.versions = tip, proof.versions

    # -- refs -------------------------------------------------------------------------------------------------

    def _refs(self, reader: ObjectReader, commits: list[Commit]) -> list[Finding]:
        found = list(check_refs(self._repo, read_refs(self._repo.git_dir), commits, reader))
        if not found:
            return []
        # Looked at again when nobody commits; the process that reads may not know of the newest packs.
        with self._repo.archive.lock_tree(self._repo.domain, shared=True), self._repo.reader() as fresh:
            commits = legible_commits(self._repo, fresh, _unheard)
            return list(check_refs(self._repo, read_refs(self._repo.git_dir), commits, fresh))

    # -- findings ---------------------------------------------------------------------------------------------

    def _unreadable(self, text: str) -> None:
        # What to do about it is said by the finding.
        self._tell(Finding(self._repo.domain, "object", text.rpartition("; ")[0] or text, LOST))

    def _tell(self, finding: Finding) -> None:
        key = (*finding.key(), finding.what if not finding.path and not finding.object_id else "")
        if key not in self._keys:
            self._keys.add(key)
            self._outcome.findings.append(finding)

    def _tell_all(self, findings: Iterator[Finding] | list[Finding]) -> None:
        for finding in findings:
            self._tell(finding)


def _unheard(_text: str) -> None:
    pass
