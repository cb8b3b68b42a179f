"""Tombstones: what was taken out of a domain's history, when, why and by whom, as XML in the domain's own git.

They lie in `.webarc/forgotten/` at the tip of main for good: the numbers in them are never given to another version.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from webarc.archive.document import read_valid, text_of
from webarc.archive.escaping import element, in_attribute
from webarc.archive.layout import INTERNAL
from webarc.archive.objects import ObjectReader
from webarc.archive.repository import Repository
from webarc.errors import BadDocument

if TYPE_CHECKING:
    from lxml.etree import _Element

FORGOTTEN = f"{INTERNAL}/forgotten"
# A domain of a million pages has many files, so that each of them can be read at once.
_PAGES_IN_A_FILE = 5_000
# No page has so many versions; a document that claims it would fill the memory.
_MOST_NUMBERS = 10_000_000


@dataclass(frozen=True, slots=True)
class Tombstone:
    """Versions of one page that are gone; where old ones were only thinned out, `tags` and `sha256s` are empty."""

    url: str
    arc: str
    numbers: tuple[int, ...]
    time: str
    reason: str
    by: str
    sha256s: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    commit_tag: str = ""
    file: str = ""


def tombstones(repo: Repository) -> list[Tombstone]:
    """All tombstones of a domain, oldest first; raises BadDocument for one that cannot be believed."""
    tip = repo.tip() if repo.exists() else None
    if tip is None:
        return []
    with repo.reader() as reader:
        return list(tombstones_at(reader, tip))


def tombstones_at(reader: ObjectReader, commit: str) -> Iterator[Tombstone]:
    """The tombstones that a commit holds, oldest first."""
    for name in _names(reader.read(f"{commit}:{FORGOTTEN}")):
        data = reader.read(f"{commit}:{FORGOTTEN}/{name}")
        if data is not None:
            yield from parse(data, name)


def parse(data: bytes, name: str = "") -> Iterator[Tombstone]:
    """What one file says, page by page."""
    tag, _, time, by, reason, *pages = read_valid(data, "forgotten")
    about = (text_of(time).replace("T", " "), text_of(reason), text_of(by))
    for page in pages:
        url, arc, numbers, *versions = page
        hashes, tags = _attributes(versions, "sha256"), _attributes(versions, "commitTag")
        yield Tombstone(
            text_of(url), text_of(arc), expanded(text_of(numbers)), *about, hashes, tags, text_of(tag), name
        )


def render(found: Iterable[Tombstone], domain: str, commit_tag: str) -> Iterator[tuple[str, bytes]]:
    """Name and bytes of the files that tell this; all tombstones have one time, reason and author."""
    pages, number = iter(found), 0
    while part := list(islice(pages, _PAGES_IN_A_FILE)):
        number += 1
        data = _document(part, domain, commit_tag)
        read_valid(data, "forgotten")
        yield _name(commit_tag, number), data


def ranges(numbers: Iterable[int]) -> str:
    """`1-3 5`: numbers as people read them."""
    found: list[list[int]] = []
    for number in sorted(numbers):
        if found and number == found[-1][1] + 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    return " ".join(str(first) if first == last else f"{first}-{last}" for first, last in found)


def expanded(text: str) -> tuple[int, ...]:
    """The numbers that `ranges` was given."""
    numbers: list[int] = []
    for part in text.split():
        first, _, last = part.partition("-")
        wanted = range(int(first), int(last or first) + 1)
        if not wanted or len(numbers) + len(wanted) > _MOST_NUMBERS:
            raise BadDocument(f"its numbers {part} cannot be true; restore it from git.")
        numbers += wanted
    return tuple(numbers)


def _document(pages: list[Tombstone], domain: str, commit_tag: str) -> bytes:
    first = pages[0]
    lines = ['<?xml version="1.0" encoding="UTF-8"?>\n<forgotten version="1">']
    lines += [
        f"  {line}"
        for line in (
            element("commitTag", commit_tag),
            element("domain", domain),
            element("time", first.time.replace(" ", "T")),
            element("by", first.by),
            element("reason", first.reason),
        )
    ]
    for page in pages:
        lines += _page(page)
    return "\n".join([*lines, "</forgotten>\n"]).encode()


def _page(page: Tombstone) -> Iterator[str]:
    yield "  <page>"
    yield f"    {element('url', page.url)}"
    yield f"    {element('arc', page.arc)}"
    yield f"    {element('numbers', ranges(page.numbers))}"
    if page.sha256s:
        for number, tag, digest in zip(page.numbers, page.tags, page.sha256s, strict=True):
            yield f'    <version number="{number}" commitTag="{in_attribute(tag)}" sha256="{digest}"/>'
    yield "  </page>"


def _name(commit_tag: str, number: int) -> str:
    moment = commit_tag.partition("@")[0].replace("-", "").replace(":", "")
    return f"{moment}.xml" if number == 1 else f"{moment}-{number}.xml"


def _attributes(nodes: list[_Element], name: str) -> tuple[str, ...]:
    return tuple(str(node.get(name)) for node in nodes)


def _names(tree: bytes | None) -> Iterator[str]:
    """The files that a git tree object lists."""
    position = 0
    while tree and position < len(tree):
        end = tree.index(b"\0", position)
        mode, _, name = tree[position:end].partition(b" ")
        if mode != b"40000" and name.endswith(b".xml"):
            yield name.decode("utf-8", "surrogateescape")
        position = end + 21
