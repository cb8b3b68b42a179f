"""Made-up rows for tests of the index alone."""

from __future__ import annotations

from typing import Any

from webarc.sql.batch import Batch
from webarc.sql.index import Index

DOMAIN = "example.org"


def tag(day: int, domain: str = DOMAIN) -> str:
    """The commitTag of the crawl of a day."""
    return f"2026-01-{day:02}T00:00:00@{domain}"


def columns(arc: str, **other: Any) -> dict[str, Any]:
    """The columns of a version that nobody is interested in, and those that somebody is."""
    return {
        "url": f"http://{DOMAIN}/{arc}",
        "mime_type": "text/html",
        "title": None,
        "crawl_time": "2026-01-01 00:00:00",
        "create_time": "2026-01-01 00:00:00",
        "status": 200,
        "final_url": f"http://{DOMAIN}/{arc}",
        "http_version": "1.1",
        "declared_type": "text/html",
        "charset": "utf-8",
        "etag": '"1"',
        "last_modified": "",
        "file": "data.html",
        "length": 2**40,
        "sha256": "0" * 64,
        "document_blob": "d" * 40,
        "data_blob": "b" * 40,
        **other,
    }


def batch(after: str | None, domain: str = DOMAIN) -> Batch:
    """An empty batch of a domain whose folder has its name."""
    return Batch(domain, domain, after)


def store(index: Index, arcs: list[str], day: int, domain: str = DOMAIN) -> None:
    """One crawl that brought a version of each of the ARCs."""
    rows = batch(index.indexed_commit(domain), domain)
    for arc in arcs:
        rows.version(arc, tag(day, domain), columns(arc))
    rows.end(f"commit-{day}")
    assert index.write(rows)
