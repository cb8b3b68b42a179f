"""What each HTML element says about other URLs, as written in the page."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from webarc.crawler.css import references
from webarc.crawler.srcset import read_srcset

Attributes = Mapping[str, str | None]
REQUISITES = {
    *("stylesheet", "icon", "preload", "modulepreload", "prefetch", "manifest", "mask-icon"),
    *("apple-touch-icon", "apple-touch-icon-precomposed", "apple-touch-startup-image"),
}
NO_DOCUMENT = {"dns-prefetch", "preconnect"}
# The reference of an anchor that leads to the page itself, or to the base that the page names.
ITSELF = "#"
# URLs are read without these around them.
_BLANK = "".join(map(chr, range(0x21)))
# What other sites and programs show of a page.
SHOWN = {
    *(f"og:{kind}{part}" for kind in ("image", "video", "audio") for part in ("", ":url", ":secure_url")),
    *("twitter:image", "twitter:image:src"),
}
_NOT_TO_FOLLOW = {"nofollow", "none"}
_WORDS = re.compile(r"[^\s,]+")
REFRESH = re.compile(
    r"""\s*+(?=[\d.])[\d.]*+(?=[;,\s])\s*+[;,]?+\s*+(?:url\s*+=\s*+)?(?:"([^"]*+)|'([^']*+)|(.++))""",
    re.IGNORECASE | re.DOTALL,
)


class Findings:
    """What the elements of one page say."""

    __slots__ = ("agent", "base", "frames", "links", "nofollow", "requisites", "title")

    def __init__(self, agent: str) -> None:
        self.agent = agent.lower()
        self.links: dict[str, bool] = {}
        self.requisites: dict[str, None] = {}
        self.frames: list[str] = []
        self.base: str | None = None
        self.title: str | None = None
        self.nofollow = False

    def link(self, reference: str | None, nofollow: bool = False) -> None:
        """The page leads to another one; a reference that once is to be followed is followed."""
        if reference:
            self.links[reference] = nofollow and self.links.get(reference, True)

    def need(self, reference: str | None) -> None:
        """The page is not whole without this file."""
        if reference:
            self.requisites[reference] = None

    def style(self, text: str | None) -> None:
        """The page has a style sheet or a style attribute."""
        if text and ("(" in text or "@" in text):
            self.requisites.update(dict.fromkeys(filter(None, references(text))))


def read_anchor(found: Findings, attributes: Attributes) -> None:
    """`a` and `area`, in SVG, too; nine of ten elements that say something are these, hence without further calls."""
    href = attributes.get("href") or attributes.get("xlink:href")
    if href and "#" in href:
        href = without_fragment(href)
    if not href or (href[0] <= " " and _is_itself(href)):
        if "href" not in attributes and "xlink:href" not in attributes:
            return
        href = ITSELF
    if "rel" in attributes and _has_nofollow(attributes["rel"]):
        found.links.setdefault(href, True)
    else:
        found.links[href] = False


def without_fragment(href: str) -> str:
    """A reference up to its `#`."""
    before = href[: href.index("#")]
    # A blank at the end would be taken for one around the reference, but here it is a part of it.
    return href if before[-1:].isspace() else before


def _is_itself(href: str) -> bool:
    """Whether nothing but blanks stands before the fragment of a reference."""
    return href.lstrip(_BLANK)[:1] in ("", "#")


def _has_nofollow(rel: str | None) -> bool:
    return rel is not None and "nofollow" in rel.lower().split()


def _read_frame(found: Findings, attributes: Attributes) -> None:
    found.link(attributes.get("src"))
    frame = attributes.get("srcdoc")
    if frame:
        found.frames.append(frame)


def _read_base(found: Findings, attributes: Attributes) -> None:
    if found.base is None and "href" in attributes:
        found.base = attributes["href"] or ""


def _read_link(found: Findings, attributes: Attributes) -> None:
    rel = set((attributes.get("rel") or "").lower().split())
    if rel & REQUISITES:
        found.need(attributes.get("href"))
        _read_candidates(found, attributes.get("imagesrcset"))
    elif rel and not rel & NO_DOCUMENT:
        found.link(attributes.get("href"), "nofollow" in rel)


def _read_meta(found: Findings, attributes: Attributes) -> None:
    content = attributes.get("content") or ""
    if (attributes.get("name") or "").strip().lower() in ("robots", found.agent):
        found.nofollow |= not _NOT_TO_FOLLOW.isdisjoint(_WORDS.findall(content.lower()))
    elif (attributes.get("http-equiv") or "").strip().lower() == "refresh":
        target = REFRESH.match(content)
        if target:
            found.link(target.group(1) or target.group(2) or target.group(3))
    elif (attributes.get("property") or attributes.get("name") or "").strip().lower() in SHOWN:
        found.need(content)


def _read_image(found: Findings, attributes: Attributes) -> None:
    found.need(attributes.get("src"))
    _read_candidates(found, attributes.get("srcset"))
    # Scripts load these when the image comes into sight.
    if "data-src" in attributes or "data-srcset" in attributes:
        _read_lazy(found, attributes.get("data-src") or "", attributes.get("data-srcset") or "")


def _read_lazy(found: Findings, source: str, candidates: str) -> None:
    # A template is no reference before a script has filled it.
    if "{{" not in source + candidates:
        found.need(source)
        _read_candidates(found, candidates)


def _read_candidates(found: Findings, srcset: str | None) -> None:
    if srcset:
        found.requisites.update(dict.fromkeys(read_srcset(srcset)))


def _read_input(found: Findings, attributes: Attributes) -> None:
    if (attributes.get("type") or "").lower() == "image":
        found.need(attributes.get("src"))


def _read_file(found: Findings, attributes: Attributes) -> None:
    found.need(attributes.get("src"))


def _read_video(found: Findings, attributes: Attributes) -> None:
    found.need(attributes.get("src"))
    found.need(attributes.get("poster"))


def _read_object(found: Findings, attributes: Attributes) -> None:
    found.need(attributes.get("data"))


def read_drawing(found: Findings, attributes: Attributes) -> None:
    """`image` and `use` of SVG, where the new spelling of href comes before the old one."""
    found.need(attributes.get("href") or attributes.get("xlink:href"))


def read_style(found: Findings, attributes: Attributes) -> None:
    """The attributes of any element that name images."""
    found.style(attributes.get("style"))
    found.need(attributes.get("background"))


Reader = Callable[[Findings, Attributes], None]
READERS: dict[str, Reader] = {
    "a": read_anchor,
    "area": read_anchor,
    "audio": _read_file,
    "base": _read_base,
    "embed": _read_file,
    "feimage": read_drawing,
    "frame": _read_frame,
    "iframe": _read_frame,
    "image": read_drawing,
    "img": _read_image,
    "input": _read_input,
    "link": _read_link,
    "meta": _read_meta,
    "object": _read_object,
    "script": _read_file,
    "source": _read_image,
    "track": _read_file,
    "video": _read_video,
}
