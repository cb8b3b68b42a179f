"""The files of an ARC that a commit takes away: those of the version before, or all of a page that is removed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from webarc.archive.importer import Importer
from webarc.archive.layout import ADDED_FILES, METADATA, is_data_file
from webarc.archive.objects import ObjectReader


def drop_outdated(
    importer: Importer, reader: ObjectReader, parent: str, replacing: Iterable[tuple[str, str]], removals: Iterable[str]
) -> None:
    """Replaced ARCs, each with its new document, lose the files of the old version; removed ones all of their own.

    ARCs below them stay.
    """
    for arc, name in replacing:
        for path in _own_files(reader, parent, arc):
            if path not in (f"{arc}/{name}", f"{arc}/{METADATA}"):
                importer.drop(path)
    for arc in removals:
        for path in _own_files(reader, parent, arc):
            importer.drop(path)


def _own_files(reader: ObjectReader, parent: str, arc: str) -> Iterator[str]:
    """The files that belong to an ARC itself: document, metadata and what was added to this version."""
    for mode, name in _entries(reader.read(f"{parent}:{arc}")):
        if name == METADATA or is_data_file(name):
            yield f"{arc}/{name}"
        elif name == ADDED_FILES and mode == "40000":
            yield from _all_files(reader, parent, f"{arc}/{name}")


def _all_files(reader: ObjectReader, parent: str, folder: str) -> Iterator[str]:
    for mode, name in _entries(reader.read(f"{parent}:{folder}")):
        if mode == "40000":
            yield from _all_files(reader, parent, f"{folder}/{name}")
        else:
            yield f"{folder}/{name}"


def _entries(tree: bytes | None) -> Iterator[tuple[str, str]]:
    """Mode and name of each entry of a git tree object."""
    position = 0
    while tree and position < len(tree):
        end = tree.index(b"\0", position)
        mode, _, name = tree[position:end].partition(b" ")
        yield mode.decode(), name.decode()
        position = end + 21
