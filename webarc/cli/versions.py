"""What the commands that read versions share: the open catalog and a version as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from typing import TYPE_CHECKING, TypeVar

from webarc.cli.patience import Patience

if TYPE_CHECKING:
    from webarc.archive.catalog import Catalog
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


def chosen_domain(context: Context, catalog: Catalog, text: str) -> str:
    """The domain that a text means; that a path in it says nothing is told."""
    domain = catalog.domain(text)
    note_paths(context, (text,))
    return domain


def note_paths(context: Context, texts: Iterable[str]) -> None:
    """Tell of pages that were named where a domain is wanted."""
    from webarc.archive.spellings import beyond_domain, domain_spellings

    for text in texts:
        if path := beyond_domain(text):
            context.note(f"the path /{path} is ignored; all of {domain_spellings(text)[0]} is meant.")


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
