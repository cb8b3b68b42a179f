"""Metadata of made-up versions, for benchmarks that need a history without a crawl."""

from __future__ import annotations

from hashlib import sha256

from webarc.archive.layout import arc_of
from webarc.archive.metadata import Metadata, Response

DOMAIN = "example.org"


def metadata(name: str, data: bytes, moment: str, tag: str) -> Metadata:
    """What a crawl at that moment would have said of a page of these bytes."""
    url = f"https://{DOMAIN}/{name}"
    response = Response(
        status=200,
        url=url,
        http_version="1.1",
        declared_type="text/html",
        charset="utf-8",
        etag="",
        last_modified="",
        file="data.html",
        length=len(data),
        sha256=sha256(data).hexdigest(),
        headers=(("Content-Type", "text/html; charset=utf-8"), ("Server", "bench")),
    )
    return Metadata(url, "text/html", name, f"{DOMAIN}/{arc_of(url)}", DOMAIN, moment, moment, tag, response)
