"""The tags of a page, with the place of every attribute, in time that grows with its length only.

This is the tokenizer of HTML: comments, raw text, quotes and an unfinished last tag are read as browsers read them, in
XML as XML has them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from webarc.crawler.tags import end_of_script

_BLANK = r" \t\n\f\r"
_NEXT = re.compile(rf"<(?:!--|!\[CDATA\[|[!?]|(/?)([a-zA-Z][^{_BLANK}/>]*+)|/)")
_ATTRIBUTE = re.compile(
    rf"""[{_BLANK}/]*+([^{_BLANK}/>][^{_BLANK}/>=]*+)"""
    rf"""(?:[{_BLANK}]*+=[{_BLANK}]*+(?:"([^"]*+)("?)|'([^']*+)('?)|([^{_BLANK}>"'][^{_BLANK}>]*+)|(?=>)))?"""
)
_END_OF_TAG = re.compile(rf"[{_BLANK}/]*+>")
_RAW = ("script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes")
_RAW_IN_XML = ("script", "style")
_FOREIGN = ("svg", "math")
_RAW_END = {name: re.compile(rf"</{name}(?=[{_BLANK}/>])", re.IGNORECASE) for name in _RAW}
_END_OF_COMMENT = {False: re.compile(r"--!?>"), True: re.compile("-->")}
_SCRIPT = re.compile(rf"(<!--)|(-->)|<(/?)script(?=[{_BLANK}/>])", re.IGNORECASE)


class Attribute(NamedTuple):
    """The places of an attribute and of its value without the quotes, which are `quote`."""

    start: int
    end: int
    value_start: int
    value_end: int
    quote: str


class Tag(NamedTuple):
    """A start tag, the place behind it, the end of the raw text there, and whether it is in a template."""

    name: str
    attributes: dict[str, Attribute]
    end: int
    text_end: int
    is_inert: bool


def tags(text: str, xml: bool = False) -> Iterator[Tag]:
    """The start tags of a page; of attributes of one name the first counts."""
    position, foreign, templates = 0, int(xml), 0
    while found := _NEXT.search(text, position):
        slash, name = found.groups()
        if name is None:
            position = _skipped(text, found, xml, foreign > 0)
            continue
        name = name.lower()
        attributes, end = _attributes(text, found.end())
        if end < 0:
            return
        position = end
        if name in _FOREIGN and not xml and text[end - 2] != "/":
            foreign = max(0, foreign + (-1 if slash else 1))
        if name == "template" and (text[end - 2] != "/" if xml else not foreign or slash):
            templates = max(0, templates + (-1 if slash else 1))
        if slash:
            continue
        if name == "plaintext" and not foreign:
            return
        if name in (_RAW_IN_XML if foreign else _RAW) and not (foreign and text[end - 2] == "/"):
            position = _end_of_raw(name, text, end)
        yield Tag(name, attributes, end, position, templates > 0)


def _attributes(text: str, position: int) -> tuple[dict[str, Attribute], int]:
    """The attributes of a tag and the place behind it, which is negative if the text ends before."""
    found: dict[str, Attribute] = {}
    while not (end := _END_OF_TAG.match(text, position)):
        match = _ATTRIBUTE.match(text, position)
        if match is None or match[3] == "" or match[5] == "":
            return found, -1
        position = match.end()
        name = match[1].lower()
        if name not in found:
            found[name] = _attribute(match)
    return found, end.end()


def _attribute(match: re.Match[str]) -> Attribute:
    group, quote = (2, '"') if match[2] is not None else (4, "'") if match[4] is not None else (6, "")
    start, end = match.span(group) if match[group] is not None else (match.end(), match.end())
    return Attribute(match.start(1), match.end(), start, end, quote)


def _skipped(text: str, found: re.Match[str], xml: bool, foreign: bool) -> int:
    """The place behind a comment, a declaration or what browsers take for one."""
    opening, start = found.group(), found.end()
    if opening == "<!--":
        return _end_of_comment(text, start, xml)
    last = "]]>" if opening == "<![CDATA[" and foreign else ">"
    end = text.find(last, start)
    return end + len(last) if end >= 0 else len(text)


def _end_of_comment(text: str, start: int, xml: bool) -> int:
    if not xml and text.startswith((">", "->"), start):
        return text.index(">", start) + 1
    found = _END_OF_COMMENT[xml].search(text, start)
    return found.end() if found else len(text)


def _end_of_raw(name: str, text: str, start: int) -> int:
    """Where the text ends of an element in which nothing but its own end tag is a tag."""
    if name == "script":
        return end_of_script(_SCRIPT, text, start)
    found = _RAW_END[name].search(text, start)
    return found.start() if found else len(text)
