"""Histories of made-up domains, committed as crawls commit them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from hashlib import sha256
from io import BytesIO
from typing import Any

from webarc.archive import times
from webarc.archive.document import render
from webarc.archive.layout import arc_of, domain_folder
from webarc.archive.metadata import Metadata, Response, commit_tag
from webarc.archive.reports import CrawlRecord, UrlRow, crawl_paths, render_crawl, write_urls
from webarc.archive.store import Archive
from webarc.sql.index import Index

START = datetime(2026, 1, 1, tzinfo=times.CET)


@dataclass
class Page:
    """What a made-up server answers for a path."""

    body: str
    type: str = "text/html"
    title: str | None = None
    file: str = "data.html"


@dataclass
class History:
    """One domain; every commit is an hour later than the one before."""

    archive: Archive
    domain: str = "example.org"
    hours: int = 0
    files: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.repo = self.archive.repository(self.domain)
        self.repo.create()

    def crawl(
        self,
        pages: dict[str, Page | str],
        gone: tuple[str, ...] = (),
        urls: list[UrlRow] | None = None,
        definition: str = "d1",
        kind: str = "crawl",
        *,
        found: bool = True,
        depth: str = "3",
    ) -> str:
        """Commit a crawl that found these pages new or changed and those gone; urls None leaves urls.xml alone.

        Unless it `found` nothing at all, there was an unchanged page, too.
        """
        moment = self._next()
        tag = commit_tag(moment, self.domain)
        changes: dict[str, bytes | None] = {}
        for path, page in pages.items():
            changes |= self._arc(path, page if isinstance(page, Page) else Page(page), moment)
        for path in gone:
            arc = arc_of(self.url(path))
            changes |= {f"{arc}/data.xml": None, f"{arc}/{self.files.pop(path)}": None}
        if kind == "crawl":
            changes |= self._report(tag, moment, urls, definition, depth, found)
        return self.commit(changes, tag, kind)

    def commit(self, changes: dict[str, bytes | None], subject: str, kind: str) -> str:
        """Commit files as they are; None removes one."""
        with self.repo.importer() as importer:
            for path, data in changes.items():
                if data is None:
                    importer.drop(path)
                else:
                    importer.add_bytes(path, data)
            trailer = f"\nWebarc-Kind: {kind}\n" if kind else ""
            message = f"{subject}\n\nmade up\n{trailer}"
            tag = subject if kind == "crawl" else None
            importer.commit(self.repo.tip(), message, START + timedelta(hours=self.hours), tag)
        return subject

    def url(self, path: str) -> str:
        """The URL of a path."""
        return f"http://{self.domain}/{path}"

    def outcome(self, path: str, status: int = 200, **other: str) -> UrlRow:
        """A row of urls.xml."""
        return UrlRow(self.url(path), status, other.get("error", ""), other.get("target", ""), other.get("mark", ""))

    def document(self, path: str, page: Page, moment: str) -> bytes:
        """The data.xml of a page."""
        return render(metadata(self.url(path), page, moment, self.domain))

    def _next(self) -> str:
        self.hours += 1
        return times.text(START + timedelta(hours=self.hours))

    def _arc(self, path: str, page: Page, moment: str) -> dict[str, bytes | None]:
        arc = arc_of(self.url(path))
        changes: dict[str, bytes | None] = {f"{arc}/data.xml": self.document(path, page, moment)}
        if path in self.files and self.files[path] != page.file:
            changes[f"{arc}/{self.files[path]}"] = None
        self.files[path] = page.file
        changes[f"{arc}/{page.file}"] = page.body.encode()
        return changes

    def _report(
        self, tag: str, moment: str, urls: list[UrlRow] | None, definition: str, depth: str, found: bool
    ) -> dict[str, bytes | None]:
        crawl, outcomes = crawl_paths(definition)
        record = CrawlRecord(
            commit_tag=tag,
            domain=self.domain,
            crawl_time=moment,
            end_time=moment,
            definition=definition,
            complete=True,
            reason="",
            options={"depth": depth},
            counts={"fetched": self.hours, "unchanged": int(found)},
            held=(),
        )
        changes: dict[str, bytes | None] = {crawl: render_crawl(record)}
        if urls is not None:
            target = BytesIO()
            write_urls(urls, target)
            changes[outcomes] = target.getvalue()
        return changes


def metadata(url: str, page: Page, moment: str, domain: str) -> Metadata:
    """What webarc would know about a page."""
    body = page.body.encode()
    response = Response(
        status=200,
        url=url,
        http_version="1.1",
        declared_type=page.type,
        charset="utf-8",
        etag=f'"{sha256(body).hexdigest()[:8]}"',
        last_modified="",
        file=page.file,
        length=len(body),
        sha256=sha256(body).hexdigest(),
        headers=(("Server", "made up"),),
    )
    path = f"{domain_folder(domain)}/{arc_of(url)}"
    tag = commit_tag(moment, domain)
    return Metadata(url, page.type, page.title, path, domain, moment, moment, tag, response)


def eventful(site: History) -> Iterator[str]:
    """A history with everything that can happen to an ARC, one commit at a time."""
    ok = site.outcome
    yield site.crawl({"a": "1", "a/b": "1", "c?x=1": "1", "": "home"}, urls=[ok(""), ok("a"), ok("a/b"), ok("c?x=1")])
    first = site.document("a", Page("1"), "2026-01-01 01:00:00")
    yield site.crawl({}, urls=None)
    yield site.crawl(
        {"a": "2"}, ("a/b",), [ok(""), ok("a"), ok("a/b", 404), ok("c?x=1"), ok("new", 0, error="timeout")]
    )
    yield site.crawl({"guest": "g", "c?x=1": "2"}, kind="guest")
    yield site.commit({"a/data.files/words.txt": b"7"}, "2026-01-01T03:00:00@example.org", "add")
    second = site.document("a", Page("2"), "2026-01-01 03:00:00").replace(b"<data/>", b"<data><words>7</words></data>")
    yield site.commit({"a/data.xml": second}, "2026-01-01T03:00:00@example.org", "node")
    yield site.crawl({"a": Page("2", "text/plain", file="data.txt")}, urls=[ok(""), ok("a")], definition="d2")
    yield site.crawl({"a": Page("2", "text/x-other", file="data.txt"), "a/b": "1"}, urls=[ok(""), ok("a/b")])
    yield site.crawl({}, ("a", "guest"), [ok("", 500), ok("a", 404, error="http-404"), ok("a/b", mark="unlinked")])
    yield site.crawl({"a": "3"}, urls=[ok(""), ok("a"), ok("a/b")])
    yield site.commit({"README": b"mine"}, "a note", "")
    yield site.commit({"a/data.xml": first, "c%_3Fx=1/data.xml": None}, "back to the first", "")
    yield site.crawl({"a": "4"}, urls=None, definition="d2")


def rows_of(index: Index, *domains: str) -> dict[str, Any]:
    """Everything that the index says about some domains."""
    return {
        domain: {
            "commit": index.indexed_commit(domain),
            "versions": list(index.versions(domain)),
            "current": list(index.current_arcs(domain)),
            "crawls": index.crawls(domain),
            "sightings": sorted(index.sightings(domain)),
            "definitions": index.definitions(domain),
        }
        for domain in domains
    }
