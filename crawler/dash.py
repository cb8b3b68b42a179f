"""The parts of a DASH presentation (ISO/IEC 23009-1): the files that its segments, listed or counted, lie in."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from math import ceil
from typing import NamedTuple

from lxml import etree
from lxml.etree import _Element

from webarc.archive.urls import canonical
from webarc.crawler.joins import Joiner
from webarc.errors import BadURL

_LARGEST = 4 * 1024 * 1024
_MOST_PARTS = 100_000
_MOST_LETTERS = 16 * 1024 * 1024
_MOST_DIGITS = 15
_XLINK = "{http://www.w3.org/1999/xlink}href"
_DURATION = re.compile(r"P(?:(\d{1,9})D)?(?:T(?:(\d{1,9})H)?(?:(\d{1,9})M)?(?:(\d{1,9}(?:\.\d{1,9})?)S)?)?", re.ASCII)
_SECONDS = (86_400, 3_600, 60, 1)
_IDENTIFIER = re.compile(r"\$(?:(RepresentationID|Bandwidth|Number|Time)(?:%0(\d\d?)d)?)?\$")


class _Level(NamedTuple):
    """What holds from an element downwards: the base of references, and what is said of segments, outermost first."""

    base: str
    is_file: bool
    segments: tuple[_Element, ...]


class _Segment(NamedTuple):
    number: int
    time: int


def read_dash(body: bytes, url: str) -> list[str]:
    """The canonical URLs of the parts, each once; none if this is no presentation that can be read."""
    root = _root(body)
    return list(_Presentation().read(root, url)) if root is not None else []


def _root(body: bytes) -> _Element | None:
    if len(body) > _LARGEST:
        return None
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True)
    try:
        root = etree.fromstring(body, parser)
    except (etree.XMLSyntaxError, ValueError):
        return None
    with_dtd = root.getroottree().docinfo.internalDTD is not None
    return root if etree.QName(root).localname == "MPD" and not with_dtd else None


class _Full(Exception):
    """More parts than any crawl is to ask for because of one file."""


class _Presentation:
    """Collects the parts of one presentation."""

    def __init__(self) -> None:
        self._parts: dict[str, None] = {}
        self._count = self._letters = 0

    def read(self, root: _Element, url: str) -> dict[str, None]:
        top = _below(_Level(url, False, ()), root)
        try:
            for period, seconds in _periods(root):
                self._need(top.base, period.get(_XLINK))
                level = _below(top, period)
                for group in period.iterfind("{*}AdaptationSet"):
                    self._need(level.base, group.get(_XLINK))
                    inner = _below(level, group)
                    for representation in group.iterfind("{*}Representation"):
                        self._read(representation, _below(inner, representation), seconds)
        except _Full:
            pass
        return self._parts

    def _read(self, representation: _Element, level: _Level, seconds: float) -> None:
        base = level.base
        for element in level.segments:
            self._need(base, element.get(_XLINK))
            for part in element.iterfind("{*}*"):
                for name in ("sourceURL", "media", "index"):
                    self._need(base, part.get(name))
        named = [(etree.QName(element).localname, element) for element in level.segments]
        template = [element for name, element in named if name == "SegmentTemplate"]
        if template:
            self._read_template(representation, base, template, seconds)
        elif level.is_file and not base.endswith("/") and not any(name == "SegmentList" for name, _ in named):
            self._need(base, base)

    def _read_template(self, representation: _Element, base: str, levels: list[_Element], seconds: float) -> None:
        said: dict[str, str] = {}
        for level in levels:
            said.update({str(name): str(value) for name, value in level.attrib.items()})
        timelines = [found for level in levels for found in level.iterfind("{*}SegmentTimeline")]
        for name in ("initialization", "index", "bitstreamSwitching"):
            self._need(base, _filled(said.get(name, ""), representation, _Segment(0, 0)))
        media = said.get("media", "")
        if _filled(media, representation, _Segment(0, 0)) == _filled(media, representation, _Segment(1, 1)):
            self._need(base, _filled(media, representation, _Segment(0, 0)))
            return
        for segment in _timed(timelines[-1], said, seconds) if timelines else _counted(said, seconds):
            self._need(base, _filled(media, representation, segment))

    def _need(self, base: str, reference: str | None) -> None:
        if not reference:
            return
        self._count += 1
        self._letters += len(reference) + len(base)
        if self._count > _MOST_PARTS or self._letters > _MOST_LETTERS:
            raise _Full
        url = Joiner(base).url(reference)
        if url:
            self._parts[url] = None


def _below(level: _Level, element: _Element) -> _Level:
    """What holds below an element; of several bases, which are copies of each other, the first counts."""
    base = element.findtext("{*}BaseURL")
    url = level.base
    try:
        url = canonical(base.strip(), url) if base else url
    except BadURL:
        base = None
    kinds = ("SegmentBase", "SegmentList", "SegmentTemplate")
    segments = tuple(found for kind in kinds for found in element.iterfind(f"{{*}}{kind}"))
    return _Level(url, level.is_file or bool(base), level.segments + segments)


def _periods(root: _Element) -> Iterator[tuple[_Element, float]]:
    """The periods and how many seconds they last; 0 if nobody knows."""
    periods = list(root.iterfind("{*}Period"))
    total = _seconds(root.get("mediaPresentationDuration"))
    starts, start = [], 0.0
    for period in periods:
        start = _seconds(period.get("start")) or start
        starts.append(start)
        start += _seconds(period.get("duration"))
    for period, (start, end) in zip(periods, pairwise([*starts, total]), strict=True):
        yield period, _seconds(period.get("duration")) or max(0.0, end - start)


def _timed(timeline: _Element, said: dict[str, str], seconds: float) -> Iterator[_Segment]:
    """The segments of a timeline; a negative repeat lasts until the next entry or the end of the period."""
    number, time = _number(said.get("startNumber"), 1), 0
    entries = list(timeline.iterfind("{*}S"))
    offset = _number(said.get("presentationTimeOffset"), 0)
    end = offset + int(seconds * _number(said.get("timescale"), 1))
    for entry, following in pairwise([*entries, None]):
        assert entry is not None
        time = _number(entry.get("t"), time)
        length = _number(entry.get("d"), 0)
        repeats = _number(entry.get("r"), 0)
        if (entry.get("r") or "").startswith("-"):
            until = _number(following.get("t") if following is not None else None, end)
            repeats = ceil((until - time) / length) - 1 if length else 0
        for _ in range(repeats + 1):
            yield _Segment(number, time)
            number, time = number + 1, time + length


def _counted(said: dict[str, str], seconds: float) -> Iterator[_Segment]:
    """Segments of equal length."""
    first, length = _number(said.get("startNumber"), 1), _number(said.get("duration"), 0)
    count = ceil(seconds * _number(said.get("timescale"), 1) / length) if length else 0
    last = _number(said.get("endNumber"), first + count - 1)
    for number in range(first, last + 1):
        yield _Segment(number, (number - first) * length)


def _filled(template: str, representation: _Element, segment: _Segment) -> str:
    """A template with what it asks for; `$$` is a dollar."""
    values = {
        "RepresentationID": representation.get("id") or "",
        "Bandwidth": _number(representation.get("bandwidth"), 0),
        "Number": segment.number,
        "Time": segment.time,
    }

    def value(found: re.Match[str]) -> str:
        name, width = found.groups()
        return str(values[name]).rjust(int(width or 0), "0") if name else "$"

    return _IDENTIFIER.sub(value, template)


def _number(written: str | None, otherwise: int) -> int:
    plain = written is not None and written.isascii() and written.isdigit() and len(written) <= _MOST_DIGITS
    return int(written) if plain and written else otherwise


def _seconds(written: str | None) -> float:
    """A duration as XML writes it: `PT1H2M3.5S`."""
    found = _DURATION.fullmatch(written.strip()) if written else None
    return sum(float(part or 0) * unit for part, unit in zip(found.groups(), _SECONDS, strict=True)) if found else 0.0
