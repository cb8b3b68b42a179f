"""Keeps files by regular expressions on their URL and on the file name at its end."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import regex

from webarc.errors import ConfigProblem
from webarc.filters.plugin import FilterSettings

_KEYS = ("include_url", "exclude_url", "include_name", "exclude_name", "time_limit")


class PatternFilter:
    """Keeps what an include finds (if there are any) and no exclude does; each pattern's time is limited."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        given = FilterSettings("pattern", settings, _KEYS)
        # A pattern such as (a+)+$ can take for ever, and inside it no alarm reaches Python: regex watches the clock.
        self._time_limit = given.duration("time_limit", 1.0) or None
        self._url = [_compiled(given.texts(f"{what}_url")) for what in ("include", "exclude")]
        self._name = [_compiled(given.texts(f"{what}_name")) for what in ("include", "exclude")]

    def keep(self, path: Path) -> bool:
        """Whether the URL and the file name of this file are wanted."""
        from webarc.archive.layout import url_of

        url = url_of(path)
        return self._wanted(self._url, url) and self._wanted(self._name, file_name(url))

    def _wanted(self, patterns: list[list[regex.Pattern[str]]], text: str) -> bool:
        includes, excludes = patterns
        if includes and not self._found(includes, text):
            return False
        return not self._found(excludes, text)

    def _found(self, patterns: list[regex.Pattern[str]], text: str) -> bool:
        return any(pattern.search(text, timeout=self._time_limit) for pattern in patterns)


def file_name(url: str) -> str:
    """The last part of a URL's path, as a person would read it; empty for a folder."""
    return unquote(urlsplit(url).path.rpartition("/")[2])


def _compiled(patterns: tuple[str, ...]) -> list[regex.Pattern[str]]:
    try:
        return [regex.compile(pattern) for pattern in patterns]
    except regex.error as error:
        raise ConfigProblem(
            f"{error.pattern!r} is not a regular expression ({error}); mend filters/pattern.toml."
        ) from None
