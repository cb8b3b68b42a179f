"""The packs of a repository put in order; none goes before all that git can read from it is in another one.

Git reads nothing at all from a pack whose header or hash is not what its index says, though the objects may be whole.
So these are written anew first; only a pack with damaged objects is replaced by one with those that are left.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path

from webarc.archive import packfile
from webarc.archive.aside import Aside
from webarc.archive.digests import Digest, Digests
from webarc.archive.durable import sync_folders
from webarc.archive.gitdir import hash_fits
from webarc.archive.gitenv import git
from webarc.archive.repository import Repository
from webarc.errors import GitProblem

_AT_A_TIME = 5_000


class Packs:
    """The mending of one repository's packs; `problems` are those of packs that stay as they are."""

    def __init__(self, repo: Repository, aside: Aside) -> None:
        self._repo, self._aside = repo, aside
        self._folder = repo.git_dir / "objects" / "pack"
        self._workshop = repo.git_dir / "webarc-mending"
        self.problems: list[str] = []

    def put_in_order(self) -> set[str]:
        """Mend what can be mended; returns the objects that are lost."""
        lost: set[str] = set()
        for pack in sorted(self._folder.glob("*.pack")):
            shutil.rmtree(self._workshop, ignore_errors=True)
            self._workshop.mkdir()
            try:
                lost |= self._mend(pack)
            except GitProblem as problem:
                self.problems.append(str(problem))
            finally:
                shutil.rmtree(self._workshop, ignore_errors=True)
        return lost

    def _mend(self, pack: Path) -> set[str]:
        if not packfile.is_whole(pack) and not self._renew_envelope(pack):
            return self._replace(pack)
        if not self._has_index(pack):
            self._index(pack)
        return set()

    # -- header, hash and index -------------------------------------------------------------------------------

    def _renew_envelope(self, pack: Path) -> bool:
        """Write header and hash anew; whether the pack is whole then. Git can read more of it in any case."""
        index = pack.with_suffix(".idx")
        trusted = index.exists() and hash_fits(index)
        if trusted and self._by_index(pack, index):
            return True
        told = packfile.by_objects(pack)
        if told is not None and self._holds(pack, told, self._listed(index) if trusted else None):
            self._exchange(pack, self._workshop / "told" / pack.name)
            return True
        if trusted and not packfile.fits_index(pack, index):
            self._exchange(pack, self._workshop / pack.name)
        return False

    def _by_index(self, pack: Path, index: Path) -> bool:
        """Write the header and hash that the index knows around the objects; used at once if the pack is whole then."""
        known, fresh = packfile.by_index(pack, index), self._workshop / pack.name
        # Of a pack that was cut it may be the hash that is missing.
        for end in (pack.stat().st_size, known.end):
            fresh.unlink(missing_ok=True)
            packfile.write(pack, replace(known, end=end), fresh)
            if packfile.is_whole(fresh):
                self._exchange(pack, fresh)
                return True
        return False

    def _holds(self, pack: Path, envelope: packfile.Envelope, names: list[str] | None) -> bool:
        """Whether git can read all objects of a pack in this envelope, and they are those that the index names."""
        fresh = self._workshop / "told" / pack.name
        fresh.parent.mkdir()
        packfile.write(pack, envelope, fresh)
        with suppress(GitProblem):
            git(["index-pack", "-o", str(fresh.with_suffix(".idx")), str(fresh)], self._repo.git_dir)
            found = set(self._listed(fresh.with_suffix(".idx")))
            # If they have nothing in common, it is the index of another pack.
            return names is None or found == set(names) or found.isdisjoint(names)
        return False

    def _exchange(self, pack: Path, fresh: Path) -> None:
        self._aside.keep(pack)
        fresh.rename(pack)
        sync_folders(self._folder)

    def _has_index(self, pack: Path) -> bool:
        index = pack.with_suffix(".idx")
        return index.exists() and hash_fits(index) and packfile.fits_index(pack, index) and self._is_readable(index)

    def _is_readable(self, index: Path) -> bool:
        with suppress(GitProblem):
            return bool(self._listed(index))
        return False

    def _index(self, pack: Path) -> None:
        """Make the index of a whole pack anew."""
        fresh = self._workshop / f"{pack.stem}.idx"
        git(["index-pack", "-o", str(fresh), str(pack)], self._repo.git_dir)
        self._aside.copy(pack.with_suffix(".idx"))
        fresh.rename(pack.with_suffix(".idx"))
        sync_folders(self._folder)

    def _listed(self, index: Path) -> list[str]:
        with index.open("rb") as source:
            return [line.split()[1] for line in git(["show-index"], self._repo.git_dir, source).decode().splitlines()]

    # -- damaged objects --------------------------------------------------------------------------------------

    def _replace(self, pack: Path) -> set[str]:
        """A pack of all objects that can still be read takes the place of a damaged one; returns those that cannot."""
        index = pack.with_suffix(".idx")
        listed: list[str] = []
        with suppress(GitProblem, FileNotFoundError):
            listed = self._listed(index)
        named = list(legible(self._repo, listed))
        made = self._packed(named)
        loose = [] if listed and hash_fits(index) else self._unpacked(pack)
        if not listed and not loose:
            raise GitProblem(f"nothing can be read from {pack}; restore it from a backup.")
        for path in made:
            self._put(path)
        sync_folders(self._folder)
        # The new one may have the name of the old one, whose place it has taken then.
        if pack.name not in {path.name for path in made}:
            self._take_away(pack)
        for path in loose:
            self._add(path)
        return set(listed) - set(named)

    def _packed(self, names: list[str]) -> list[Path]:
        """A pack of these objects, to be moved to its place, and then its index."""
        if not names:
            return []
        given = "".join(f"{name}\n" for name in names).encode()
        # Not in the repository itself: git follows its tags, and gives up if one of them is damaged.
        apart = self._apart("packing")
        (apart / "objects" / "info" / "alternates").write_text(f"{self._folder.parent.resolve()}\n")
        git(["pack-objects", "--quiet", str(self._workshop / "pack")], apart, given)
        (index,) = self._workshop.glob("pack-*.idx")
        if not set(names) <= set(self._listed(index)):
            raise GitProblem(f"git did not pack all that it can read in {self._repo.domain}; restore it from a backup.")
        return [index.with_suffix(".pack"), index]

    def _unpacked(self, pack: Path) -> list[Path]:
        """What git can make out without an index, up to where it cannot go on, as files of one object each."""
        apart = self._apart("unpacking")
        with suppress(GitProblem), pack.open("rb") as source:
            git(["unpack-objects", "-q", "-r"], apart, source)
        return sorted((apart / "objects").glob("[0-9a-f][0-9a-f]/*"))

    def _apart(self, name: str) -> Path:
        """A repository without refs and objects of its own."""
        place = self._workshop / name
        git(["init", "--quiet", "--bare", str(place)])
        (place / "objects" / "info").mkdir(exist_ok=True)
        return place

    def _put(self, path: Path) -> None:
        place = self._folder / path.name
        if place.exists():
            self._aside.keep(place)
        path.rename(place)

    def _add(self, path: Path) -> None:
        place = self._folder.parent / path.parent.name / path.name
        place.parent.mkdir(exist_ok=True)
        if not place.exists():
            path.rename(place)

    def _take_away(self, pack: Path) -> None:
        # An index over several packs names this one, too.
        for path in sorted([*pack.parent.glob(f"{pack.stem}.*"), *pack.parent.glob("multi-pack-index*")]):
            self._aside.move(path)


def legible(repo: Repository, names: Iterable[str]) -> Iterator[str]:
    """Those of the objects that git can read, and that are what they were."""
    remaining = iter(names)
    with repo.reader() as reader:
        while part := list(islice(remaining, _AT_A_TIME)):
            found = Digests(repo.git_dir, reader).of(set(part))
            yield from (name for name in part if isinstance(found[name], Digest))
