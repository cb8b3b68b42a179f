"""What is known about one version of one file: the specification's eight fields and the response they came with."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Response:
    """How the server answered when this version was fetched."""

    status: int
    url: str
    http_version: str
    declared_type: str
    charset: str
    etag: str
    last_modified: str
    file: str
    length: int
    sha256: str
    headers: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Metadata:
    """One record per stored version; times are `yyyy-mm-dd hh:mm:ss` in CET, `path` is relative to the archive."""

    url: str
    mime_type: str
    title: str | None
    path: str
    domain: str
    crawl_time: str
    create_time: str
    commit_tag: str
    response: Response


Plain = tuple[str, str, str | None, str, str, str, str, str, tuple[int, str, str, str, str, str, str, str, int, str]]


def to_plain(meta: Metadata) -> Plain:
    """Metadata without the headers as values that pass through a pipe at little cost."""
    answer = meta.response
    response = (
        *(answer.status, answer.url, answer.http_version, answer.declared_type, answer.charset),
        *(answer.etag, answer.last_modified, answer.file, answer.length, answer.sha256),
    )
    return (
        *(meta.url, meta.mime_type, meta.title, meta.path, meta.domain),
        *(meta.crawl_time, meta.create_time, meta.commit_tag, response),
    )


def from_plain(values: Plain) -> Metadata:
    """What `to_plain` was given, without the headers."""
    url, mime_type, title, path, domain, crawl_time, create_time, tag, response = values
    return Metadata(url, mime_type, title, path, domain, crawl_time, create_time, tag, Response(*response, ()))


def commit_tag(crawl_time: str, domain: str) -> str:
    """`2026-11-15T23:50:00@example.org`: what finds a version again in git."""
    return f"{crawl_time.replace(' ', 'T')}@{domain}"
