"""Objects got back: damaged packs are replaced by whole ones, and lost objects made anew from where they are still."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path

from webarc.archive.aside import Aside
from webarc.archive.digests import Digest, Digests
from webarc.archive.gitdir import chain_fits, fits_pack, hash_fits
from webarc.archive.gitenv import git
from webarc.archive.importer import MAIN
from webarc.archive.repository import Repository
from webarc.archive.rescue import blob_id
from webarc.errors import GitProblem

_AT_A_TIME = 5_000
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
        for pack in sorted((self._objects / "pack").glob("*.pack")):
            if not hash_fits(pack):
                lost |= self._replace(pack)
            elif not self._has_index(pack):
                self._index(pack)
        self._move_damaged(lost)
        self._restore(lost)

    def _drop_aids(self) -> None:
        """Files that only make git quicker go if one of them is damaged; git, or `webarc compact`, makes new ones."""
        found = [path for pattern in _QUICK_ONLY for path in sorted(self._objects.glob(pattern))]
        files = [file for path in found for file in (path.rglob("*.graph") if path.is_dir() else [path])]
        if not all(map(hash_fits, files)) or not chain_fits(self._objects):
            for path in found:
                self._aside.move(path)

    # -- packs ------------------------------------------------------------------------------------------------

    def _has_index(self, pack: Path) -> bool:
        index = pack.with_suffix(".idx")
        return index.exists() and hash_fits(index) and fits_pack(index) and self._is_readable(index)

    def _is_readable(self, index: Path) -> bool:
        with suppress(GitProblem):
            return bool(self._listed(index))
        return False

    def _index(self, pack: Path) -> None:
        """Make the index of a whole pack anew."""
        fresh = pack.with_suffix(".webarc-idx")
        fresh.unlink(missing_ok=True)
        git(["index-pack", "-o", str(fresh), str(pack)], self._repo.git_dir)
        self._aside.move(pack.with_suffix(".idx"))
        fresh.rename(pack.with_suffix(".idx"))

    def _replace(self, pack: Path) -> set[str]:
        """A pack of all objects that can still be read takes the place of a damaged one; returns those that cannot."""
        index = pack.with_suffix(".idx")
        if index.exists() and hash_fits(index):
            listed = self._listed(index)
            legible = list(self._legible(listed))
            if legible:
                names = "".join(f"{name}\n" for name in legible).encode()
                git(["pack-objects", "--quiet", str(self._objects / "pack" / "pack")], self._repo.git_dir, names)
            self._take_away(pack)
            return set(listed) - set(legible)
        self._take_away(pack)
        with suppress(GitProblem), (self._aside.home / pack.relative_to(self._repo.git_dir)).open("rb") as source:
            # What git can make out by itself, up to where it cannot go on.
            git(["unpack-objects", "-q", "-r"], self._repo.git_dir, source)
        return set()

    def _take_away(self, pack: Path) -> None:
        for path in sorted(pack.parent.glob(f"{pack.stem}.*")):
            self._aside.move(path)

    def _listed(self, index: Path) -> list[str]:
        with index.open("rb") as source:
            return [line.split()[1] for line in git(["show-index"], self._repo.git_dir, source).decode().splitlines()]

    def _legible(self, names: list[str]) -> Iterator[str]:
        remaining = iter(names)
        with self._repo.reader() as reader:
            while part := list(islice(remaining, _AT_A_TIME)):
                found = Digests(self._repo.git_dir, reader).of(set(part))
                yield from (name for name in part if isinstance(found[name], Digest))

    # -- single objects ---------------------------------------------------------------------------------------

    def _move_damaged(self, lost: set[str]) -> None:
        """A damaged file of one object would stand in the way of a whole one."""
        for name in lost - set(self._legible(sorted(lost))):
            self._aside.move(self._objects / name[:2] / name[2:])

    def _restore(self, lost: set[str]) -> None:
        """Blobs from the work tree, trees from git's index: what has the name of the lost object is that object."""
        missing = lost - set(self._legible(sorted(lost)))
        if not missing:
            return
        with suppress(GitProblem):
            git(["write-tree", "--missing-ok"], self._repo.git_dir)
        for path, blob in self._shown():
            if blob in missing and self._holds(path, blob):
                git(["hash-object", "-w", "--no-filters", "--", str(self._repo.folder / path)], self._repo.git_dir)
                missing.discard(blob)

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
