"""The config files that hold at once, from weak to strong: the user's own, the archive's, the one at hand or named.

An archive may come from somebody else. So a file that lies in one sets nothing that runs code, or that names
databases, proxies or secrets, unless it belongs to the user and the user's own config trusts that archive.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import Any

from webarc.config.file import NAME, ConfigFile, at_home, exists, named, read, read_foreign

TRUSTED = "trusted_archives"
# What tells where the archive is, and whether to trust it; asked before the file in it is.
FINDING = frozenset({"archive", TRUSTED})
_MARK = ".webarc"
_FILTERS = "filters"


class Rank(IntEnum):
    """Where a file was found; a higher one is stronger."""

    HOME = 0
    ARCHIVE = 1
    AT_HAND = 2
    NAMED = 3


@dataclass(frozen=True, slots=True)
class Layer:
    """One file; `homes` are the archives that it lies in, `only` the keys that are taken from it, if not all are."""

    rank: Rank
    file: ConfigFile
    homes: tuple[str, ...] = ()
    only: frozenset[str] | None = None

    def is_trusted(self, trusted: Collection[Path]) -> bool:
        """Whether everything in it may be taken."""
        known = {os.path.realpath(place) for place in trusted}
        return not self.homes or (self.file.is_mine and not known.isdisjoint(self.homes))

    def cure(self) -> str:
        """What to do if it is not trusted and should be."""
        if not self.file.is_mine:
            return "the file is not yours alone, so this is ignored"
        return f"this is ignored unless your own config file has {TRUSTED} = [{json.dumps(self.homes[0])}]"

    def refusal(self, name: str, value: Any) -> str:
        """Why a key can never be set here; empty if it can."""
        if name == TRUSTED and self.rank in (Rank.ARCHIVE, Rank.AT_HAND):
            return f"{TRUSTED} holds in your own config file, in one that you name and in the environment only"
        if name == "archive" and self.homes and os.path.realpath(value) not in self.homes:
            return "the config file of an archive cannot name another archive"
        return ""

    def filters(self) -> Path:
        """The folder of the filters' own config files."""
        return self.file.path.absolute().parent / _FILTERS

    def has_filters(self) -> bool:
        """Whether any of them is there; a folder that is a domain's has none."""
        return any(file.is_file() for file in self.filters().glob("*.toml"))


def own_layers(explicit: Path | None, environ: Mapping[str, str]) -> Iterator[Layer]:
    """The files that are found without knowing the archive, weakest first."""
    if place := named(explicit, environ):
        yield Layer(Rank.NAMED, read(place))
        return
    at_hand, home = _at_hand(), at_home(environ)
    if home and exists(home):
        yield Layer(Rank.HOME, read(home), only=frozenset({TRUSTED}) if at_hand else None)
    if at_hand:
        homes = _homes(at_hand)
        yield Layer(Rank.AT_HAND, read_foreign(at_hand) if homes else read(at_hand), homes)


def with_archive(own: list[Layer], folder: Path) -> list[Layer]:
    """The same and the file of the archive, unless it is one of them."""
    place = folder / NAME
    if not os.path.lexists(place) or place.is_dir() or any(_is_same(layer.file.path, place) for layer in own):
        return own  # a folder of that name is a domain
    layer = Layer(Rank.ARCHIVE, read_foreign(place), (os.path.realpath(folder),))
    return sorted([*own, layer], key=lambda each: each.rank)


def elsewhere(explicit: Path | None, environ: Mapping[str, str]) -> Path | None:
    """The file that has to be named so that a command started in another folder uses it, too."""
    if place := named(explicit, environ):
        return place
    place = _at_hand()
    return None if place is None or _homes(place) else place


def looked_at(explicit: Path | None, environ: Mapping[str, str], archive: Path) -> list[Path]:
    """Where config files are looked for, strongest first."""
    if place := named(explicit, environ):
        return [place, archive / NAME]
    home = at_home(environ)
    return [Path(NAME), archive / NAME, *([home] if home else [])]


def _at_hand() -> Path | None:
    place = Path(NAME)
    if not exists(place) or (place.is_dir() and _homes(place)):
        return None
    return place


def _homes(file: Path) -> tuple[str, ...]:
    """The archives that a file lies in, itself or in a folder of theirs."""
    return tuple(os.path.realpath(folder) for folder in file.absolute().parents if (folder / _MARK).is_dir())


def _is_same(one: Path, other: Path) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)
