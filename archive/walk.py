"""The commits of a domain with what each changed, as far as git can still read them.

A damaged tree hides what a commit changed in one folder, a damaged commit all that went before it. The next commit in
which the folder can be read then stands for those in which it cannot: it is compared with the last one in which it
could, so that only versions which were replaced in between are lost, and everything lost is named.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from itertools import islice

from webarc.archive import history
from webarc.archive.findings import LOST
from webarc.archive.history import Change, Commit
from webarc.archive.layout import domain_folder
from webarc.archive.objects import ObjectReader
from webarc.archive.repository import Repository
from webarc.archive.times import CET
from webarc.archive.treediff import TreeDiff
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

    def __init__(self, repo: Repository, reader: ObjectReader, after: str | None, on_problem: Note) -> None:
        self._repo, self._reader, self._last, self._note = repo, reader, after, on_problem
        self._trees = TreeDiff(reader)
        # Crawls of which not everything could be read.
        self._missed: set[str] = set()
        self._mending = self._from_nothing = False

    def over(self, commits: list[Commit]) -> Iterator[tuple[Commit, Iterable[Change]]]:
        """Every commit with its changes, which must be read before the next one."""
        for commit, changes in self._plainly(commits):
            self._mending = False
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
        seen = 0
        try:
            for change in changes:
                seen += 1
                yield change
        except GitProblem:
            # Both go over the tree in the same order.
            yield from islice(self._around_damage(commit), seen, None)
        self._last = commit.id

    def _around_damage(self, commit: Commit) -> Iterator[Change]:
        """What a commit changed, but for folders that cannot be read, and with what came before if it can be now."""
        old, new = self._tree(self._last), self._tree(commit.id)
        self._from_nothing = self._last is None
        # A page may be a version of a crawl of which not everything could be read.
        self._mending = True
        yield from self._trees.changes(old, new)
        for path, tree in self._trees.lost:
            self._name(commit, path, tree)
        if self._trees.lost and self.makes_versions(commit):
            self._missed.add(commit.tag)

    def _tree(self, commit: str | None) -> str:
        data = self._reader.read(commit) if commit else None
        return _facts(data).get("tree", "") if data else ""

    def _name(self, commit: Commit, path: str, tree: str) -> None:
        place = f"{domain_folder(self._repo.domain)}/{path}".rstrip("/")
        self._note(f"{place}/ of {commit.tag} was left out: git cannot read the folder, its tree {tree}; {LOST}.")
