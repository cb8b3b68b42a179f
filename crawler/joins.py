"""References of a page made absolute: what `canonical` says, remembered per folder of the site.

Pages of one folder name the same neighbours again and again, so most references are one look-up.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import repeat

from webarc.archive.urls import LONGEST, canonical
from webarc.errors import BadURL

_BLANK = "".join(map(chr, range(0x21)))
_OTHER_SCHEME = re.compile(r"(?!https?:)[a-z][a-z0-9+.-]*:", re.IGNORECASE)
# Nothing in such a reference needs escaping or resolving but leading `../`.
_PLAIN = re.compile(r"(/(?!/)|(?:\.\./)*)((?:[A-Za-z0-9_~-][A-Za-z0-9_.~-]*/)*(?:[A-Za-z0-9_~-][A-Za-z0-9_.~-]*)?)")
_MOST_KNOWN = 80_000
_LONGEST_KNOWN = 300
_UNKNOWN = "?"


class Memory:
    """What was joined lately, by folder and reference; forgets everything when it is full."""

    def __init__(self) -> None:
        self._folders: dict[str, dict[str, str | None]] = {}
        self._room = _MOST_KNOWN

    def __len__(self) -> int:
        return len(self._folders) + sum(map(len, self._folders.values()))

    def folder(self, folder: str) -> dict[str, str | None]:
        """What is known for a folder."""
        known = self._folders.get(folder)
        if known is None:
            known = {}
            if len(folder) <= _LONGEST_KNOWN:
                self._take_room()
                self._folders[folder] = known
        return known

    def keep(self, known: dict[str, str | None], reference: str, url: str | None) -> None:
        """Add to what is known for a folder."""
        self._take_room()
        known[reference] = url

    def _take_room(self) -> None:
        self._room -= 1
        if self._room < 0:
            self._folders.clear()
            self._room = _MOST_KNOWN


memory = Memory()


class Joiner:
    """Makes the references of one page absolute."""

    __slots__ = ("_base", "_folders", "_known", "_root")

    def __init__(self, base: str) -> None:
        folder = folder_of(base)
        self._base = base
        self._root = base.index("/", base.index("//") + 2) + 1
        self._folders = [folder]
        self._known = memory.folder(folder)

    def url(self, reference: str) -> str | None:
        """The canonical URL of a reference; None for what is not http(s), not valid, or inside the page itself."""
        url = self._known.get(reference, _UNKNOWN)
        return self._fresh(reference) if url is _UNKNOWN else url

    def urls(self, references: Iterable[str]) -> list[str | None]:
        """The same for all references of a page: those that are known cost no call of ours."""
        written = list(references)
        urls = list(map(self._known.get, written, repeat(_UNKNOWN)))
        if _UNKNOWN in urls:
            return [self._fresh(each) if url is _UNKNOWN else url for each, url in zip(written, urls, strict=True)]
        return urls

    def _fresh(self, written: str) -> str | None:
        whole = written.strip(_BLANK)
        reference = whole.partition("#")[0]
        if not reference or (":" in reference and _OTHER_SCHEME.match(reference)):
            return None
        plain = _PLAIN.fullmatch(reference)
        url = self._plain_url(*plain.groups()) if plain else self._full_url(whole)
        if len(written) <= _LONGEST_KNOWN and (plain or not _needs_page(reference)):
            memory.keep(self._known, written, url)
        return url

    def _plain_url(self, upwards: str, rest: str) -> str | None:
        url = (self._base[: self._root] if upwards == "/" else self._above(len(upwards) // 3)) + rest
        return url if len(url) <= LONGEST else None

    def _above(self, levels: int) -> str:
        """The folder so many levels up; there is nothing above the root."""
        folders = self._folders
        while len(folders) <= levels:
            lowest = folders[-1]
            if len(lowest) == self._root:
                return lowest
            folders.append(lowest[: lowest.rindex("/", 0, -1) + 1])
        return folders[levels]

    def _full_url(self, reference: str) -> str | None:
        try:
            return canonical(reference, self._base)
        except BadURL:
            return None


def folder_of(url: str) -> str:
    """A canonical URL up to the last slash of its path."""
    path = url.partition("?")[0]
    return path[: path.rindex("/") + 1]


def _needs_page(reference: str) -> bool:
    """Whether a reference may keep the last part of the page's own path, as `?x` and `http:?x` do."""
    if reference[0] == "?":
        return True
    _, colon, rest = reference.partition(":")
    return bool(colon) and not rest.startswith("//")
