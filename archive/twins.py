"""Versions elsewhere that hold the same bytes as versions that go."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from webarc.archive.going import Going
from webarc.sql.database import run
from webarc.sql.index import Index


class Twin(NamedTuple):
    """A version that stays and holds bytes that should be gone."""

    domain: str
    arc: str
    number: int
    url: str
    commit_tag: str
    sha256: str


def twins(index: Index, domain: str, arc: str | None, found: Iterable[Going]) -> list[Twin]:
    """The versions in any domain, by URL, that stay when these versions of a page or of a domain (no ARC) go."""
    numbers = {(domain, page.arc, number) for page in found for number in page.numbers}
    hashes = {digest for page in found for digest in page.sha256s}
    with index.transaction() as connection:
        rows = [Twin._make(row) for row in run(connection, "version_twins", domain=domain, arc=arc)]
    return [row for row in rows if row.sha256 in hashes and (row.domain, row.arc, row.number) not in numbers]
