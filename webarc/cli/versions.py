"""What the commands that read versions share: the open catalog and a version as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from typing import TYPE_CHECKING, TypeVar

from webarc.cli.patience import Patience

if TYPE_CHECKING:
    from webarc.archive.catalog import Catalog, Page
    from webarc.archive.store import Archive
    from webarc.cli.context import Context
    from webarc.sql.rows import VersionRow

T = TypeVar("T")


@contextmanager
def opened(context: Context) -> Iterator[Catalog]:
    """The catalog of the archive in use; an index that may not be written to is read as it stands."""
    from webarc.archive.catalog import Catalog
    from webarc.cli.takedowns import finish_interrupted
    from webarc.sql.index import Index

    patience = Patience(context)

    def moved(domain: str, versions: int) -> None:
        patience(f"{domain}: reading what is new into the index, {versions} versions so far")

    archive = context.archive()
    finish_interrupted(context)
    index = Index.to_read(context.database_url())
    try:
        with Catalog(archive, index, warn=context.warn, on_progress=moved) as catalog:
            yield catalog
    finally:
        index.close()


def chosen_domain(context: Context, catalog: Catalog, text: str, *, exact: bool = False) -> str:
    """The domain that a text means; that a path in it says nothing is told."""
    domain = catalog.domain(text, exact=exact)
    note_path(context, text, domain)
    return domain


def named(context: Context, archive: Archive, texts: tuple[str, ...]) -> list[str] | None:
    """The domains that are named, damaged ones included; None if none is."""
    from webarc.archive.roster import named_domain

    found = [named_domain(archive, text) for text in texts]
    for text, domain in zip(texts, found, strict=True):
        note_path(context, text, domain)
    return list(dict.fromkeys(found)) or None


def note_path(context: Context, text: str, domain: str) -> None:
    """Tell of a page that was named where a domain is wanted."""
    from webarc.archive.spellings import beyond_domain

    if path := beyond_domain(text):
        context.note(f"the path /{path} is ignored; all of {domain} is meant.")


def note_stand_in(context: Context, catalog: Catalog, page: Page, row: VersionRow, text: str) -> None:
    """Tell where the version of a time, or of a crawl, may have been another one that is not there any more."""
    gap = (
        catalog.gaps(page.domain).after(page.arc, row.number)
        if row.commit_tag != text and page.has_gap_after(row)
        else None
    )
    if gap is not None:
        which = "it" if len(gap.numbers) == 1 else "one of them"
        context.note(f"{gap}; {which} may have been current then, this is version {row.number}.")


def version_json(row: VersionRow) -> dict[str, object]:
    """A version as every `--json` has it."""
    return {
        "number": row.number,
        "url": row.url,
        "crawlTime": row.crawl_time,
        "commitTag": row.commit_tag,
        "status": row.status,
        "mimeType": row.mime_type,
        "size": row.length,
        "sha256": row.sha256,
        "title": row.title,
    }


def peeked(items: Iterator[T]) -> Iterator[T] | None:
    """The same items, or None if there are none."""
    for first in items:
        return chain((first,), items)
    return None
