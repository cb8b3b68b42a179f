"""Objects got back: packs are put in order, and lost objects made anew from where they are still."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from webarc.archive.aside import Aside
from webarc.archive.gitdir import chain_fits, hash_fits
from webarc.archive.gitenv import git
from webarc.archive.importer import MAIN
from webarc.archive.packs import Packs, legible
from webarc.archive.repository import Repository
from webarc.archive.rescue import blob_id
from webarc.archive.treebuilding import TreeBuilding
from webarc.archive.walk import legible_commits
from webarc.errors import Damaged, GitProblem

_QUICK_ONLY = ("pack/*.rev", "pack/*.bitmap", "pack/multi-pack-index*", "info/commit-graph", "info/commit-graphs")


class Salvage:
    """The mending of one repository's objects; the caller holds the exclusive tree lock."""

    def __init__(self, repo: Repository, aside: Aside) -> None:
        self._repo, self._aside = repo, aside
        self._objects = repo.git_dir / "objects"

    def run(self, lost: set[str]) -> None:
        """Put the packs in order, then get back what is lost."""
        lost = set(lost)
        self._drop_aids()
        packs = Packs(self._repo, self._aside)
        lost |= packs.put_in_order()
        self._move_damaged(lost)
        self._restore(lost)
        if packs.problems:
            raise GitProblem(" ".join(packs.problems))

    def _drop_aids(self) -> None:
        """Files that only make git quicker go if one of them is damaged; git, or `webarc compact`, makes new ones."""
        found = [path for pattern in _QUICK_ONLY for path in sorted(self._objects.glob(pattern))]
        files = [file for path in found for file in (path.rglob("*.graph") if path.is_dir() else [path])]
        if not all(map(hash_fits, files)) or not chain_fits(self._objects):
            for path in found:
                self._aside.move(path)

    # -- single objects ---------------------------------------------------------------------------------------

    def _move_damaged(self, lost: set[str]) -> None:
        """A damaged file of one object would stand in the way of a whole one."""
        for name in lost - set(legible(self._repo, sorted(lost))):
            self._aside.move(self._objects / name[:2] / name[2:])

    def _restore(self, lost: set[str]) -> None:
        """Blobs from the work tree, trees from git's index or put together: what has its name is the lost object."""
        missing = lost - set(legible(self._repo, sorted(lost)))
        if not missing:
            return
        with suppress(GitProblem):
            git(["write-tree", "--missing-ok"], self._repo.git_dir)
        self._build_trees(missing)
        for path, blob in self._shown():
            if blob in missing and self._holds(path, blob):
                git(["hash-object", "-w", "--no-filters", "--", str(self._repo.folder / path)], self._repo.git_dir)
                missing.discard(blob)

    def _build_trees(self, missing: set[str]) -> None:
        with suppress(GitProblem, Damaged), self._repo.reader() as reader:
            lost = missing - set(legible(self._repo, sorted(missing)))
            if lost:
                commits = legible_commits(self._repo, reader, lambda _problem: None)
                TreeBuilding(self._repo, reader, commits).run(lost)

    def _shown(self) -> Iterator[tuple[str, str]]:
        """Path and blob of what the work tree shows, from git's index should the tree itself be lost."""
        try:
            yield from self._repo.files(MAIN)
        except GitProblem:
            with suppress(GitProblem):
                listed = git(["ls-files", "--stage", "-z"], self._repo.git_dir).decode("utf-8", "surrogateescape")
                for line in listed.split("\0")[:-1]:
                    about, _, path = line.partition("\t")
                    yield path, about.split()[1]

    def _holds(self, path: str, blob: str) -> bool:
        place = self._repo.folder / path
        try:
            return place.is_file() and not place.is_symlink() and blob_id(place, place.stat().st_size, blob) == blob
        except OSError:
            return False
