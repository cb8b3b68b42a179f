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
from webarc.crawler.tags import is_monstrous
from webarc.crawler.url_patterns import is_view_of, patterns_of

Fingerprints = tuple[str, str, str]

_LARGEST = 1024 * 1024
_WORD = re.compile(r"[^\W\d_]+")
_ORDINAL = re.compile(r"(\d)(?:st|nd|rd|th)\b")
# Chinese and Japanese write no blanks around the days of the week.
_EAST_ASIAN_DAY = re.compile("[日月火水木金土]曜日?|(?:星期|周|週|礼拜|禮拜)[一二三四五六日天]")
_UNSEEN = ["script", "style", "template", "noscript"]
_MOST_LINKS = 2_000
_NOTHING = ("", "", "")


def fingerprints(body: bytes, charset: str, url: str, links: Sequence[str] = (), *, html: bool) -> Fingerprints:
    """Of the text; of the text without words that are in the URL, as error pages repeat it; of the links.

    The links are those to the same host that are not of a pattern with the page itself. All three are empty for a
    document without words, or one that is too large to be looked at.
    """
    if len(body) > _LARGEST:
        return _NOTHING
    text = decoded(body, charset or "utf-8")
    if html:
        page = text.encode("utf-8", "replace")
        if is_monstrous(page):
            return _NOTHING
        text = _visible(page)
    lines = _lines(_without_dates(text))
    named = set(_words(_without_dates(unquote_plus(key_of(url)))))
    said = _digest(lines)
    if not said:
        return _NOTHING
    unnamed = [[word for word in line if word not in named] for line in lines]
    return said, _digest(unnamed), _digest([[link] for link in _leading_out(url, links)])


def _visible(page: bytes) -> str:
    parser = LexborHTMLParser(page)
    parser.strip_tags(_UNSEEN)
    return parser.root.text(separator="\n") if parser.root is not None else ""


def _leading_out(url: str, links: Sequence[str]) -> list[str]:
    origin, patterns = f"{origin_of(url)}/", set(patterns_of(url))
    if not patterns or len(links) > _MOST_LINKS:
        return sorted(links)
    mine = {link for link in links if link.startswith(origin) and not is_view_of(link, url)}
    return sorted(link for link in mine if patterns.isdisjoint(patterns_of(link)))


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
