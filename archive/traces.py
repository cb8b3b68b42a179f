"""What a page leaves outside git and the index: caches, and files that were rescued."""

from __future__ import annotations

from pathlib import Path

from webarc.archive.doom import Doom, owner
from webarc.archive.layout import INTERNAL, domain_folder
from webarc.archive.rescue import blob_id
from webarc.archive.store import Archive
from webarc.sql.locks import FileLocks

_COMPANIONS = ("-wal", "-shm", "-journal", "")
_STAGED = ".staged"


def clear_links(archive: Archive) -> None:
    """Remove what pages named when they were read last; a running crawl goes on without."""
    # Of all domains: a crawl remembers the pages of others that it came to as a guest.
    for file in (archive.internal / "cache").glob("*.links.db*"):
        file.unlink(missing_ok=True)


def clear_old_indexes(archive: Archive) -> None:
    """Remove the copies of the index that a repair or a rebuild has put aside: they tell of what is forgotten."""
    for file in archive.internal.glob(f"{archive.index_file.name}.replaced-*"):
        file.unlink(missing_ok=True)


def clear_texts(archive: Archive, domain: str, _blobs: list[str]) -> None:
    """Remove the texts of a domain that were kept to be searched; they are read again when they are wanted."""
    file = archive.internal / "cache" / f"{domain_folder(domain)}.text.db"
    if file.exists():
        with FileLocks(file).exclusive():
            for companion in _COMPANIONS:
                Path(f"{file}{companion}").unlink(missing_ok=True)


def clear_rescued(folder: Path, doom: Doom, blobs: set[str]) -> list[Path]:
    """Remove rescued copies of these blobs; returns files of the same pages that were changed by hand and stay."""
    home, left = folder / INTERNAL / "rescued", []
    for file in sorted(path for path in home.rglob("*") if path.is_file() and not path.is_symlink()):
        inside = file.relative_to(home).as_posix().partition("/")[2].removesuffix(_STAGED)
        if not doom.touches(owner(inside)):
            continue
        if blob_id(file, file.stat().st_size, next(iter(blobs), "")) in blobs:
            file.unlink()
        else:
            left.append(file)
    return left
