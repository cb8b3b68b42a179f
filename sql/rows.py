"""The rows of the index as Python sees them; text fields hold what the XML says, times are `yyyy-mm-dd hh:mm:ss`."""

from __future__ import annotations

from typing import NamedTuple


class CurrentRow(NamedTuple):
    """The version of an ARC that stands at the tip; the validators are the newest ones known for these bytes."""

    url: str
    sha256: str
    declared_type: str
    charset: str
    mime_type: str
    etag: str
    last_modified: str
    file: str
    commit_tag: str
    number: int
    arc: str
    blob: str | None


class VersionRow(NamedTuple):
    """One version of one file; `removed_tag` is the commitTag of the crawl that removed it, if one did."""

    domain: str
    arc: str
    number: int
    commit_tag: str
    url: str
    mime_type: str
    title: str | None
    path: str
    crawl_time: str
    create_time: str
    status: int
    final_url: str
    http_version: str
    declared_type: str
    charset: str
    etag: str
    last_modified: str
    file: str
    length: int
    sha256: str
    document_blob: str
    data_blob: str | None
    is_current: int
    removed_tag: str | None


class CrawlRow(NamedTuple):
    """One crawl of one domain."""

    domain: str
    commit_tag: str
    definition: str
    crawl_time: str
    end_time: str
    complete: bool
    reason: str
    options: dict[str, str]
    counts: dict[str, int]
    held: tuple[str, ...]


class SightingRow(NamedTuple):
    """What came of a URL in all crawls of a definition from the first to the last tag."""

    domain: str
    definition: str
    url: str
    status: int
    error: str
    target: str
    mark: str
    first_tag: str
    last_tag: str


class DefinitionRow(NamedTuple):
    """The last crawl with a definition and the urls.xml it left."""

    name: str
    last_tag: str
    urls_blob: str | None


class TotalsRow(NamedTuple):
    """How much one domain has: pages at the tip, versions and their bytes in all, first and last crawl time."""

    domain: str
    pages: int
    versions: int
    size: int
    first_crawl: str | None
    last_crawl: str | None


class GuestRow(NamedTuple):
    """What a crawl of another domain brought."""

    commit_tag: str
    crawl_time: str
    versions: int
    size: int
