"""Patterns that a URL could be one of many of: those of counters, calendars and paths that lead into themselves."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache

from webarc.crawler.calendar_words import CALENDAR_WORDS

DATE, GROWTH = "{date}", "/.../"
_MOST_PARAMETERS = 12
_LONGEST_DATE = 3
# So often no honest path repeats one of its parts, numbers apart, and so deep is hardly one.
_REPEATED = 5
_DEEP = 12
# Most links of a page lead to a few folders.
_MOST_FOLDERS = 1_024
_DIGITS = re.compile(r"[0-9]+")
_NAMES_OF_DATES = """
y m d w yr yy yyyy mon mm dd wk year month day week date jahr monat tag woche datum annee mois jour semaine anno mese
giorno ano mes dia semana jaar maand dag
"""
_DATE_NAMES = frozenset(_NAMES_OF_DATES.split())
_DATE_NAME_ENDING = re.compile(r"(?:year|month|week|day|date)$")
_LETTERS = re.compile(r"[a-z]+")
_VIEWS = frozenset(("year", "month", "week", "day", "agenda", "jahr", "monat", "woche", "tag"))
_MAY_HAVE_DATE = re.compile(r"/(?:[0-9]{3,6}(?=[/-]|$)|(?:19|2[0-9])[0-9]{6}(?=[./]|$))")
_YEAR = re.compile(r"[0-9]{3,6}", re.ASCII)
_LIKELY_YEAR = re.compile(r"(?:19|20|21)[0-9]{2}", re.ASCII)
_NUMBER = re.compile(r"[0-9]{1,6}", re.ASCII)
_WHOLE_DATE = re.compile(r"(?:[0-9]{3,6}-[0-9]{1,2}(?:-[0-9]{1,2})?|(?:19|2[0-9])[0-9]{6})(\.[a-z]{1,5})?", re.ASCII)
_YEAR_IN_PATH = re.compile(r"/([12][0-9]{3}|[0-9]{5,6})(?=[/.-]|$)")
_YEAR_IN_QUERY = re.compile(
    r"(?:^|&)(?:[^=&]*year|yyyy|yr|y|jahr|annee|anno|ano|jaar)=([0-9]{3,6})(?=&|$)|=([0-9]{3,6})-[0-9]", re.IGNORECASE
)


def patterns_of(url: str) -> list[str]:
    """The patterns of a canonical URL: one value of the query is `*`, or a date `{date}`, or a path that grows `/.../`.

    Pages for a year, a month and a day belong together. A number in the path alone is no pattern: so are the pages of
    most honest sites.
    """
    start = url.index("/", url.index("//") + 2)
    host, (path, mark, query) = url[:start], url[start:].partition("?")
    found = [f"{host}{path}?{varied}" for varied in _varied(query)] if query else []
    dated = _without_date(path.split("/")) if _MAY_HAVE_DATE.search(path) else ""
    if dated:
        found.append(f"{host}{dated}{mark}{query}")
    grown = _grown(path[: path.rindex("/")]) if path.count("/") > _REPEATED else ""
    if grown:
        found.append(f"{host}{grown}")
    return found


def those_with_patterns(urls: Iterable[str]) -> Iterator[str]:
    """Of many URLs those that may have a pattern; neighbors on a page mostly lie in one folder."""
    last, plain = "", False
    for url in urls:
        if "?" in url:
            yield url
            continue
        folder, _, _ = url.rpartition("/")
        if folder != last:
            last, plain = folder, _is_plain(folder)
        if not plain or _MAY_HAVE_DATE.search(url, len(folder)):
            yield url


def year_of(url: str) -> int | None:
    """The year in a canonical URL with a date, if it can be made out."""
    path, _, query = url[url.index("/", url.index("//") + 2) :].partition("?")
    found = _YEAR_IN_PATH.search(path) or _YEAR_IN_QUERY.search(query)
    return int(found[found.lastindex or 0]) if found else None


def is_view_of(url: str, page: str) -> bool:
    """Whether a URL is a page's own with something added to the query, as to print or to save it."""
    return url.startswith(f"{page}&" if "?" in page else f"{page}?")


def _varied(query: str) -> Iterator[str]:
    """The query with each of its values left open in turn, and without all that tells a date."""
    pieces = query.split("&")
    if len(pieces) > _MOST_PARAMETERS:
        yield GROWTH
        return
    undated = []
    for place, piece in enumerate(pieces):
        name, equals, value = piece.partition("=")
        if _tells_date(name.lower(), value):
            continue
        undated.append(piece)
        if value or (name and not equals):
            yield "&".join([*pieces[:place], f"{name}=*" if equals else "*", *pieces[place + 1 :]])
    if len(undated) < len(pieces):
        yield "&".join([*undated, DATE])


def _tells_date(name: str, value: str) -> bool:
    if value.lower() in _VIEWS:
        return True
    return _DATE_NAME_ENDING.search(name) is not None or not _DATE_NAMES.isdisjoint(_LETTERS.findall(name))


def _without_date(parts: list[str]) -> str:
    """The path with the first date in it left open: `2031-04-17`, or a year and perhaps a month and a day beside it."""
    for place in range(1, len(parts)):
        whole = _WHOLE_DATE.fullmatch(parts[place])
        if whole:
            return "/".join([*parts[:place], f"{DATE}{whole[1] or ''}", *parts[place + 1 :]])
        end = place
        while end < len(parts) and end - place < _LONGEST_DATE and _is_date_part(parts[end]):
            end += 1
        if _has_year(parts[place:end]):
            return "/".join([*parts[:place], DATE, *parts[end:]])
    return ""


def _is_date_part(part: str) -> bool:
    return _NUMBER.fullmatch(part) is not None or part.lower() in CALENDAR_WORDS


def _has_year(parts: list[str]) -> bool:
    if len(parts) == 1:
        return _LIKELY_YEAR.fullmatch(parts[0]) is not None
    return any(_YEAR.fullmatch(part) for part in parts)


@lru_cache(maxsize=_MOST_FOLDERS)
def _is_plain(folder: str) -> bool:
    """Whether nothing in a folder's URL is part of a pattern."""
    start = folder.find("/", folder.index("//") + 2)
    return start < 0 or not (_MAY_HAVE_DATE.search(folder, start) or _grown(folder[start:]))


@lru_cache(maxsize=_MOST_FOLDERS)
def _grown(folder: str) -> str:
    """The folders of a path that repeats some of them many times, each once; of a very deep one, the first."""
    parts = [part for part in _DIGITS.sub("#", folder).split("/") if part]
    if len(parts) >= _REPEATED and max(Counter(parts).values()) >= _REPEATED:
        return "/" + "/".join(dict.fromkeys(parts)) + GROWTH
    return f"/{parts[0]}{GROWTH}" if len(parts) >= _DEEP else ""
