"""The config files that hold at once, from weak to strong: the user's own, the archive's, the one at hand.

An archive may come from somebody else. So a file that lies in one sets nothing that runs code, or that names
databases, proxies or secrets, unless it belongs to the user and the user's own config trusts that archive.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from webarc.config.file import NAME, ConfigFile, own_place, place_at_hand, place_named, read, read_plain
from webarc.config.keys import KEYS

TRUSTED = "trusted_archives"
# What tells where the archive is, and whether to trust it; asked before the file in it is.
FINDING = frozenset({"archive", TRUSTED})
_MARK = ".webarc"
_FILTERS = "filters"


@dataclass(frozen=True, slots=True)
class Layer:
    """One file; `homes` are the archives that it lies in, `only` the keys that are taken from it, if not all are."""

    file: ConfigFile
    homes: tuple[str, ...] = ()
    only: frozenset[str] | None = None
    is_own: bool = False

    def trusted_by(self, trusted: Collection[Path]) -> bool:
        """Whether everything in it may be taken."""
        if not self.homes:
            return True
        known = {os.path.realpath(place) for place in trusted}
        return self.file.is_mine and not known.isdisjoint(self.homes)

    def distrust(self) -> str:
        """What has to be done before it is trusted, as the end of a sentence."""
        if not self.file.is_mine:
            return "for the file belongs to somebody else, or everybody may write to it"
        return f"for archives may come from others; to trust this one, add it to {TRUSTED} in your own config file"

    def refusal(self, name: str, value: Any) -> str:
        """Why a key can never be set here; empty if it can."""
        if name == TRUSTED and not self.is_own:
            return "holds only in your own config file, in the one of --config and in the environment"
        if name == "archive" and self.homes and os.path.realpath(value) not in self.homes:
            return "cannot name another archive in the file of this one"
        return ""

    def filters(self) -> Path:
        """The folder of the filters' own config files."""
        return self.file.path.absolute().parent / _FILTERS

    def guarded(self) -> Iterator[str]:
        """What is in it, and beside it, that only a trusted file may set."""
        yield from (name for name in self.file.values if name in KEYS and KEYS[name].guarded)
        if any(file.is_file() for file in self.filters().glob("*.toml")):
            yield f"{_FILTERS}/*.toml"


def own_layers(explicit: Path | None, environ: Mapping[str, str]) -> list[Layer]:
    """The files that are found without knowing the archive, weakest first."""
    if place := place_named(explicit, environ):
        return [Layer(read(place), is_own=True)]
    home = own_place(environ)
    own = read(home) if home else None
    if place := place_at_hand():
        homes = _homes(place)
        at_hand = Layer(read_plain(place) if homes else read(place), homes)
        return [*([Layer(own, only=frozenset({TRUSTED}), is_own=True)] if own else []), at_hand]
    return [Layer(own, is_own=True)] if own else []


def with_archive(own: list[Layer], folder: Path) -> list[Layer]:
    """The same, and the file of the archive: above the user's own, below the one that is named or at hand."""
    place = folder / NAME
    if not os.path.lexists(place) or place.is_dir() or any(_same(layer.file.path, place) for layer in own):
        return own  # a folder of that name is a domain
    layer = Layer(read_plain(place), (os.path.realpath(folder),))
    named = own[-1:] if own and (own[-1].homes or not _is_default(own[-1])) else []
    return [*own[: len(own) - len(named)], layer, *named]


def named_file(explicit: Path | None, environ: Mapping[str, str]) -> Path | None:
    """The file that must be named so that a command started elsewhere uses it, too."""
    if place := place_named(explicit, environ):
        return place
    place = place_at_hand()
    return None if place is None or _homes(place) else place


def _homes(file: Path) -> tuple[str, ...]:
    """The archives that a file lies in, itself or in a folder of theirs."""
    return tuple(os.path.realpath(folder) for folder in file.absolute().parents if (folder / _MARK).is_dir())


def _same(one: Path, other: Path) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)
