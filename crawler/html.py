"""What an HTML page says: its title, the URLs it names and whether they may be followed."""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple, cast
from urllib.parse import quote

from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser, LexborNode, create_tag

from webarc.archive.encodings import bytes_of, decoded
from webarc.archive.urls import canonical
from webarc.crawler.charset import charset_of
from webarc.crawler.elements import ITSELF, READERS, Attributes, Findings, read_drawing, read_style
from webarc.crawler.joins import Joiner
from webarc.crawler.quick import read_quickly
from webarc.crawler.tags import Tags, attributes_of, is_monstrous, unescaped
from webarc.errors import BadURL

_LONGEST_TITLE = 1000
_MOST_LINKS = 250_000
_MOST_TITLES = 20
_MOST_PARENTS = 100
_MOST_FRAMES = 1_000
_DEEPEST_FRAME = 5
_TAGS = Tags(frozenset({*READERS, "use"}))
_STYLES = re.compile(rb"""[\s"'/](?:style|background)\s*+=\s*+(?:"[^"]*+"|'[^']*+'|[^\s>"']++)""", re.IGNORECASE)
_ESCAPED_STYLE = re.compile(rb"""style\s*+=\s*+["']?+[^"'>=\\]*+\\""")
_SELF_CLOSED = re.compile(
    r"<(script|style|title|textarea|iframe|noframes|noembed|xmp)([\s/][^<>]*+)(?<=/)>", re.IGNORECASE | re.ASCII
)
# References that are passed by when pages are read quickly, since without a base they lead nowhere.
_ITSELF = re.compile(rb'href="(?:#|[\x00-\x20]++")')
_FOREIGN = re.compile(r"[^\x00-\x7f]+")


class Link(NamedTuple):
    """A URL that a page names; kind is `link` (another page) or `requisite` (a part of this one)."""

    url: str
    kind: str
    nofollow: bool


@dataclass(slots=True)
class Page:
    """What was read; `base` is what its references are relative to, `cut` is set when links were left out."""

    title: str | None
    followed: dict[str, bool]
    """URLs of other pages; whether one is not to be followed."""
    needed: list[str]
    """URLs of the page's own parts."""
    nofollow: bool
    base: str
    charset: str
    cut: bool = False

    @property
    def links(self) -> list[Link]:
        """Every URL once for each kind, in the order of the page."""
        others = [Link(url, "link", nofollow) for url, nofollow in self.followed.items()]
        return others + [Link(url, "requisite", False) for url in self.needed]


def read_html(body: bytes, url: str, content_type: str, agent: str = "webarc") -> Page:
    """Read a page as browsers do; `agent` is the name that robots rules may call us by. Never raises."""
    charset = charset_of(body, content_type)
    plain = charset == "utf-8" and "xhtml" not in content_type.lower()
    page = body.removeprefix(BOM_UTF8) if plain else _as_utf8(body, charset, content_type)
    found = Findings(agent)
    if not read_quickly(page, found) or _is_cut(found) or (found.base is not None and _ITSELF.search(page)):
        found = Findings(agent)
        read_thoroughly(_as_utf8(body, charset, content_type), found)
    base = base_of(found.base, url)
    read = Page(_title(found.title), *_joined(found, url, base, charset), found.nofollow, base, charset, _is_cut(found))
    if found.frames:
        _add_frames(read, url, islice(_frames(found, base, 0), _MOST_FRAMES))
    return read


def _joined(found: Findings, url: str, base: str, charset: str) -> tuple[dict[str, bool], list[str]]:
    """The URLs of other pages, and of the page's own parts."""
    urls_of = joiner(base, charset)
    needed = list(filter(None, dict.fromkeys(urls_of(islice(found.requisites, _MOST_LINKS)))))
    itself = found.links.pop(ITSELF, None)
    followed = _followed(found, urls_of)
    if itself is not None and base != url:
        followed[base] = itself and followed.get(base, True)
    return followed, needed


def _frames(found: Findings, base: str, depth: int) -> Iterator[tuple[Findings, str]]:
    """What the documents say that stand in the page itself, and their bases."""
    for text in found.frames if depth < _DEEPEST_FRAME else ():
        frame = Findings(found.agent)
        read_thoroughly(text.encode("utf-8", "replace"), frame)
        its_base = base_of(frame.base, base)
        yield frame, its_base
        yield from _frames(frame, its_base, depth + 1)


def _add_frames(page: Page, url: str, frames: Iterable[tuple[Findings, str]]) -> None:
    known = dict.fromkeys(page.needed)
    for frame, base in frames:
        followed, needed = _joined(frame, url, base, "utf-8")
        known.update(dict.fromkeys(needed))
        for link, nofollow in followed.items():
            page.followed[link] = (nofollow or frame.nofollow) and page.followed.get(link, True)
        page.cut |= _is_cut(frame) or len(page.followed) + len(known) > _MOST_LINKS
        if page.cut:
            break
    page.needed = list(known)


def _as_utf8(body: bytes, charset: str, content_type: str) -> bytes:
    """A page in valid UTF-8, whatever it was in."""
    text = decoded(body, charset)
    if "xhtml" in content_type.lower():
        text = _SELF_CLOSED.sub(r"<\1\2></\1>", text)
    return text.encode("utf-8", "replace")


def read_thoroughly(page: bytes, found: Findings) -> None:
    """Read a UTF-8 page, whatever it contains."""
    if is_monstrous(page):
        _scan(page, found)
    else:
        _walk(page, found)


def _is_cut(found: Findings) -> bool:
    return len(found.links) + len(found.requisites) > _MOST_LINKS


def _walk(page: bytes, found: Findings) -> None:
    """Let lexbor build the tree, and go through it and through the templates in it."""
    root = LexborHTMLParser(page, options=LexborDocumentOptions.WO_EVENTS).root
    readers, styled = _BY_ID, _may_be_styled(page)
    parts = [root] if root is not None else []
    while parts:
        part = parts.pop()
        later = []
        for node in part.traverse():
            tag = node.tag_id
            if tag in readers:
                reader = readers[tag]
                if reader is _later:
                    later.append(node)
                else:
                    reader(found, node.attributes)
        if styled:
            for node in part.css("[style],[background]"):
                read_style(found, node.attributes)
        parts.extend(_read_later(part, later, found))
        readers = _IN_TEMPLATE


def _later(_: Findings, __: Attributes) -> None:
    """Marks elements whose content matters, not only their attributes."""


_BY_ID = {
    create_tag(name).tag_id: reader
    for name, reader in {**READERS, **dict.fromkeys(("title", "style", "svg", "template"), _later)}.items()
}
# A base in a template means nothing.
_IN_TEMPLATE = {tag: reader for tag, reader in _BY_ID.items() if reader is not READERS["base"]}


def _read_later(part: LexborNode, nodes: list[LexborNode], found: Findings) -> list[LexborNode]:
    """Read those elements; returns the content of templates, which is no part of the tree."""
    kinds = {node.tag for node in nodes}
    if found.title is None:
        titles = islice((node for node in nodes if node.tag == "title"), _MOST_TITLES)
        found.title = next((title.text() for title in titles if not _is_drawn(title)), None)
    for node in nodes:
        if node.tag == "style":
            found.style(node.text())
    if "svg" in kinds:
        for node in part.css("use"):
            read_drawing(found, node.attributes)
    return part.template_fragments() if "template" in kinds else []


def _may_be_styled(page: bytes) -> bool:
    """Whether it is worth looking for attributes that name an image in few pages only."""
    lower = page.lower()
    if b"url(" in lower or b"background=" in lower:
        return True
    return b"image-set(" in lower or _ESCAPED_STYLE.search(lower) is not None


def _is_drawn(title: LexborNode) -> bool:
    """Whether a title belongs to a part of an SVG drawing, not to the page."""
    parent = title.parent
    for _ in range(_MOST_PARENTS):
        if parent is None:
            break
        if parent.tag == "svg":
            return True
        parent = parent.parent
    return False


def _scan(page: bytes, found: Findings) -> None:
    """Read a page tag by tag, without a tree."""
    for name, attributes, text in _TAGS.find(page):
        reader = READERS.get(name)
        if reader is not None:
            reader(found, attributes)
        elif name == "title" and found.title is None:
            found.title = unescaped(text)
        elif name == "style":
            found.style(text)
        elif name == "use":
            read_drawing(found, attributes)
        if len(found.links) + len(found.requisites) > _MOST_LINKS:
            return
    for written in _STYLES.findall(page):
        read_style(found, attributes_of(written[1:]))


def _title(written: str | None) -> str | None:
    return " ".join(written.split())[:_LONGEST_TITLE] or None if written else None


def base_of(written: str | None, url: str) -> str:
    """What the references of a page are relative to: what its base element says, if that can be used, or its URL."""
    try:
        return canonical(written, url) if written else url
    except BadURL:
        return url


def _followed(found: Findings, urls_of: Callable[[Iterable[str]], list[str | None]]) -> dict[str, bool]:
    """The URLs of other pages, and whether one is not to be followed: only if that is said of every reference to it."""
    urls = urls_of(islice(found.links, _MOST_LINKS))
    followed: dict[str | None, bool] = dict.fromkeys(urls, False)
    if True in found.links.values():
        followed = {}
        for url, nofollow in zip(urls, found.links.values(), strict=False):
            if url not in followed or not nofollow:
                followed[url] = nofollow
    followed.pop(None, None)
    return cast("dict[str, bool]", followed)


def joiner(base: str, charset: str) -> Callable[[Iterable[str]], list[str | None]]:
    """Makes references of a page in this encoding absolute; None for what leads nowhere else."""
    urls_of = Joiner(base).urls
    if charset.startswith(("utf-", "replacement")):
        return urls_of
    return lambda references: urls_of([_in_charset(reference, charset) for reference in references])


def _in_charset(reference: str, charset: str) -> str:
    """Browsers send the query of a link in the page's own encoding, everything else in UTF-8."""
    before, mark, query = reference.partition("#")[0].partition("?")
    return before + mark + _FOREIGN.sub(lambda run: quote(bytes_of(run.group(), charset), ""), query)
