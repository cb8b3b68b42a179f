"""An HTML page or SVG drawing being relinked, attribute by attribute."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import NamedTuple

from webarc.archive.checkout import Lead
from webarc.crawler.css import places, plain
from webarc.crawler.elements import NO_DOCUMENT, REFRESH, REQUISITES, SHOWN
from webarc.crawler.html import base_of
from webarc.crawler.relinking_links import Link, Links
from webarc.crawler.relinking_sheet import in_css, relink_css
from webarc.crawler.relinking_tags import Attribute, Tag, tags
from webarc.crawler.relinking_text import Source
from webarc.crawler.srcset import candidates
from webarc.crawler.tags import attributes_of

_HREF = ("href", "xlink:href")
# What a page shows, by element, and where it leads.
PARTS: dict[str, tuple[str, ...]] = {
    "audio": ("src",),
    "embed": ("src",),
    "feimage": _HREF,
    "frame": ("src",),
    "iframe": ("src",),
    "image": _HREF,
    "img": ("src", "data-src"),
    "input": ("src",),
    "object": ("data",),
    "script": ("src",),
    "source": ("src", "data-src"),
    "track": ("src",),
    "use": _HREF,
    "video": ("src", "poster"),
}
WAYS: dict[str, tuple[str, ...]] = {
    "a": _HREF,
    "area": _HREF,
    "button": ("formaction",),
    "form": ("action",),
    "input": ("formaction",),
}
_SETS = {"img": ("srcset", "data-srcset"), "source": ("srcset", "data-srcset"), "link": ("imagesrcset",)}
# In these an empty reference is one, too.
_ANCHORS = ("a", "area")
_DEEPEST_FRAME = 5
# Neither holds for a file: its bytes may have changed, and there is no server that could allow anything.
_GUARDS = ("integrity", "crossorigin")
# Browsers look no further than 1024 bytes for the encoding.
_LABEL_WITHIN = 900
Place = tuple[int, int]
Edit = tuple[int, int, Link]


class Mixture(NamedTuple):
    """How references stand among other things: where, as what they are read, and how others are put in their places."""

    find: Callable[[str], Iterator[Place]]
    plain: Callable[[str], str]
    form: Callable[[str, str], str]
    embedded: bool = True


def _refresh_places(text: str) -> Iterator[Place]:
    """Where the content of a meta refresh leads."""
    target = REFRESH.match(text)
    if target and target.lastindex:
        yield target.span(target.lastindex)


_STYLE = Mixture(places, plain, in_css)
_SRCSET = Mixture(candidates, str, lambda _, new: new)
_REFRESH = Mixture(_refresh_places, str, lambda _, new: new, embedded=False)


class Page:
    """Replaces the links of one page in its source."""

    def __init__(
        self, source: Source, url: str, charset: str, lead: Lead, *, xml: bool, base: str = "", depth: int = 0
    ) -> None:
        self.source, self._xml, self._url, self._lead, self._depth = source, xml, url, lead, depth
        self._base = base_of(self._written_base(), base or url)
        self._links = Links(url, self._base, charset, lead)
        self._label_at = 0

    def relink(self) -> None:
        """Replace all links."""
        for tag in tags(self.source.text, self._xml):
            if not self.source.room:
                return
            if tag.name in ("html", "head") and tag.end < _LABEL_WITHIN:
                self._label_at = tag.end
            if tag.attributes or tag.name == "style":
                self._relink(tag)

    def label(self, charset: str) -> None:
        """Have the page say its encoding, as early as that is allowed."""
        self.source.replace(self._label_at, self._label_at, f'<meta charset="{charset}">')

    def _written_base(self) -> str | None:
        if "<base" not in self.source.text.lower():
            return None
        bases = (tag for tag in tags(self.source.text, self._xml) if tag.name == "base" and not tag.is_inert)
        first = next(filter(None, (tag.attributes.get("href") for tag in bases)), None)
        return None if first is None else self._value(first)

    def _relink(self, tag: Tag) -> None:
        attributes = tag.attributes
        local = [self._relink_whole(tag, name, embedded=True) for name in (*PARTS.get(tag.name, ()), "background")]
        for name in WAYS.get(tag.name, ()):
            self._relink_whole(tag, name, embedded=False)
        if "style" in attributes:
            self._relink_inside(attributes["style"], _STYLE)
        for name in _SETS.get(tag.name, ()):
            if name in attributes:
                local.append(self._relink_inside(attributes[name], _SRCSET))
        if tag.name in _SPECIAL:
            local.append(_SPECIAL[tag.name](self, tag))
        for name in _GUARDS if any(local) else ():
            if name in attributes:
                self.source.replace(attributes[name].start, attributes[name].end, "")

    def _relink_link(self, tag: Tag) -> bool:
        rel = set(self._text(tag, "rel").lower().split())
        if not rel & REQUISITES and (not rel or rel & NO_DOCUMENT):
            return False
        return self._relink_whole(tag, "href", embedded=bool(rel & REQUISITES))

    def _relink_meta(self, tag: Tag) -> bool:
        content = tag.attributes.get("content")
        purpose = self._text(tag, "http-equiv").strip().lower()
        if content is not None and purpose == "refresh":
            self._relink_inside(content, _REFRESH)
        elif content is not None and purpose == "content-security-policy":
            # No rule for the files of a server fits those of a disk.
            self._set(content, "")
        elif (self._text(tag, "property") or self._text(tag, "name")).strip().lower() in SHOWN:
            self._relink_whole(tag, "content", embedded=True)
        return False

    def _relink_frame(self, tag: Tag) -> bool:
        """A document of its own, which stands in an attribute."""
        attribute = tag.attributes.get("srcdoc")
        if attribute is not None and self._depth < _DEEPEST_FRAME:
            was = self._value(attribute)
            source = Source(was.encode("utf-8", "replace"), "utf-8")
            Page(source, self._url, "utf-8", self._lead, xml=False, base=self._base, depth=self._depth + 1).relink()
            text = source.spliced().decode()
            if text != was:
                self._set(attribute, text)
        return False

    def _relink_base(self, tag: Tag) -> bool:
        """Every link has been resolved against it, so none may be once more."""
        if self._text(tag, "href"):
            self._set(tag.attributes["href"], "")
        return False

    def _relink_style(self, tag: Tag) -> bool:
        entities = self._xml and "<![CDATA[" not in self.source.text[tag.end : tag.text_end]
        relink_css(self.source, tag.end, tag.text_end, self._links, entities=entities)
        return False

    def _relink_whole(self, tag: Tag, name: str, *, embedded: bool) -> bool:
        """Relink an attribute that is a reference; returns whether it now leads to a file."""
        attribute = tag.attributes.get(name)
        if attribute is None:
            return False
        new = self._links.new(self._value(attribute), embedded=embedded, empty=tag.name in _ANCHORS)
        if new is None:
            return False
        self._set(attribute, new.text)
        return new.is_local

    def _relink_inside(self, attribute: Attribute, mixture: Mixture) -> bool:
        """Relink an attribute that holds references among other things; returns whether one now leads to a file."""
        start, end = attribute.value_start, attribute.value_end
        text = self.source.text[start:end]
        if "&" not in text:
            edits = self._edits(text, lambda first, last: self.source.written(start + first, start + last), mixture)
            for first, last, link in edits:
                self.source.replace(start + first, start + last, _in_attribute(link.text, attribute.quote))
        else:
            # With character references in it the value is written anew.
            value = self._value(attribute)
            edits = self._edits(value, lambda first, last: value[first:last], mixture)
            if edits:
                self._set(attribute, _edited(value, edits))
        return any(link.is_local for _, _, link in edits)

    def _edits(self, text: str, written: Callable[[int, int], str], mixture: Mixture) -> list[Edit]:
        found = []
        for first, last in islice(mixture.find(text), self.source.room):
            was = written(first, last)
            link = self._links.new(mixture.plain(was), embedded=mixture.embedded)
            if link is not None:
                found.append((first, last, link._replace(text=mixture.form(was, link.text))))
        return found

    def _text(self, tag: Tag, name: str) -> str:
        attribute = tag.attributes.get(name)
        return self._value(attribute) if attribute is not None else ""

    def _value(self, attribute: Attribute) -> str:
        written = self.source.written(attribute.value_start, attribute.value_end)
        if "&" not in written:
            return written
        return attributes_of(f"x={attribute.quote}{written}{attribute.quote}".encode())["x"]

    def _set(self, attribute: Attribute, value: str) -> None:
        quote = attribute.quote or '"'
        text = _in_attribute(value, quote)
        whole = text if attribute.quote else f"{quote}{text}{quote}"
        if "=" not in self.source.text[attribute.start : attribute.value_start]:
            whole = f"={whole}"
        self.source.replace(attribute.value_start, attribute.value_end, whole)


_SPECIAL = {
    "base": Page._relink_base,
    "iframe": Page._relink_frame,
    "link": Page._relink_link,
    "meta": Page._relink_meta,
    "style": Page._relink_style,
}


def _edited(value: str, edits: list[Edit]) -> str:
    pieces, end = [], 0
    for first, last, link in edits:
        pieces += [value[end:first], link.text]
        end = last
    return "".join([*pieces, value[end:]])


def _in_attribute(text: str, quote: str) -> str:
    """A text as it stands in an attribute with these quotes."""
    text = text.replace("&", "&amp;").replace("<", "&lt;")
    return text.replace(quote, "&#39;" if quote == "'" else "&quot;") if quote else text
