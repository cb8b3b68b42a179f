"""What a page says, in a few bytes: the same for pages that differ only in numbers and in names of months and days."""

from __future__ import annotations

import re
from hashlib import blake2b
from itertools import groupby
from urllib.parse import unquote_plus

from selectolax.lexbor import LexborHTMLParser

from webarc.archive.urls import key_of
from webarc.crawler.calendar_words import CALENDAR_WORDS
from webarc.crawler.charset import decoded
from webarc.crawler.tags import is_monstrous

Fingerprints = tuple[str, str]

_LARGEST = 1024 * 1024
_WORD = re.compile(r"[^\W\d_]+")
_ORDINAL = re.compile(r"(\d)(?:st|nd|rd|th)\b")
# Chinese and Japanese write no blanks around the days of the week.
_EAST_ASIAN_DAY = re.compile("[日月火水木金土]曜日?|(?:星期|周|週|礼拜|禮拜)[一二三四五六日天]")
_UNSEEN = ["script", "style", "template", "noscript"]
_NAMELESS = ("", "")


def fingerprints(body: bytes, charset: str, url: str, *, html: bool) -> Fingerprints:
    """Two of them: of the text, and of the text without words that are in the URL, as error pages repeat it.

    Both are empty for a document without words, or one that is too large to be looked at.
    """
    if len(body) > _LARGEST:
        return _NAMELESS
    text = decoded(body, charset or "utf-8")
    if html:
        page = text.encode("utf-8", "replace")
        if is_monstrous(page):
            return _NAMELESS
        text = _visible(page)
    lines = _lines(text)
    named = set(_words(unquote_plus(key_of(url))))
    return _digest(lines), _digest([[word for word in line if word not in named] for line in lines])


def _visible(page: bytes) -> str:
    parser = LexborHTMLParser(page)
    parser.strip_tags(_UNSEEN)
    return parser.root.text(separator="\n") if parser.root is not None else ""


def _lines(text: str) -> list[list[str]]:
    """The words of every line; a line that is repeated, as in the cells of a calendar, counts once."""
    found = (_words(line) for line in text.split("\n"))
    return [line for line, _ in groupby(words for words in found if words)]


def _words(text: str) -> list[str]:
    text = _EAST_ASIAN_DAY.sub(" ", _ORDINAL.sub(r"\1 ", text.lower()))
    return [word for word in _WORD.findall(text) if word not in CALENDAR_WORDS]


def _digest(lines: list[list[str]]) -> str:
    text = "\n".join(" ".join(line) for line in lines if line)
    return blake2b(text.encode("utf-8", "replace"), digest_size=8).hexdigest() if text else ""
