"""Lost trees made anew: what a folder may have held is put together, and what has the name of the lost tree is it.

What it may have held is what the crawls before and after have there, and what nothing leads to any more: documents,
which tell their path and the hash of the bytes beside them, and the trees of folders below. Folders of reports do not
tell their path, but look like those of other crawls.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from itertools import islice, product

from webarc.archive.digests import Digest, Digests
from webarc.archive.document import parse
from webarc.archive.gitenv import git
from webarc.archive.history import Commit
from webarc.archive.layout import METADATA, domain_folder
from webarc.archive.metadata import Metadata
from webarc.archive.objects import ObjectReader, sizes
from webarc.archive.places import Entry, Place, Places, entries
from webarc.archive.repository import Repository
from webarc.errors import Damaged

_MOST_TRIES = 20_000
# Documents are far smaller.
_LARGEST_DOCUMENT = 1 << 20
_FILE, _FOLDER = b"100644", b"40000"
_Options = dict[str, list[Entry | None]]


class TreeBuilding:
    """The search for the lost trees of one repository, whose commits are given oldest first."""

    def __init__(self, repo: Repository, reader: ObjectReader, commits: Sequence[Commit]) -> None:
        self._repo, self._reader = repo, reader
        self._places = Places(reader, commits)

    def run(self, lost: set[str]) -> None:
        """Write those of the lost objects that are trees and can be put together."""
        for name, place in self._places.of(lost).items():
            data = self._found(name, place) if place.is_folder else None
            if data is not None:
                git(["hash-object", "-w", "-t", "tree", "--stdin"], self._repo.git_dir, data)

    def _found(self, name: str, place: Place) -> bytes | None:
        options = self._options(place)
        choices = islice(product(*(options[key] for key in sorted(options))), _MOST_TRIES)
        tries = (_tree([entry for entry in choice if entry is not None]) for choice in choices)
        return next((data for data in tries if _name(data) == name), None)

    def _options(self, place: Place) -> _Options:
        """What may stand under each name, what is most likely first."""
        found: _Options = {}
        sides = [self._entries(tree) for tree in self._places.neighbours(place)]
        orphans = [entry for path, entry in self._orphans if path == place.path]
        known_there = [entry for side in sides for entry in side]
        for entry in [*orphans, *self._alike(known_there), *known_there]:
            known = found.setdefault(_key(entry), [])
            if entry not in known:
                known.append(entry)
        for key, known in found.items():
            if not sides or not all(key in map(_key, side) for side in sides):
                known.append(None)
        return found

    def _alike(self, known: list[Entry]) -> Iterator[Entry]:
        """Folders that nothing leads to, nor tells the path of, but that hold the same names as one that is known."""
        for entry in known:
            names = {each.name for each in self._entries(entry.id)} if entry.is_folder else set()
            for tree, inside in self._placeless.items() if names else ():
                if {each.name for each in inside} == names:
                    yield Entry(entry.name, True, tree)

    def _entries(self, tree: str) -> list[Entry]:
        data = next(self._reader.read_many([tree]))
        return list(entries(data)) if isinstance(data, bytes) else []

    # -- what nothing leads to --------------------------------------------------------------------------------

    @cached_property
    def _objects(self) -> dict[str, list[str]]:
        """The names of all objects by kind."""
        asked = ["cat-file", "--batch-all-objects", "--batch-check=%(objecttype) %(objectname)"]
        found: dict[str, list[str]] = {"blob": [], "tree": []}
        for line in git(asked, self._repo.git_dir).decode().splitlines():
            kind, _, name = line.partition(" ")
            found.setdefault(kind, []).append(name)
        return found

    @cached_property
    def _trees(self) -> dict[str, list[Entry]]:
        return {tree: self._entries(tree) for tree in self._objects["tree"]}

    @cached_property
    def _held(self) -> set[str]:
        """What trees lead to."""
        return {entry.id for inside in self._trees.values() for entry in inside}

    @cached_property
    def _placeless(self) -> dict[str, list[Entry]]:
        """Trees that nothing leads to, and in which no document tells where they were."""
        orphans = {tree: inside for tree, inside in self._trees.items() if tree not in self._held}
        return {tree: inside for tree, inside in orphans.items() if not self._path(inside)}

    @cached_property
    def _orphans(self) -> list[tuple[str, Entry]]:
        """Path of the folder and entry of everything that no tree has, as far as documents tell where it was."""
        found = [each for blob in self._small_blobs(self._held) for each in self._of_document(blob)]
        for tree in self._trees.keys() - self._held:
            path = self._path(self._trees[tree])
            if path:
                parent, _, name = path.rpartition("/")
                found.append((parent, Entry(name, True, tree)))
        return found

    def _small_blobs(self, held: set[str]) -> list[str]:
        blobs = [blob for blob in self._objects["blob"] if blob not in held]
        lengths = sizes(self._repo.git_dir, blobs)
        return [blob for blob, length in zip(blobs, lengths, strict=True) if 0 <= length <= _LARGEST_DOCUMENT]

    def _of_document(self, blob: str) -> Iterator[tuple[str, Entry]]:
        """The document, if the blob is one, and the bytes that it describes."""
        meta = self._document(blob)
        if meta is None:
            return
        path = self._inside(meta)
        yield path, Entry(METADATA, False, blob)
        beside = self._by_hash.get(meta.response.sha256)
        if beside is not None:
            yield path, Entry(meta.response.file, False, beside)

    def _document(self, blob: str) -> Metadata | None:
        with suppress(Damaged):
            return parse(self._reader.read(blob) or b"")
        return None

    @cached_property
    def _by_hash(self) -> dict[str, str]:
        """All blobs by the SHA-256 of their bytes."""
        digests = Digests(self._repo.git_dir, self._reader).of(set(self._objects["blob"]))
        return {found.sha256.hex(): blob for blob, found in digests.items() if isinstance(found, Digest)}

    def _path(self, inside: list[Entry]) -> str:
        """The path of a folder, told by a document in it or below; empty if there is none."""
        for entry in inside:
            if not entry.is_folder and entry.name == METADATA and (meta := self._document(entry.id)):
                return self._inside(meta)
        below = (self._path(self._entries(entry.id)) for entry in inside if entry.is_folder)
        return next((path.rpartition("/")[0] for path in below if path), "")

    def _inside(self, meta: Metadata) -> str:
        return meta.path.removeprefix(f"{domain_folder(self._repo.domain)}/")


def _key(entry: Entry) -> str:
    """What git sorts the entries of a tree by."""
    return f"{entry.name}/" if entry.is_folder else entry.name


def _tree(inside: list[Entry]) -> bytes:
    return b"".join(
        b"%s %s\0%s"
        % (
            _FOLDER if entry.is_folder else _FILE,
            entry.name.encode("utf-8", "surrogateescape"),
            bytes.fromhex(entry.id),
        )
        for entry in sorted(inside, key=lambda entry: _key(entry).encode("utf-8", "surrogateescape"))
    )


def _name(data: bytes) -> str:
    return hashlib.sha1(b"tree %d\0%s" % (len(data), data), usedforsecurity=False).hexdigest()
