"""Everything that can be proven about one domain's repository and work tree.

Nothing is locked while history is read, so a crawl may go on meanwhile. What looks wrong, and could look so because
of a crawl, is looked at again under the shared lock.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field

from webarc.archive.ailments import main_is_lost
from webarc.archive.digests import Digest, Digests
from webarc.archive.findings import LOST, NOTE, REPAIR, Finding, note
from webarc.archive.fsck import Complaints, Fsck
from webarc.archive.gitdir import check_files, check_start, hash_fits, packs_without_index, unreadable_refs
from webarc.archive.gitenv import git
from webarc.archive.history import Commit
from webarc.archive.importer import MAIN
from webarc.archive.objects import ObjectReader
from webarc.archive.proof import Proof
from webarc.archive.refs import Refs, read_head, read_refs
from webarc.archive.repository import Repository
from webarc.archive.tagging import check_refs
from webarc.archive.treecheck import TreeCheck
from webarc.archive.walk import commits_beyond, legible_commits
from webarc.archive.worktree import SHOWN, mend
from webarc.errors import Damaged, GitProblem, NoSpace, StorageProblem

_OBJECTS_AT_A_TIME = 5_000


@dataclass(slots=True)
class Outcome:
    """What the check of a domain found; `tip` is the commit up to which its history was read."""

    findings: list[Finding] = field(default_factory=list)
    tip: str | None = None
    versions: int = 0
    files: int = 0


class DomainCheck:
    """The check of one domain; `after` is the commit up to which it was proven before, None to prove all of it."""

    def __init__(self, repo: Repository, after: str | None, moved: Callable[[int], None]) -> None:
        self._repo, self._after, self._moved = repo, after, moved
        self._outcome = Outcome()
        self._keys: set[tuple[str, ...]] = set()

    def run(self) -> Outcome:
        """All that is wrong."""
        self._tell_all(check_start(self._repo))
        if not self._outcome.findings:
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
        tree = TreeCheck(self._repo, self._moved)
        self._tell_all(tree.run())
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
                    mend(self._repo)
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
            self._tell_all(
                self._complaints(fsck.complaints(), reader) if fsck else self._new_objects(reader, after, tip)
            )
        finally:
            if fsck is not None:
                fsck.stop()
        self._outcome.tip, self._outcome.versions = tip, proof.versions

    def _new_objects(self, reader: ObjectReader, after: str | None, tip: str) -> Iterator[Finding]:
        """The objects that came since, read one by one."""
        listed = git(["rev-list", "--objects", "--no-object-names", f"{after}..{tip}", "--"], self._repo.git_dir)
        told = {each.object_id for each in self._outcome.findings}
        names = [name for name in listed.decode().split() if name not in told]
        for start in range(0, len(names), _OBJECTS_AT_A_TIME):
            digests = Digests(self._repo.git_dir, reader)
            for name, found in digests.of(set(names[start : start + _OBJECTS_AT_A_TIME])).items():
                if not isinstance(found, Digest):
                    yield self._lost(name, found)

    def _complaints(self, found: Complaints, reader: ObjectReader) -> Iterator[Finding]:
        for path, text in found.files.items():
            place = self._repo.folder / path
            if path.endswith(".pack") and hash_fits(place):
                # It is its index that does not fit it, which has been told.
                continue
            yield Finding(self._repo.domain, "repository", text, LOST, path=path)
        places = self._places(set(found.objects) - {each.object_id for each in self._outcome.findings})
        for name, text in found.objects.items():
            yield from self._complaint(reader, name, text, *places.get(name, ("", "")))
        if not self._outcome.findings:
            for text in found.others:
                yield Finding(self._repo.domain, "repository", f"git fsck says: {text}", LOST)

    def _complaint(self, reader: ObjectReader, name: str, text: str, path: str, tag: str) -> Iterator[Finding]:
        if any(each.object_id == name for each in self._outcome.findings):
            return
        try:
            data = reader.read(name)
        except Damaged as problem:
            yield self._lost(name, problem, path, tag)
            return
        if data is None:
            yield self._lost(name, None, path, tag)
        elif text.startswith(("error in ", "warning in ")):
            what = f"git fsck dislikes an object that is as it was written: {text}"
            yield Finding(self._repo.domain, "object", what, severity=NOTE, object_id=name)

    def _lost(self, name: str, found: Damaged | None, path: str = "", tag: str = "") -> Finding:
        what = f"the object {name} is {'missing' if found is None else 'damaged'}"
        return Finding(self._repo.domain, "object", what, LOST, path=path, commit_tag=tag, object_id=name)

    def _places(self, names: set[str]) -> dict[str, tuple[str, str]]:
        """Where blobs first came into the history."""
        places: dict[str, tuple[str, str]] = {}
        if not names:
            return places
        with suppress(GitProblem):
            for commit, changes in self._repo.changes_since(None):
                for change in changes:
                    if change.blob in names:
                        places.setdefault(change.blob, (change.path, commit.tag))
        return places

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
        self._tell(Finding(self._repo.domain, "object", text.rstrip("."), LOST))

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
