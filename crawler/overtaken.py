"""Pages of a crawl's own domain that a guest of another crawl brought while it ran.

What the guest brought stands at the tip and has the later crawl time. The same bytes make no version. Other bytes go
into a commit of their own, whose crawl time follows that of the guest, so that versions stay in the order of time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from webarc.archive import times
from webarc.archive.document import parse, render
from webarc.archive.importer import Importer
from webarc.archive.layout import METADATA
from webarc.archive.metadata import Metadata, Response, commit_tag
from webarc.archive.objects import ObjectReader
from webarc.archive.reports import parse_crawl, render_crawl
from webarc.archive.repository import Repository
from webarc.crawler.capture import Known, Order
from webarc.crawler.job import sentence
from webarc.crawler.outdated import drop_outdated

_CRAWL = "/crawl.xml"


@dataclass(frozen=True, slots=True)
class Overtaken:
    """A page that this crawl brings, too; `is_same` tells whether the guest brought the same version."""

    arc: str
    meta: Metadata
    is_same: bool

    @property
    def name(self) -> str:
        """The name of its document."""
        return self.meta.response.file


def overtaken(
    repository: Repository, base: str | None, staged: Path, reader: ObjectReader, parent: str
) -> Iterator[Overtaken]:
    """The pages in a temp dir of which others have come since a commit; what this crawl has of them is left there."""
    if base == parent:
        return
    for arc in sorted(_brought_since(repository, base)):
        document = staged / arc / METADATA
        stored = reader.read(f"{parent}:{arc}/{METADATA}") if document.is_file() else None
        if stored is not None:
            meta = parse(document.read_bytes())
            yield Overtaken(arc, meta, same_version(parse(stored).response, meta.response))


def same_version(one: Response, two: Response) -> bool:
    """Whether two answers are one version: the same bytes, type and character set."""
    return (one.sha256, one.declared_type, one.charset) == (two.sha256, two.declared_type, two.charset)


def leave_out(importer: Importer, staged: Path, found: Sequence[Overtaken]) -> None:
    """The crawl's own commit does not have these pages."""
    for each in found:
        importer.discard(f"{each.arc}/{each.name}")
        importer.discard(f"{each.arc}/{METADATA}")
        if each.is_same:
            # It must not be taken for the one that git has.
            (staged / each.arc / METADATA).unlink()


def commit_later(
    repository: Repository, staged: Path, others: Sequence[Overtaken], reader: ObjectReader, tip: str, crawl_time: str
) -> str:
    """Commit the pages that are other versions than the guest's, on top of the crawl's own commit; the commitTag."""
    tag = commit_tag(crawl_time, repository.domain)
    with repository.importer() as importer:
        for each in others:
            document = staged / each.arc / METADATA
            document.write_bytes(render(replace(each.meta, crawl_time=crawl_time, commit_tag=tag)))
            importer.add(f"{each.arc}/{each.name}", staged / each.arc / each.name)
            importer.add(f"{each.arc}/{METADATA}", document)
        drop_outdated(importer, reader, tip, ((each.arc, each.name) for each in others), ())
        message = f"{tag}\n\nnew 0, changed {len(others)}\n\nWebarc-Kind: guest\n"
        importer.commit(tip, message, times.now(), None)
    return tag


def recounted(order: Order, same: Sequence[Known]) -> Order:
    """The order, its report with the pages that turned out to be no versions among the unchanged ones."""
    source = next((Path(source) for path, source in order.reports if path.endswith(_CRAWL)), None)
    if not same or source is None:
        return order
    record = parse_crawl(source.read_bytes())
    changed = sum(replaces for _, replaces in same)
    moved = {"new": changed - len(same), "changed": -changed, "unchanged": len(same)}
    counts = record.counts | {name: record.counts[name] + by for name, by in moved.items()}
    source.write_bytes(render_crawl(replace(record, counts=counts)))
    return replace(order, body=sentence(counts, record.reason))


def _brought_since(repository: Repository, base: str | None) -> set[str]:
    paths = (change.path for _, changes in repository.changes_since(base) for change in changes)
    return {path.rpartition("/")[0] for path in paths if path.endswith(f"/{METADATA}")}
