"""The folder that a checkout is written to: whole, or as it was before."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import mkdtemp

from webarc.archive.failures import storage
from webarc.archive.locks import free
from webarc.errors import UsageProblem

_MARK = ".webarc-checkout-"
_NAME = re.compile(r"\.webarc-checkout-[a-z0-9_]{8}")


@contextmanager
def new_folder(target: Path, *, force: bool = False) -> Iterator[Path]:
    """A temp folder whose content is at `target` in the end, unless something goes wrong inside.

    `target` must be new or empty; with `force` it may hold files, of which those with the same names are replaced.
    """
    target = _checked(target, force)
    with storage(f"writing to {target}"):
        if target.exists():
            # In the folder itself: it may be a disk of its own, or somebody's working directory.
            with _temporary(target) as place:
                yield place
                _merge(place, target)
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        with _temporary(target.parent) as place:
            yield place
            place.chmod(0o777 & ~_umask())
            place.rename(target)


def _checked(target: Path, force: bool) -> Path:
    target = target.absolute()
    with storage(f"looking at {target}"):
        if target.is_symlink() and not target.exists():
            raise UsageProblem(f"{target} is a link that leads nowhere; name a new or an empty folder.")
        if target.exists() and not target.is_dir():
            raise UsageProblem(f"{target} is not a folder; name a new or an empty one.")
        # The one link that is followed is the one that the user named.
        target = target.resolve()
        _sweep(target)
        _sweep(target.parent)
        if not force and target.is_dir() and any(target.iterdir()):
            raise UsageProblem(f"{target} is not empty; name a new or an empty folder, or add to it with --force.")
    return target


@contextmanager
def _temporary(folder: Path) -> Iterator[Path]:
    place, hold = _held(folder)
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)
        os.close(hold)


def _held(folder: Path) -> tuple[Path, int]:
    """A temp folder, locked as long as this process lives; one that another took for abandoned before is given up."""
    while True:
        place = Path(mkdtemp(prefix=_MARK, dir=folder))
        with suppress(FileNotFoundError):
            descriptor = _opened(place)
            if _is_ours(descriptor) and place.exists():
                return place, descriptor
            os.close(descriptor)


def _is_ours(descriptor: int) -> bool:
    try:
        return free(descriptor)
    except OSError:
        # A file system without locks; nobody can take the folder for abandoned there.
        return True


def _sweep(folder: Path) -> None:
    """Remove the temp folders of checkouts that were killed."""
    # What cannot be looked at is not ours to remove.
    with suppress(OSError):
        for place in folder.glob(f"{_MARK}*"):
            if _NAME.fullmatch(place.name):
                _remove_abandoned(place)


def _remove_abandoned(place: Path) -> None:
    with suppress(OSError):
        descriptor = _opened(place)
        try:
            if free(descriptor):
                shutil.rmtree(place, ignore_errors=True)
        finally:
            os.close(descriptor)


def _opened(place: Path) -> int:
    return os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)


def _merge(place: Path, target: Path) -> None:
    """Move everything into a folder that exists; nothing is moved unless all can be."""
    folders, files = _contents(place)
    for path in [*folders, *files]:
        _check_room(target / path, is_folder=path in folders)
    for path in folders:
        (target / path).mkdir(exist_ok=True)
    for path in files:
        (place / path).replace(target / path)


def _contents(place: Path) -> tuple[dict[Path, None], list[Path]]:
    """The folders below a folder, outer ones first, and the files."""
    folders: dict[Path, None] = {}
    files: list[Path] = []
    for above, inner, names in os.walk(place):
        here = Path(above).relative_to(place)
        folders |= {here / name: None for name in inner}
        files += [here / name for name in names]
    return folders, files


def _check_room(path: Path, *, is_folder: bool) -> None:
    if path.is_symlink() and is_folder:
        raise UsageProblem(f"{path} is a link, and nothing is written through links; remove it or name another folder.")
    if path.exists() and not path.is_symlink() and path.is_dir() != is_folder:
        kind = "no folder" if is_folder else "a folder"
        raise UsageProblem(f"{path} is {kind}, where the checkout needs the other; name another folder.")


def _umask() -> int:
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
