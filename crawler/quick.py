"""What plain, well-formed pages say, read with one expression instead of a tree: most pages are such.

Whatever could make a browser see other elements, or the same ones in another order, is odd: a page with anything odd in
it is left to the tree builder. Every tag is looked at, and an odd one ends the search, so time grows with length only.

The expression is PCRE's, which makes machine code of it: a substitution turns the whole page, as UTF-8, into a list of
what is to be read in one call, in a third of the time that Python's own expressions take.
"""

from __future__ import annotations

import re
from functools import lru_cache
from html import unescape

import pcre2

from webarc.crawler.elements import READERS, Attributes, Findings, Reader
from webarc.crawler.tags import attributes_of

_LONGEST = 8 * 1024 * 1024
_LONGEST_KNOWN = 300
_MOST_KNOWN = 2000
_BLANK = r"[ \t\n\f]"
_END_OF_NAME = r"(?=[ \t\n\f/>])"
_ODD = r"(?s:.*+)"
# Follows the page: unless something odd was found before, this is what was found last.
_LAST = b'<a href="!">'
# Stands behind everything that was found; a page that contains it is odd.
_MARK = "\1"
# Attributes of any element may name an image.
_NO_IMAGE = r"""(?!background[^a-z0-9:_.-]|style=(?:"[^"(@&]*+[(@&]|'[^'(@&]*+[(@&]))"""
_VALUE = r"""(?:="[^"{odd}]*+"|='[^'{odd}]*+'|=[^ \t\n\f"'<>`(@&]++(?=[ \t\n\f>])|(?=[ \t\n\f/>]))"""
# Where the search goes on at the next `<` there must be none in values; where it goes on after the tag there may be.
_PASSED = rf"{_NO_IMAGE}[a-z][a-z0-9:_.-]*+{_VALUE.format(odd='<')}"
_REST = rf"(?:{_BLANK}++{_PASSED})*+{_BLANK}*+/?>"
_REST_AFTER_BLANK = rf"(?:{_PASSED})?{_REST}"
_READ_PAIR = rf"[a-zA-Z][a-zA-Z0-9:_.-]*+{_VALUE.format(odd='')}"
_ATTRIBUTES = rf"""{_END_OF_NAME}(?: [a-z0-9-]++="[^"]*+")*+(?:{_BLANK}++{_READ_PAIR})*+{_BLANK}*+/?>"""


def _raw(name: str, odd: str = "") -> str:
    """The text of an element in which tags mean nothing."""
    end = "".join(f"[{letter}{letter.upper()}]" for letter in name)
    return rf"[^<]*+(?:<(?!/{end}{odd})[^<]*+)*+"


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
    rf"""|tyle(?<=<style)(?: (?:id|media|type)="[^">]*+")*+>{_raw("style")}</style>"""
    rf"|itle(?<=<title)>{_raw('title')}</title>"
)
# Every group costs time at each tag, hence only two: the reference of a simple anchor, and any other tag to be read.
_BRANCHES = (
    r'a (?:href="|[ac-gi-qt-z][a-z0-9-]*+="[^"]*+" href=")(?:#[^"]*+|([^"#&<][^"#&]*+)(?:(?<=[!-~])#[^"]*+)?+)"'
    r'(?:>| [ac-qt-z][a-z0-9-]*+="[^"]*+">'
    rf'|(?:{_BLANK}++[ac-qt-z][a-z0-9:_.-]*+="[^"]*+")*+{_BLANK}*+>)',
    rf"/[a-z0-9-]*+[^a-z0-9>-](?<!/(?={_UPPER}).){_ODD}",
    rf"[Aabeilmostv]((?:{_NAMES}){_ATTRIBUTES}|{_TEXT})",
    r"!(?:--(?!-?>)[^-]*+(?:-(?!-!?>)[^-]*+)*+-->|[dD][oO][cC][tT][yY][pP][eE][^<>]*+>)",
    r"\?[^<>]*+>",
    rf"select{_END_OF_NAME}{_REST}[^<]*+(?:</?opt(?:ion|group){_END_OF_NAME}{_REST}[^<]*+)*+</select>",
    rf"textarea{_END_OF_NAME}{_REST}{_raw('textarea')}</textarea>",
    rf'[a-z][a-z0-9-]*+(?: (?![ac-z][a-z0-9-]*+="[ !#-%*-;=?A-~]*+">|{_REST_AFTER_BLANK})'
    rf"|[^ >a-z0-9-](?!(?<=/)>|(?<=[\t\n\f]){_REST_AFTER_BLANK})){_ODD}",
    rf"[fimnpstx][acefilmortv](?<=(?={_NOT_PLAIN})..){_ODD}",
    rf"[A-Z!?](?<=(?!{_UPPER}).){_ODD}",
)
# The first branch that fits takes the text before it along: what is put in its place is all that is left of the page.
_TAGS = pcre2.compile(rf"(?:[^<]*+<(?:(?:{'|'.join(_BRANCHES)})(*ACCEPT)|))*+(*FAIL)".encode())
_FOUND = f"${{2:+<$2:$1}}{_MARK}".encode()
_START = pcre2.compile(rf"<([a-z]*+)({_ATTRIBUTES})".encode())
_PART = r"(?:table|t[dhr]|tbody|thead|tfoot|caption|col|colgroup)"
# What is neither in a cell nor in a caption goes before the whole table.
_LOOSE = re.compile(
    rf"<(?:table|/?t(?:r|body|head|foot)|/(?:t[dh]|caption)|/?col(?:group)?){_END_OF_NAME}"
    rf"(?![^<]*+</?{_PART}{_END_OF_NAME})".encode()
)
# The references that are read alike everywhere: no controls, no surrogates, nothing that is no character.
_NUMBER = r"3[2-9]|[4-9][0-9]|1[01][0-9]|12[0-6]|1[6-9][0-9]|[2-9][0-9]{2}|[1-9][0-9]{3}|12[0-9]{4}"
_HEX = r"[2-6a-fA-F]X|7[0-9a-eA-E]|[1-9a-fA-F]XX|[1-9a-cA-C]XXX|1[fF][0-9a-eA-E]XX".replace("X", "[0-9a-fA-F]")
_ODD_NUMBER = re.compile(rf"&#(?!(?:{_NUMBER}|[xX](?:{_HEX}));)")
# The names of what other sites show of a page.
_SHOWN = re.compile(r"(?:og:(?:image|video|audio)(?::(?:secure_)?url)?|twitter:image(?::src)?)[\s\"'/>]")


class _Odd(Exception):
    """Something that a tree builder should read."""


def read_quickly(page: bytes, found: Findings) -> bool:
    """Read a UTF-8 page if that can be done without a tree; otherwise what was found is not to be used."""
    if len(page) > _LONGEST or b"\0" in page or _MARK.encode() in page:
        return False
    if b"\r" in page:
        page = page.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    try:
        tags = _TAGS.sub(_FOUND, page + _LAST).decode("utf-8", "replace").split(_MARK)
    except pcre2.LibraryError:
        return False
    if tags.pop() or tags.pop() != "!":
        return False
    try:
        return not _read(dict.fromkeys(tags, False), found) or _LOOSE.search(page) is None
    except _Odd:
        return False


def _read(tags: dict[str, bool], found: Findings) -> bool:
    """Take in what the tags say, each but once; returns whether there are tables."""
    links, styles, tables = found.links, [], False
    for tag in tags:
        if tag[:1] != "<":
            links[tag] = False
        elif tag.startswith("<itle"):
            if found.title is None:
                found.title = unescape(_checked(tag[len("<itle>") : -len("</title>")]))
        elif tag.startswith("<tyle"):
            styles.append(tag[tag.index(">") + 1 : -len("</style>")])
        elif not tag.startswith("<eta") or _may_matter(tag, found.agent):
            reader, attributes = _element(tag) if len(tag) <= _LONGEST_KNOWN else _element_of(tag)
            reader(found, attributes)
            tables |= reader is _read_table
    # Tags of which nothing is to be said leave nothing behind.
    links.pop("", None)
    for style in styles:
        found.style(style)
    return tables


def _may_matter(meta: str, agent: str) -> bool:
    """Most meta elements are about something else."""
    lower = meta.lower()
    if "http-equiv" in lower or "robots" in lower or agent in lower:
        return True
    if ("og:" in lower or "twitter:" in lower) and _SHOWN.search(lower):
        return True
    return "&" in lower or "style" in lower or "background" in lower


def _element_of(tag: str) -> tuple[Reader, Attributes]:
    start = _START.match(tag.encode())
    if start is None:
        raise _Odd
    return _READERS[start[1].decode()], _attributes(start[2].decode())


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
