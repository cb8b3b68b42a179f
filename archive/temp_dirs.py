"""Temp dirs that dead processes left: taking them away."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from webarc.archive.layout import domain_folder
from webarc.archive.staging import HOARD
from webarc.archive.store import Archive


def prune_staging(archive: Archive) -> tuple[int, int]:
    """Remove the temp dirs of dead processes, but for crawls that can be resumed; how many, and their bytes."""
    sizes = {place: bytes_below(place) for place in archive.staging.iterdir()}
    removed = archive.clear_stale_staging()
    return len(removed), sum(sizes.get(place, 0) for place in removed)


def clear_staging(archive: Archive, domain: str) -> None:
    """Remove the temp dirs of dead processes that hold something of a domain, those of resumable crawls, too."""
    # What others left behind may name its pages, as the reports of a killed command do.
    archive.clear_stale_staging()
    for place in archive.staging.iterdir():
        if _holds(place, domain_folder(domain)) and (abandoned := archive.take_over_staging(place)):
            abandoned.remove()


def _holds(place: Path, folder: str) -> bool:
    """Whether a temp dir has files of a domain, newly fetched or put aside by a crawl that goes on."""
    hoards = place / HOARD
    return any((home / folder).exists() for home in (place, *(hoards.iterdir() if hoards.is_dir() else ())))


def bytes_below(folder: Path) -> int:
    """The sizes of all files below a folder, in all."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            # Files come and go while others are at work.
            with suppress(FileNotFoundError):
                total += os.lstat(f"{place}/{name}").st_size
    return total
