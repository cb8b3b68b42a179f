"""What a page says and where it leads, in a few bytes: the same for pages that differ only in numbers and dates."""

from __future__ import annotations

import re
from collections.abc import Sequence
from hashlib import blake2b
from itertools import groupby
from urllib.parse import unquote_plus

from selectolax.lexbor import LexborHTMLParser

from webarc.archive.encodings import decoded
from webarc.archive.urls import key_of
from webarc.crawler.calendar_words import CALENDAR_WORDS
from webarc.crawler.limits import origin_of
from webarc.crawler.particulars import Particulars, particulars
from webarc.crawler.tags import is_monstrous
from webarc.crawler.url_patterns import DATE, date_pattern, is_view_of, patterns_of

Fingerprints = tuple[str, str, str]

_LARGEST = 1024 * 1024
_WORD = re.compile(r"[^\W\d_]+")
_ORDINAL = re.compile(r"(\d)(?:st|nd|rd|th)\b")
# Chinese and Japanese write no blanks around the days of the week.
_EAST_ASIAN_DAY = re.compile("[日月火水木金土]曜日?|(?:星期|周|週|礼拜|禮拜)[一二三四五六日天]")
_DATE_IN_LINK = re.compile(r"(?<!\d)(?:19|2\d)\d\d(?:-\d\d(?:-\d\d)?|\d{4})(?:T[\d:]+Z?)?(?![\d-])", re.ASCII)
_UNSEEN = ["script", "style", "template", "noscript"]
_MOST_LINKS = 2_000
_NOTHING = ("", "", "")


def fingerprints(body: bytes, charset: str, url: str, links: Sequence[str] = (), *, html: bool) -> Fingerprints:
    """Of what it says; of the text without words that are in the URL, as error pages repeat it; of the links.

    What it says is the text and, for a page that may be one of many, what else may make it differ from the others. The
    links are those that are not of a pattern with the page itself, wherever they lead, and parts of the page. All three
    are empty for a document without words, or one that is too large to be looked at.
    """
    if len(body) > _LARGEST:
        return _NOTHING
    text, patterns = decoded(body, charset or "utf-8"), patterns_of(url)
    more: list[list[str]] = []
    if html:
        page = text.encode("utf-8", "replace")
        if is_monstrous(page):
            return _NOTHING
        text, more = _read(page, thoroughly=bool(patterns))
    lines = _lines(_without_dates(text))
    if not lines:
        return _NOTHING
    named = set(_words(_without_dates(unquote_plus(key_of(url)))))
    unnamed = [[word for word in line if word not in named] for line in lines]
    return _digest(lines + more), _digest(unnamed), _digest([[link] for link in _leading_out(url, links, patterns)])


def _read(page: bytes, *, thoroughly: bool) -> tuple[str, list[list[str]]]:
    """What a reader sees of a page, and lines of what else may make it differ from others."""
    parser = LexborHTMLParser(page)
    more = _lines_of(particulars(parser)) if thoroughly else []
    parser.strip_tags(_UNSEEN)
    return parser.root.text(separator="\n") if parser.root is not None else "", more


def _lines_of(found: Particulars) -> list[list[str]]:
    shown = {" ".join(_words(_without_dates(text))) for text in found.shown}
    spoken = {word.lower() for word in found.spoken} - CALENDAR_WORDS
    return [[kind, *sorted(these)] for kind, these in (("shown", shown), ("spoken", spoken), ("drawn", found.drawn))]


def _leading_out(url: str, links: Sequence[str], patterns: list[str]) -> list[str]:
    """Where a page leads: from one with a date to others with a date of the same host is but one way."""
    if not patterns or len(links) > _MOST_LINKS:
        return sorted(links)
    origin, mine = f"{origin_of(url)}/", set(patterns)
    is_dated = bool(date_pattern(patterns))
    found = set()
    for link in links:
        if not link.startswith(origin):
            found.add(_elsewhere(link, url, is_dated=is_dated))
        elif not is_view_of(link, url):
            theirs = patterns_of(link)
            if mine.isdisjoint(theirs):
                found.add((is_dated and date_pattern(theirs)) or link)
    return sorted(found)


def _elsewhere(link: str, url: str, *, is_dated: bool) -> str:
    """A link to another host; to share the page there, or to note its date, leads to the same from all pages."""
    place, mark, query = link.partition("?")
    if not mark:
        return link
    said = unquote_plus(unquote_plus(query)).replace(key_of(url)[2:], "")
    if not is_dated:
        return f"{place}?{said}"
    has_name_of_date = not CALENDAR_WORDS.isdisjoint(_WORD.findall(said.lower()))
    return f"{place}?{' '.join(_words(said.lower())) if has_name_of_date else _DATE_IN_LINK.sub(DATE, said)}"


def _lines(text: str) -> list[list[str]]:
    """The words of every line; a line that is repeated, as in the cells of a calendar, counts once."""
    found = (_words(line) for line in text.split("\n"))
    return [line for line, _ in groupby(words for words in found if words)]


def _without_dates(text: str) -> str:
    """A text in small letters, without what tells a day and is not a word of its own."""
    return _EAST_ASIAN_DAY.sub(" ", _ORDINAL.sub(r"\1 ", text.lower()))


def _words(text: str) -> list[str]:
    return [word for word in _WORD.findall(text) if word not in CALENDAR_WORDS]


def _digest(lines: list[list[str]]) -> str:
    text = "\n".join(" ".join(line) for line in lines if line)
    return blake2b(text.encode("utf-8", "replace"), digest_size=8).hexdigest() if text else ""
