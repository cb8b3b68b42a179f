"""Patterns that a URL could be one of many of: those of counters, calendars and paths that lead into themselves."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache

from webarc.crawler.calendar_words import CALENDAR_WORDS

DATE, VIEW, GROWTH = "{date}", "{view}", "/.../"
_MOST_PARAMETERS = 12
_LONGEST_DATE = 3
# So many folders a path has at least that has one of them twice.
_FEWEST_FOLDERS = 2
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
# What only beside a date is a word for how it is shown.
_NAMES_OF_VIEWS = """
years months weeks days yearly monthly weekly daily list map photo summary grid liste annee mois
semaine jour anno mese settimana giorno ano mes semana dia jaar maand dag
"""
_VIEWS_OF_DATE = _VIEWS.union(_NAMES_OF_VIEWS.split())
_MAY_HAVE_DATE = re.compile(r"/(?:[0-9]{3,6}(?=[/-]|$)|(?:19|2[0-9])[0-9]{6}(?=[./]|$))")
_YEAR = re.compile(r"[0-9]{3,6}", re.ASCII)
_LIKELY_YEAR = re.compile(r"(?:19|20|21)[0-9]{2}", re.ASCII)
_NUMBER = re.compile(r"[0-9]{1,6}", re.ASCII)
_WHOLE_DATE = re.compile(
    r"(?:[0-9]{3,6}-(?:[0-9]{1,2}(?:-[0-9]{1,2})?|[wW][0-9]{1,2})|(?:19|2[0-9])[0-9]{6})(\.[a-z]{1,5})?", re.ASCII
)
_MONTH_AND_DAY = "(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01])"
# A value that is a date whatever its parameter is called, perhaps with a time of day.
_DATE_VALUE = re.compile(
    rf"(?:1[5-9]|2[0-9])[0-9]{{2}}(?:-(?:0?[1-9]|1[0-2])(?:-[0-3]?[0-9])?|-?W[0-5]?[0-9]|{_MONTH_AND_DAY})(?:[T+].*)?",
    re.IGNORECASE | re.ASCII,
)
_YEAR_IN_PATH = re.compile(r"/(?:([12][0-9]{3}|[0-9]{5,6})(?=[/.-]|$)|((?:19|2[0-9])[0-9]{2})[0-9]{4}(?=[./]|$))")
_YEAR_IN_QUERY = re.compile(
    r"(?:^|&)(?:[^=&]*year|yyyy|yr|y|jahr|annee|anno|ano|jaar)=([0-9]{3,6})(?=&|$)"
    rf"|=([0-9]{{3,6}})-W?[0-9]|=((?:19|2[0-9])[0-9]{{2}}){_MONTH_AND_DAY}(?=[&T]|$)"
    r"|=[0-9]{1,2}(?:[./-]|%2F)[0-9]{1,2}(?:[./-]|%2F)([0-9]{4})(?=&|$)",
    re.IGNORECASE,
)


def patterns_of(url: str) -> list[str]:
    """The patterns of a canonical URL: one value of the query is `*`, or all that tells a date is `{date}`.

    Pages for a year, a month and a day belong together. A path that repeats some of its parts has the pattern `/.../`
    of its host. A number in the path alone is no pattern: so are the pages of most honest sites.
    """
    start = url.index("/", url.index("//") + 2)
    host, (path, mark, query) = url[:start], url[start:].partition("?")
    varied, undated = _varied(query) if query else ([], "")
    found = [f"{host}{path}?{each}" for each in varied]
    dated = _without_date(path.split("/")) if _MAY_HAVE_DATE.search(path) else ""
    if dated or undated != query:
        found.append(f"{host}{dated or _without_view(path)}{mark}{undated}")
    if path.count("/") > _FEWEST_FOLDERS:
        found += [f"{host}{grown}" for grown in _grown(path[: path.rindex("/")])]
    return found


def date_pattern(patterns: Iterable[str]) -> str:
    """The one among the patterns of a URL that leaves its date open."""
    return next((pattern for pattern in patterns if DATE in pattern), "")


def is_loop(pattern: str) -> bool:
    """Whether a pattern is that of all paths of a host that repeat some of their parts."""
    return pattern.endswith(GROWTH) and pattern.index("/", pattern.index("//") + 2) == len(pattern) - len(GROWTH)


def folders_of(url: str) -> list[str]:
    """The folders in the path of a canonical URL, numbers apart."""
    path = url[url.index("/", url.index("//") + 2) :].partition("?")[0]
    return [part for part in _DIGITS.sub("#", path[: path.rindex("/")]).split("/") if part]


def repetitions(url: str) -> int:
    """How many folders of a canonical URL repeat one before them; numbers do not count."""
    path = url[url.index("/", url.index("//") + 2) :].partition("?")[0]
    return _repeated(path[: path.rindex("/")])


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


def _varied(query: str) -> tuple[list[str], str]:
    """The query with each of its values left open in turn, and without all that tells a date."""
    pieces = query.split("&")
    if len(pieces) > _MOST_PARAMETERS:
        return [GROWTH], query
    undated, varied = [], []
    for place, piece in enumerate(pieces):
        name, equals, value = piece.partition("=")
        if _tells_date(name.lower(), value):
            continue
        undated.append(piece)
        if value or (name and not equals):
            varied.append("&".join([*pieces[:place], f"{name}=*" if equals else "*", *pieces[place + 1 :]]))
    if len(undated) == len(pieces):
        return varied, query
    undated = [piece for piece in undated if piece.partition("=")[2].lower() not in _VIEWS_OF_DATE]
    return varied, "&".join([*undated, DATE])


def _tells_date(name: str, value: str) -> bool:
    if value.lower() in _VIEWS or _DATE_VALUE.fullmatch(value):
        return True
    return _DATE_NAME_ENDING.search(name) is not None or not _DATE_NAMES.isdisjoint(_LETTERS.findall(name))


def _without_date(parts: list[str]) -> str:
    """The path with the first date in it left open: `2031-04-17`, or a year and perhaps a month and a day beside it."""
    for place in range(1, len(parts)):
        whole = _WHOLE_DATE.fullmatch(parts[place])
        if whole:
            return _joined(parts[:place], f"{DATE}{whole[1] or ''}", parts[place + 1 :])
        end = place
        while end < len(parts) and end - place < _LONGEST_DATE and _is_date_part(parts[end]):
            end += 1
        if _has_year(parts[place:end]):
            return _joined(parts[:place], DATE, parts[end:])
    return ""


def _joined(before: list[str], date: str, after: list[str]) -> str:
    """A path with a date; a word beside the date that says how it is shown, such as `month`, is left out."""
    if before[-1].lower() in _VIEWS_OF_DATE:
        before = before[:-1]
    if after and after[0].lower() in _VIEWS_OF_DATE:
        after = after[1:]
    return "/".join([*before, date, *after])


def _without_view(path: str) -> str:
    """A path whose date is in the query, with a word at its end that says how it is shown left open."""
    folder, _, name = path.rstrip("/").rpartition("/")
    word, dot, ending = name.partition(".")
    return (
        f"{folder}/{VIEW}{dot}{ending}{path[len(folder) + 1 + len(name) :]}" if word.lower() in _VIEWS_OF_DATE else path
    )


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
def _grown(folder: str) -> list[str]:
    """The patterns of a path that repeats some of its parts, or that is very deep."""
    found = [GROWTH] if _repeated(folder) else []
    if folder.count("/") < _REPEATED:
        return found
    parts = [part for part in _DIGITS.sub("#", folder).split("/") if part]
    if parts and not found and max(Counter(parts).values()) >= _REPEATED:
        found.append("/" + "/".join(dict.fromkeys(parts)) + GROWTH)
    if len(parts) >= _DEEP:
        found.append(f"/{parts[0]}{GROWTH}")
    return found


def _repeated(folder: str) -> int:
    parts = folder.split("/")
    if len(set(parts)) == len(parts):
        return 0
    parts = [part for part in parts if part and not part.isdigit()]
    return len(parts) - len(set(parts))
