"""Keeps files by their MIME type (/Fi-4/): includes and excludes with `*` patterns, the type told by content."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from fnmatch import translate
from pathlib import Path
from typing import Any

from webarc.filters.plugin import FilterSettings

_ANY = ("*", "*/*")


class MimeFilter:
    """Keeps what an include matches and no exclude does; without includes, everything is included."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        given = FilterSettings("mime", settings, ("includes", "excludes"))
        includes = given.texts("includes")
        self._included = None if not includes or any(name in _ANY for name in includes) else _matcher(includes)
        self._excluded = _matcher(given.texts("excludes"))
        self.keeps_all = self._included is None and self._excluded is None

    def keep(self, path: Path) -> bool:
        """Whether the type of this file is wanted."""
        if self.keeps_all:
            return True
        name = mime_type_at(path)
        if self._excluded and self._excluded.fullmatch(name):
            return False
        return self._included is None or self._included.fullmatch(name) is not None


def mime_type_at(path: Path) -> str:
    """The type of a file by its content: as its data.xml has it, else told anew."""
    from webarc.archive.layout import METADATA
    from webarc.archive.mime import HEAD, type_of

    document = path.with_name(METADATA)
    if document.is_file():
        from webarc.archive.document import parse

        return parse(document.read_bytes()).mime_type
    with path.open("rb") as file:
        return type_of(path, file.read(HEAD), "")


def _matcher(names: Iterable[str]) -> re.Pattern[str] | None:
    """One expression for all patterns; None if there is none."""
    patterns = [translate(name.strip().lower().replace("[", "[[]").replace("?", "[?]")) for name in names]
    return re.compile("|".join(patterns)) if patterns else None
