"""A page of the archive: all versions of one URL, and which of them was current when."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass
from datetime import datetime, timedelta
from operator import attrgetter

from webarc.archive import times
from webarc.archive.instants import instant
from webarc.archive.zones import shown
from webarc.errors import NoSuchVersion
from webarc.sql.index import LAST
from webarc.sql.rows import VersionRow

_NUMBER = re.compile(r"[+-]?\d{1,5}", re.ASCII)
_YEAR = re.compile(r"(?:19|20)\d\d", re.ASCII)


@dataclass(frozen=True)
class Page:
    """The versions of one URL, oldest first; there is at least one."""

    domain: str
    arc: str
    url: str
    versions: tuple[VersionRow, ...]

    def newest(self) -> VersionRow:
        """The newest version, which need not stand at the tip any more."""
        return self.versions[-1]

    def number(self, number: int) -> VersionRow:
        """The version of a number; -1 is the newest, -2 the one before."""
        if number < 0 and -number <= len(self.versions):
            return self.versions[number]
        found = next((row for row in self.versions if row.number == number), None)
        if found is None:
            raise NoSuchVersion(f"{self.url} has no version {number}; it has {self._numbers()}.")
        return found

    def at(self, when: datetime) -> VersionRow:
        """The version that was current then, or the last one if the page had been removed before."""
        moment = times.text(when)
        found = next((row for row in reversed(self.versions) if row.crawl_time <= moment), None)
        if found is None:
            raise NoSuchVersion(self._nothing_at(moment))
        return found

    def tagged(self, tag: str) -> VersionRow:
        """The version that was current after a crawl."""
        found = next((row for row in self.versions if row.commit_tag == tag), None)
        if found is not None:
            return found
        moment = moment_of(tag)
        if moment is None or tag.partition("@")[2] != self.domain:
            raise NoSuchVersion(f"{tag!r} is no crawl of {self.domain}; run `webarc log {self.domain}` to see them.")
        return self.at(times.parse(moment))

    def chosen(self, text: str) -> VersionRow:
        """The version that a number, a commitTag or a time means."""
        text = text.strip()
        if "@" in text:
            return self.tagged(text)
        if not _NUMBER.fullmatch(text):
            return self.at(instant(text, end=True))
        if _YEAR.fullmatch(text) and not any(row.number == int(text) for row in self.versions):
            return self.at(instant(text, end=True))
        return self.number(int(text))

    def before(self, row: VersionRow) -> VersionRow | None:
        """The version before another one."""
        place = bisect_left(self.versions, row.number, key=attrgetter("number"))
        return self.versions[place - 1] if place else None

    def has_gap_after(self, row: VersionRow) -> bool:
        """Whether versions are missing between one and the next."""
        place = bisect_left(self.versions, row.number + 1, key=attrgetter("number"))
        return place < len(self.versions) and self.versions[place].number > row.number + 1

    def _nothing_at(self, moment: str) -> str:
        first = self.versions[0]
        known = f"{first.number}, of {shown(first.crawl_time)}"
        if first.number == 1:
            return f"{self.url} was not archived yet at {shown(moment)}; its first version is {known}."
        lost = "what came before was thinned out or forgotten"
        return f"{self.url} has no version of {shown(moment)}; the first that is left is {known}, {lost}."

    def _numbers(self) -> str:
        numbers = [row.number for row in self.versions]
        gaps = numbers[-1] - len(numbers)
        without = f"; {gaps} more {'was' if gaps == 1 else 'were'} thinned out or forgotten" if gaps else ""
        if len(numbers) == 1:
            return f"only {numbers[0]}{without}"
        return f"{numbers[0]} to {numbers[-1]}{without}"


def moment_of(tag: str) -> str | None:
    """The crawl time in a commitTag, as `yyyy-mm-dd hh:mm:ss`; None if it has none, as with a user's own commit."""
    try:
        return times.text(times.parse(tag.partition("@")[0]))
    except (ValueError, OverflowError):
        return None


def removed_before(row: VersionRow, when: str) -> bool:
    """Whether a version had been removed at a crawl time or earlier."""
    removed = moment_of(row.removed_tag) if row.removed_tag else None
    return removed is not None and removed <= when


def just_after(moment: str) -> str:
    """The beginning of the commitTags of the second after a crawl time."""
    try:
        return times.xml(times.parse(moment) + timedelta(seconds=1))
    except OverflowError:
        return LAST
