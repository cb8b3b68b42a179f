"""What the fetch side and the archive side of a crawl say to each other."""

from __future__ import annotations

import marshal
from dataclasses import dataclass
from typing import NamedTuple

from webarc.archive.metadata import Metadata, from_plain

PART = "data.part"
# The URL of a capture that is no version, and whether it would have replaced one.
Known = tuple[str, bool]


class Capture(NamedTuple):
    """A response that may become a new version; `replaces` names the current document, if there is one.

    Only plain values: ten thousands of these go through a pipe, and these pass fastest.
    """

    row: int
    url: str
    domain: str
    arc: str
    status: int
    http_version: str
    headers: tuple[tuple[str, str], ...]
    declared_type: str
    charset: str
    length: int
    sha256: str
    title: str | None
    received: float
    replaces: str | None

    def header(self, name: str) -> str:
        """The value of the first header of that name, or an empty string."""
        wanted = name.lower()
        for key, value in self.headers:
            if key.lower() == wanted:
                return value
        return ""


@dataclass(frozen=True, slots=True)
class Own:
    """The crawl owns this domain: its commits carry this crawl time."""

    domain: str
    crawl_time: str


@dataclass(frozen=True, slots=True)
class Verdicts:
    """What filters made of the captures: how many are new or changed per domain, which were dropped and why."""

    new: dict[str, int]
    changed: dict[str, int]
    filtered: dict[str, int]
    drops: list[tuple[str, int]]
    problems: list[str]


@dataclass(frozen=True, slots=True)
class Order:
    """What to commit to a domain besides the captures: files of the report and ARCs to remove."""

    domain: str
    reports: tuple[tuple[str, str], ...]
    removals: tuple[str, ...]
    body: str


@dataclass(frozen=True, slots=True)
class Landed:
    """A commit is in git for good; its files are now being brought to the work tree.

    `documents` are those of its data.xml, by blob, that are still in memory.
    """

    domain: str
    documents: bytes

    def known(self) -> dict[str, Metadata]:
        """The documents."""
        found = marshal.loads(self.documents)  # noqa: S302 - written by our own other half
        return {blob: from_plain(values) for blob, values in found.items()}


@dataclass(frozen=True, slots=True)
class Committed:
    """What became of an order, work tree included; without a commit if there was nothing new after all.

    `same` are captures that another crawl had brought meanwhile, `later` is the commitTag under which those went in of
    which another crawl had brought another version.
    """

    domain: str
    commit_tag: str
    commit: str
    warnings: tuple[str, ...]
    same: tuple[Known, ...] = ()
    later: str = ""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Another command was at work in a guest's domain, so what was fetched from it is not committed."""

    domain: str
    captures: tuple[Known, ...]
    reason: str
