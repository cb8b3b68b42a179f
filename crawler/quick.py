"""What plain, well-formed pages say, read with one expression instead of a tree: most pages are such.

Whatever could make a browser see other elements, or the same ones in another order, is odd: a page with anything odd in
it is left to the tree builder. Every tag is looked at, and an odd one ends the search, so time grows with length only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from html import unescape

from webarc.crawler.elements import READERS, Attributes, Findings, Reader, read_anchor, without_fragment
from webarc.crawler.tags import attributes_of

_LONGEST = 8 * 1024 * 1024
_LONGEST_KNOWN = 300
_MOST_KNOWN = 2000
_BLANK = r"[ \t\n\f]"
_END_OF_NAME = r"(?=[ \t\n\f/>])"
_ODD = r"(?s:.*)"
# Follows the page: unless something odd was found before, this is what was found last.
_LAST = '<a href="!">'
# Attributes of any element may name an image.
_NO_IMAGE = r"""(?!background[^a-z0-9:_.-]|style=(?:"[^"(@&]*+[(@&]|'[^'(@&]*+[(@&]))"""
_VALUE = r"""(?:="[^"{odd}]*+"|='[^'{odd}]*+'|=[^ \t\n\f"'<>`(@&]++(?=[ \t\n\f>])|(?=[ \t\n\f/>]))"""
# Where the search goes on at the next `<` there must be none in values; where it goes on after the tag there may be.
_PASSED = rf"{_NO_IMAGE}[a-z][a-z0-9:_.-]*+{_VALUE.format(odd='<')}"
_REST = rf"(?:{_BLANK}++{_PASSED}){{0,60}}{_BLANK}*+/?>"
_REST_AFTER_BLANK = rf"(?:{_PASSED})?{_REST}"
_READ_PAIR = rf"[a-zA-Z][a-zA-Z0-9:_.-]*+{_VALUE.format(odd='')}"
_ATTRIBUTES = rf"""{_END_OF_NAME}(?: [a-z0-9-]++="[^"]*+"){{0,60}}(?:{_BLANK}++{_READ_PAIR}){{0,60}}{_BLANK}*+/?>"""


def _raw(name: str, odd: str = "") -> str:
    """The text of an element in which tags mean nothing; repeats have a limit because each takes memory."""
    end = "".join(f"[{letter}{letter.upper()}]" for letter in name)
    return rf"[^<]*+(?:<(?!/{end}{odd})[^<]*+){{0,2000}}"


_READ = ("area", "audio", "base", "embed", "img", "input", "link", "meta", "object", "source", "track", "video", "a")
# A branch that begins with a letter or a set of them is passed by at once, hence names without their first letter here.
_NAMES = "|".join(f"{name[1:]}(?<=<{name})" for name in ("table", *_READ, "A"))
_UPPER = r"(?:A|BLOCKQUOTE|BR?|CODE|D[DLT]|DIV|EM|H[1-6]|HR|I|LI|OL|P|PRE|SPAN|STRONG|TT|UL?)>"
_NOT_PLAIN = (
    r"(?:feimage|frame|frameset|iframe|image|math|noembed|noframes|plaintext|script|select|style|svg|template|textarea"
    rf"|title|xmp){_END_OF_NAME}"
)
_TEXT = (
    rf"cript(?<=<script){_ATTRIBUTES}{_raw('script', '|!--')}</script>"
    rf"|frame(?<=<iframe){_ATTRIBUTES}{_raw('iframe')}</iframe>"
    rf"""|tyle(?<=<style)(?: (?:id|media|type)="[^">]*+"){{0,3}}>{_raw("style")}</style>"""
    rf"|itle(?<=<title)>{_raw('title')}</title>"
)
# Every group costs time at each tag, hence only two: the reference of a simple anchor, and any other tag to be read.
_BRANCHES = (
    r'a (?:href="|[ac-gi-qt-z][a-z0-9-]*+="[^"]*+" href=")([^"]++)"(?:>| [ac-qt-z][a-z0-9-]*+="[^"]*+">'
    rf'|(?:{_BLANK}++[ac-qt-z][a-z0-9:_.-]*+="[^"]*+"){{0,30}}{_BLANK}*+>)',
    rf"/[a-z0-9-]*+[^a-z0-9>-](?<!/(?={_UPPER}).){_ODD}",
    rf"[Aabeilmostv]((?:{_NAMES}){_ATTRIBUTES}|{_TEXT})",
    r"!(?:--(?!-?>)[^-]*+(?:-(?!-!?>)[^-]*+){0,2000}-->|[dD][oO][cC][tT][yY][pP][eE][^<>]*+>)",
    r"\?[^<>]*+>",
    rf"select{_END_OF_NAME}{_REST}[^<]*+(?:</?opt(?:ion|group){_END_OF_NAME}{_REST}[^<]*+){{0,2000}}</select>",
    rf"textarea{_END_OF_NAME}{_REST}{_raw('textarea')}</textarea>",
    rf'[a-z][a-z0-9-]*+(?: (?![ac-z][a-z0-9-]*+="[ !#-%*-;=?A-~]*+">|{_REST_AFTER_BLANK})'
    rf"|[^ >a-z0-9-](?!(?<=/)>|(?<=[\t\n\f]){_REST_AFTER_BLANK})){_ODD}",
    rf"[fimnpstx][acefilmortv](?<=(?={_NOT_PLAIN})..){_ODD}",
    rf"[A-Z!?](?<=(?!{_UPPER}).){_ODD}",
)
_TAG = re.compile(rf"<(?:{'|'.join(_BRANCHES)})")
_START = re.compile(rf"([a-z]*+)({_ATTRIBUTES})")
_PART = r"(?:table|t[dhr]|tbody|thead|tfoot|caption|col|colgroup)"
# What is neither in a cell nor in a caption goes before the whole table.
_LOOSE = re.compile(
    rf"<(?:table|/?t(?:r|body|head|foot)|/(?:t[dh]|caption)|/?col(?:group)?){_END_OF_NAME}"
    rf"(?![^<]*+</?{_PART}{_END_OF_NAME})"
)
# The references that are read alike everywhere: no controls, no surrogates, nothing that is no character.
_NUMBER = r"3[2-9]|[4-9][0-9]|1[01][0-9]|12[0-6]|1[6-9][0-9]|[2-9][0-9]{2}|[1-9][0-9]{3}|12[0-9]{4}"
_HEX = r"[2-6a-fA-F]X|7[0-9a-eA-E]|[1-9a-fA-F]XX|[1-9a-cA-C]XXX|1[fF][0-9a-eA-E]XX".replace("X", "[0-9a-fA-F]")
_ODD_NUMBER = re.compile(rf"&#(?!(?:{_NUMBER}|[xX](?:{_HEX}));)")


class _Odd(Exception):
    """Something that a tree builder should read."""


def read_quickly(text: str, found: Findings) -> bool:
    """Read a page if that can be done without a tree; otherwise what was found is not to be used."""
    if len(text) > _LONGEST or "\0" in text:
        return False
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    tags = _TAG.findall(text + _LAST)
    if tags.pop()[0] != "!":
        return False
    try:
        return not _read(dict.fromkeys(tags), found) or _LOOSE.search(text) is None
    except _Odd:
        return False


def _read(tags: Iterable[tuple[str, str]], found: Findings) -> bool:
    """Take in what the tags say, each but once; returns whether there are tables."""
    links, styles, tables = found.links, [], False
    for href, tag in tags:
        if href:
            if "&" in href:
                read_anchor(found, _attributes(f'href="{href}"'))
            elif "#" not in href:
                links[href] = False
            elif href[0] != "#":
                links[without_fragment(href)] = False
        elif tag.startswith("itle"):
            if found.title is None:
                found.title = unescape(_checked(tag[len("itle>") : -len("</title>")]))
        elif tag.startswith("tyle"):
            styles.append(tag[tag.index(">") + 1 : -len("</style>")])
        elif tag and (not tag.startswith("eta") or _may_matter(tag, found.agent)):
            reader, attributes = _element(tag) if len(tag) <= _LONGEST_KNOWN else _element_of(tag)
            reader(found, attributes)
            tables |= reader is _read_table
    for style in styles:
        found.style(style)
    return tables


def _may_matter(meta: str, agent: str) -> bool:
    """Most meta elements are about something else."""
    lower = meta.lower()
    if "http-equiv" in lower or "robots" in lower or agent in lower:
        return True
    return "&" in lower or "style" in lower or "background" in lower


def _element_of(tag: str) -> tuple[Reader, Attributes]:
    start = _START.match(tag)
    if start is None:
        raise _Odd
    return _READERS[start[1]], _attributes(start[2])


_element = lru_cache(maxsize=_MOST_KNOWN)(_element_of)


def _attributes(written: str) -> Attributes:
    attributes = attributes_of(_checked(written).encode())
    style = attributes.get("style")
    if "background" in attributes or (style and ("(" in style or "@" in style)):
        raise _Odd
    return attributes


def _checked(written: str) -> str:
    if "&#" in written and _ODD_NUMBER.search(written):
        raise _Odd
    return written


def _read_table(_: Findings, attributes: Attributes) -> None:
    """What looks like a part of a table in a value would hide that none follows."""
    if any("<" in (value or "") for value in attributes.values()):
        raise _Odd


_READERS: dict[str, Reader] = {
    "able": _read_table,
    **{name[1:]: READERS[name] for name in (*_READ, "iframe", "script")},
}
