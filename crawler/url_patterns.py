"""Patterns that a URL could be one of many of: those of calendars, counters and paths that lead into themselves."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from webarc.crawler.calendar_words import CALENDAR_WORDS

_MOST_PARAMETERS = 12
_LONGEST_DATE = 3
# So often no honest path repeats one of its parts.
_REPEATED = 5
_DATE_NAMES = """
y m d w yr yy yyyy mon mm dd wk year month day week date jahr monat tag woche datum annee mois jour semaine anno mese
giorno ano mes dia semana jaar maand dag
"""
_DATES = frozenset(_DATE_NAMES.split())
_YEAR = re.compile(r"/[0-9]{4,6}(?:/|$)")
_WORDS = re.compile(r"[a-z]+")
_DATE_ENDING = re.compile(r"(?:year|month|week|day|date)$")


def patterns_of(url: str) -> list[str]:
    """The patterns of a canonical URL; `*` stands for what varies, `/.../` for a path that grows.

    One parameter of the query may vary, or several that tell a date together, or a date in the path, or how often
    parts of the path are repeated. A number in the path alone is no pattern: so are the pages of most honest sites.
    """
    start = url.index("/", url.index("//") + 2)
    host, (path, mark, query) = url[:start], url[start:].partition("?")
    found = [f"{host}{path}?{varied}" for varied in _varied(query)] if query else []
    parts = path.split("/")
    dated = _without_date(parts) if _YEAR.search(path) else ""
    if dated:
        found.append(f"{host}{dated}{mark}{query}")
    grown = _grown(parts) if len(parts) > _REPEATED else ""
    if grown:
        found.append(f"{host}{grown}")
    return found


def _varied(query: str) -> Iterator[str]:
    """The query with one of its values left open, and with all those that tell a date."""
    pieces = query.split("&")
    if len(pieces) > _MOST_PARAMETERS:
        return
    opened = [_opened(piece) for piece in pieces]
    for place, piece in enumerate(opened):
        if piece:
            yield "&".join([*pieces[:place], piece, *pieces[place + 1 :]])
    if sum(map(_tells_date, pieces)) > 1:
        yield "&".join(new if new and _tells_date(old) else old for old, new in zip(pieces, opened, strict=True))


def _opened(piece: str) -> str:
    name, equals, value = piece.partition("=")
    if not equals:
        return "*" if name else ""
    return f"{name}=*" if value else ""


def _tells_date(piece: str) -> bool:
    name = piece.partition("=")[0].lower()
    return _DATE_ENDING.search(name) is not None or not _DATES.isdisjoint(_WORDS.findall(name))


def _without_date(parts: list[str]) -> str:
    """The path with the first date in it left open: two or three parts side by side, one of them a year."""
    place = 0
    while place < len(parts):
        end = place
        while end < len(parts) and end - place < _LONGEST_DATE and _is_date_part(parts[end]):
            end += 1
        if end - place > 1 and any(len(part) > 3 and part.isdigit() for part in parts[place:end]):
            return "/".join([*parts[:place], *["*"] * (end - place), *parts[end:]])
        place = max(end, place + 1)
    return ""


def _is_date_part(part: str) -> bool:
    return (part.isascii() and part.isdigit() and len(part) <= 6) or part.lower() in CALENDAR_WORDS


def _grown(parts: list[str]) -> str:
    """The folders of a path that repeats some of them many times, each once."""
    folders = [part for part in parts[:-1] if part]
    if len(folders) < _REPEATED or max(Counter(folders).values()) < _REPEATED:
        return ""
    return "/" + "/".join(dict.fromkeys(folders)) + "/.../"
