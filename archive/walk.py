"""The commits of a domain with what each changed, as far as git can still read them.

A damaged tree hides what a commit changed, a damaged commit all that went before it. The next commit that can be read
then stands for those that cannot: it is compared with the last one that could, so that only versions which were
replaced in between are lost, and everything lost is named.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime

from webarc.archive import history
from webarc.archive.history import Change, Commit
from webarc.archive.objects import ObjectReader
from webarc.archive.repository import Repository
from webarc.archive.times import CET
from webarc.errors import Damaged, GitProblem

_FEW_COMMITS = 8
_MAKE_VERSIONS = ("crawl", "guest")
Note = Callable[[str], None]


def legible_commits(repo: Repository, reader: ObjectReader, on_problem: Note) -> list[Commit]:
    """The commits on main, oldest first, from the first one behind all damage; raises Damaged if there is none."""
    try:
        return repo.commits()
    except GitProblem as problem:
        found, whole = _back_to_damage(repo.tip(), reader)
        if not found:
            raise _unnamed(repo) from problem
        if not whole:
            on_problem(f"{repo.domain} before {found[-1].tag} was left out, but for what stood there then: {problem}")
        return found[::-1]


def commits_beyond(repo: Repository, reader: ObjectReader, after: str) -> list[Commit] | None:
    """The commits that follow another, oldest first; None if that is not, or not legibly, part of the history."""
    try:
        commits = repo.commits(after) if reader.read(after) is not None else []
        parent = _facts(reader.read(commits[0].id) or b"").get("parent") if commits else None
        return commits if parent == after else None
    except (Damaged, GitProblem) as problem:
        # Damage far behind stops git too.
        found, _ = _back_to_damage(repo.tip(), reader)
        if not found:
            raise _unnamed(repo) from problem
        names = [commit.id for commit in found]
        return found[: names.index(after)][::-1] if after in names else None


def _unnamed(repo: Repository) -> Damaged:
    return Damaged(
        f"main of {repo.domain} names a commit that git cannot read; run `webarc verify --repair {repo.domain}`."
    )


def _back_to_damage(name: str | None, reader: ObjectReader) -> tuple[list[Commit], bool]:
    """The commits that can be read, newest first, and whether they go back to the very first one."""
    # Not by `git log`, which says nothing of a commit whose parent is damaged.
    found: list[Commit] = []
    while name:
        try:
            data = reader.read(name)
        except Damaged:
            data = None
        if data is None:
            return found, False
        commit, name = _commit(name, data)
        found.append(commit)
    return found, True


def _commit(name: str, data: bytes) -> tuple[Commit, str | None]:
    """A commit read from its object, and its first parent."""
    facts, message = _facts(data), data.decode("utf-8", "replace").partition("\n\n")[2]
    kinds = re.findall(rf"^{history.KIND}: *(.*)$", message, re.MULTILINE)
    made = datetime.fromtimestamp(int(facts["committer"].split()[-2]), CET)
    return Commit(name, message.partition("\n")[0], ",".join(kinds), made), facts.get("parent")


def _facts(data: bytes) -> dict[str, str]:
    """What stands above the message of a commit; of several parents the first."""
    head = data.decode("utf-8", "replace").partition("\n\n")[0]
    return dict(line.partition(" ")[::2] for line in reversed(head.split("\n")))


class Walk:
    """One walk over commits that follow the commit `after` (None: nothing)."""

    def __init__(self, repo: Repository, after: str | None, on_problem: Note) -> None:
        self._repo, self._base, self._note = repo, after, on_problem
        # Crawls since the base of which not everything could be read.
        self._missed: set[str] = set()
        self._gap = self._mending = self._from_nothing = False

    def over(self, commits: list[Commit]) -> Iterator[tuple[Commit, Iterable[Change]]]:
        """Every commit with its changes, which must be read before the next one."""
        for commit, changes in self._plainly(commits):
            self._mending = False
            if not self._gap:
                self._missed.clear()
            yield commit, self._legibly(commit, changes)

    def makes_versions(self, commit: Commit) -> bool:
        """Whether it is a commit of a crawl; all others change versions that are there."""
        return commit.kind in _MAKE_VERSIONS

    def is_version(self, commit: Commit, commit_tag: str) -> bool:
        """Whether a document with this commitTag, changed by this commit, is a version not met before."""
        if self._mending and (self._from_nothing or commit_tag in self._missed):
            return True
        return self.makes_versions(commit) and commit_tag == commit.tag

    def _plainly(self, commits: list[Commit]) -> Iterator[tuple[Commit, Iterable[Change]]]:
        """A few commits one by one, which needs no memory; of many, all but the first from one git process."""
        alone = len(commits) if len(commits) <= _FEW_COMMITS else 1
        for commit in commits[:alone]:
            yield commit, self._repo.changes(commit.id)
        while alone < len(commits):
            try:
                for commit, changes in self._repo.changes_since(commits[alone - 1].id):
                    alone += 1
                    yield commit, changes
                return
            except GitProblem:
                if alone < len(commits):
                    yield commits[alone], self._repo.changes(commits[alone].id)
                    alone += 1

    def _legibly(self, commit: Commit, changes: Iterable[Change]) -> Iterator[Change]:
        try:
            yield from changes
        except GitProblem:
            yield from self._since_base(commit)
        else:
            self._passed(commit)

    def _since_base(self, commit: Commit) -> Iterator[Change]:
        """All changes since the last commit without damage; some may come a second time, which does no harm."""
        self._mending, self._from_nothing = True, self._base is None
        try:
            for step in history.steps(self._repo.git_dir, self._base, commit.id):
                yield Change("D" if not step.new else "M" if step.old else "A", step.path, step.new)
        except GitProblem as problem:
            self._note(f"{self._repo.domain} of {commit.tag} was left out in part: {problem}")
            self._gap = True
        else:
            self._gap = False
        self._passed(commit)

    def _passed(self, commit: Commit) -> None:
        if not self._gap:
            self._base = commit.id
        elif self.makes_versions(commit):
            self._missed.add(commit.tag)
