"""The archive side of a crawl: turns captures into ARC folders, lets filters judge them, commits and indexes.

It runs in a process of its own, fed through a pipe, so that typing, describing and packing one page happens while the
next ones are fetched. Blobs go to git as they come; nothing refers to them until the commit at the end.
"""

from __future__ import annotations

import marshal
import os
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from time import monotonic

from webarc.archive import times
from webarc.archive.clone import is_clone
from webarc.archive.document import parse, render
from webarc.archive.importer import Importer
from webarc.archive.layout import METADATA, domain_folder
from webarc.archive.metadata import Metadata, Plain, Response, commit_tag, to_plain
from webarc.archive.mime import data_name, extension, type_of
from webarc.archive.objects import ObjectReader
from webarc.archive.repository import Repository
from webarc.archive.staging import remove_tree
from webarc.archive.store import Archive
from webarc.archive.worktree import bring, mend
from webarc.crawler.capture import PART, Capture, Committed, Known, Landed, LeftOut, Order, Own, Verdicts
from webarc.crawler.outdated import drop_outdated
from webarc.crawler.overtaken import Overtaken, commit_later, leave_out, overtaken, recounted, same_version
from webarc.errors import Locked, Stopped, UsageProblem, WebarcError
from webarc.filters.chain import Chain
from webarc.waiting import longest

_HEAD = 8_192
# What is left to wait for the crawl's own domains, should its guests have taken up all the time there is.
_LEAST_WAIT = 1.0
# What was written lately need not be read again for the index; a million pages must not fill the memory.
_MOST_DOCUMENTS = 20_000


@dataclass(slots=True)
class _Kept:
    """A file that passed the filters."""

    arc: str
    name: str
    replaces: bool = False


class _Site:
    """What the keeper holds for one domain until it is committed."""

    def __init__(self, repository: Repository, staged: Path, crawl_time: str, *, owned: bool) -> None:
        self.repository = repository
        self.staged = staged
        self.crawl_time = crawl_time
        self.owned = owned
        self.importer: Importer | None = None
        self.base = repository.tip() if repository.exists() else None
        self.is_taken = False
        self.count = 0
        self.waiting: list[_Kept] = []
        self.replacing: list[_Kept] = []
        self.documents: dict[str, Plain] = {}

    @property
    def tag(self) -> str:
        """The commitTag under which this domain's captures go in."""
        return commit_tag(self.crawl_time, self.repository.domain)

    def note(self, kept: _Kept) -> None:
        """Remember a file as far as the commit will need it: a million new pages must not fill the memory."""
        self.count += 1
        if kept.replaces:
            self.replacing.append(kept)
        if not self.owned:
            self.waiting.append(kept)

    def open_importer(self) -> Importer:
        """The running fast-import of this domain, started when first needed."""
        if self.importer is None:
            self.repository.create()
            self.importer = self.repository.importer()
        return self.importer


class Keeper:
    """Keeps what one crawl brings."""

    def __init__(self, archive: Archive, staging: Path, chain: Chain, start: datetime) -> None:
        self._archive = archive
        self._staging = staging
        self._chain = chain
        self._start = times.text(start)
        self._sites: dict[str, _Site] = {}
        self._new: Counter[str] = Counter()
        self._changed: Counter[str] = Counter()
        self._filtered: Counter[str] = Counter()
        self._drops: list[tuple[str, int]] = []
        self._problems: list[str] = []
        self._patience = longest()

    def own(self, message: Own) -> None:
        """Captures of this domain belong to the crawl itself and are packed as they come."""
        site = self._sites.get(message.domain)
        if site is None:
            self._sites[message.domain] = self._site(message.domain, message.crawl_time, owned=True)
        else:
            # A guest until now: what it brought waits, and goes in with the rest under the crawl's own time.
            site.owned, site.crawl_time = True, message.crawl_time

    def keep(self, capture: Capture, body: memoryview | None = None) -> None:
        """Describe one capture, let the filters judge it and hand it to git; without a body, it is in the temp dir."""
        site = self._sites.get(capture.domain)
        if site is None:
            site = self._sites[capture.domain] = self._guest_of(capture.domain)
        folder = f"{site.staged}/{capture.arc}"
        if site.is_taken:
            self._refuse(capture, Path(folder, PART))
            return
        name, mime_type = self._named(capture, folder, body)
        document = f"{folder}/{name}"
        if body is None:
            Path(folder, PART).rename(document)
        else:
            _make_folder(folder)
            _write(document, body)
        meta = _described(capture, site, mime_type, name)
        description = render(meta)
        _write(f"{folder}/{METADATA}", description)
        refusal = self._judged(document, body, description)
        if refusal:
            self._drop(capture, Path(folder), name, refusal)
            return
        (self._changed if capture.replaces else self._new)[capture.domain] += 1
        site.note(_Kept(capture.arc, name, capture.replaces is not None))
        if site.owned:
            importer = site.open_importer()
            if body is None:
                importer.add(f"{capture.arc}/{name}", Path(document))
            else:
                importer.add_bytes(f"{capture.arc}/{name}", body)
            blob = importer.add_bytes(f"{capture.arc}/{METADATA}", description)
            if len(site.documents) < _MOST_DOCUMENTS:
                site.documents[blob] = to_plain(meta)

    def _judged(self, document: str, body: memoryview | None, description: bytes) -> str | None:
        """The filter that drops a document; what filters have done to the files meanwhile is undone."""
        if not self._chain.asks:
            return None
        metadata = f"{os.path.dirname(document)}/{METADATA}"  # noqa: PTH120 - as below
        before = (_stamp(document), _stamp(metadata))
        refusal = self._chain.verdict(document)
        if refusal or (_stamp(document), _stamp(metadata)) == before:
            return refusal
        if body is None and _stamp(document) != before[0]:
            return "changed"  # there is no other copy of a large file
        self._chain.blame(document)
        if body is not None:
            _write(document, body)
        _write(metadata, description)
        return None

    def _named(self, capture: Capture, folder: str, body: memoryview | None) -> tuple[str, str]:
        """The name of the document in its ARC folder, and its MIME type by content."""
        part = f"{folder}/{PART}"
        head = bytes(body[:_HEAD]) if body is not None else _head_of(part)
        mime_type = type_of(part, head, capture.declared_type)
        return data_name(extension(capture.url, mime_type)), mime_type

    def verdicts(self) -> Verdicts:
        """What came of the captures so far."""
        drops, self._drops = self._drops, []
        problems = [*self._chain.problems, *self._problems]
        return Verdicts(dict(self._new), dict(self._changed), dict(self._filtered), drops, problems)

    def seal(self) -> None:
        """No more captures will come: finish the packs while the fetch side makes its report."""
        for site in self._sites.values():
            if site.owned and site.importer is not None and not site.waiting:
                site.importer.seal()

    def commit(self, orders: list[Order]) -> Iterator[Landed | Committed | LeftOut]:
        """Commit guests first and the crawl's own domains last; says when each has landed and when it is brought.

        All waits for locks together take no longer than one may. A guest that is locked until then is left out: a
        picture from elsewhere is not worth the crawl.
        """
        mine = {order.domain for order in orders}
        guests = [Order(domain, (), (), "") for domain in self._sites if domain not in mine]
        for order in [*guests, *orders]:
            site = self._sites[order.domain]
            if site.count or order.reports:
                yield from self._commit(site, order)

    def abort(self) -> None:
        """Let go of everything; nothing was committed."""
        for site in self._sites.values():
            if site.importer is not None:
                site.importer.abort()

    def _site(self, domain: str, crawl_time: str, *, owned: bool) -> _Site:
        repository = self._archive.repository(domain)
        return _Site(repository, self._staging / domain_folder(domain), crawl_time, owned=owned)

    def _guest_of(self, domain: str) -> _Site:
        """A domain that is not the crawl's own; what stands in its place must not cost the crawl its own pages."""
        site = self._site(domain, self._start, owned=False)
        try:
            site.repository.check_place()
            _check_clone(site.repository)
        except WebarcError as problem:
            site.is_taken = True
            self._problems.append(f"nothing can be stored for {domain}: {problem}")
        return site

    def _refuse(self, capture: Capture, part: Path) -> None:
        part.unlink(missing_ok=True)
        self._filtered[capture.domain] += 1
        self._drops.append(("place", capture.row))

    def _drop(self, capture: Capture, folder: Path, name: str, refusal: str) -> None:
        (folder / name).unlink(missing_ok=True)
        (folder / METADATA).unlink(missing_ok=True)
        self._filtered[capture.domain] += 1
        self._drops.append((f"filter:{refusal}", capture.row))
        _remove_empty(folder, self._staging)

    def _commit(self, site: _Site, order: Order) -> Iterator[Landed | Committed | LeftOut]:
        repository = site.repository
        warnings: list[str] = []
        with ExitStack() as stack:
            try:
                stack.enter_context(self._locked(site))
            except (Locked, Stopped) as error:
                if site.owned:
                    raise
                yield LeftOut(order.domain, tuple(_known(site, kept) for kept in site.waiting), str(error))
                return
            importer = site.open_importer()
            warnings += mend(repository)
            parent = repository.tip()
            reader = stack.enter_context(repository.reader()) if parent else None
            same = self._stamp(site, importer, reader, parent) if site.waiting else []
            others: list[Overtaken] = []
            if not site.owned and not site.replacing:
                importer.abort()
                yield Committed(order.domain, "", "", tuple(warnings), tuple(same))
                return
            if parent and reader:
                others = self._give_way(site, importer, reader, parent, same)
                replacing = ((kept.arc, kept.name) for kept in site.replacing)
                drop_outdated(importer, reader, parent, replacing, order.removals)
            order = recounted(order, same)
            for path, source in order.reports:
                importer.add(path, Path(source))
            kind = "crawl" if site.owned else "guest"
            body = order.body or f"new {self._new[order.domain]}, changed {self._changed[order.domain]}"
            message = f"{site.tag}\n\n{body}\n\nWebarc-Kind: {kind}\n"
            commit = importer.commit(parent, message, times.now(), site.tag if site.owned else None)
            later = ""
            if others and reader:
                crawl_time = self._archive.reserve(order.domain, times.parse(self._start))
                later = commit_later(repository, site.staged, others, reader, commit, crawl_time)
            yield Landed(order.domain, marshal.dumps(site.documents))
            warnings += bring(repository, site.staged, exact=site.owned and parent is None and not self._chain.asks)
        yield Committed(order.domain, site.tag, commit, tuple(dict.fromkeys(warnings)), tuple(same), later)
        remove_tree(site.staged)

    def _give_way(
        self, site: _Site, importer: Importer, reader: ObjectReader, parent: str, same: list[Known]
    ) -> list[Overtaken]:
        """Leave out what a guest of another crawl brought meanwhile; returns the pages that are other versions."""
        if not site.owned:
            return []
        found = list(overtaken(site.repository, site.base, site.staged, reader, parent))
        leave_out(importer, site.staged, found)
        replaces = {kept.arc: kept.replaces for kept in site.replacing}
        same += [(each.meta.url, replaces.get(each.arc, False)) for each in found if each.is_same]
        arcs = {each.arc for each in found}
        site.replacing = [kept for kept in site.replacing if kept.arc not in arcs]
        return [each for each in found if not each.is_same]

    @contextmanager
    def _locked(self, site: _Site) -> Iterator[None]:
        """The tree lock of a site; the time that it is waited for is taken from what is left for the others."""
        wait, began = self._patience, monotonic()
        if wait is not None and site.owned:
            wait = max(wait, min(_LEAST_WAIT, longest() or 0.0))
        with ExitStack() as stack:
            try:
                stack.enter_context(self._archive.lock_tree(site.repository.domain, wait=wait))
            finally:
                if self._patience is not None:
                    self._patience = max(self._patience - (monotonic() - began), 0.0)
            yield

    def _stamp(self, site: _Site, importer: Importer, reader: ObjectReader | None, parent: str | None) -> list[Known]:
        """Guests learn their crawl time only now, under the lock, so that it follows every commit before it.

        The same goes for what came before the crawl owned a domain. Returns what another crawl has brought meanwhile:
        the same bytes, which make no version.
        """
        same: list[Known] = []
        if not site.owned:
            site.crawl_time = self._archive.reserve(site.repository.domain, times.parse(self._start))
        for kept in site.waiting:
            document = site.staged / kept.arc / METADATA
            meta = parse(document.read_bytes())
            stored = reader.read(f"{parent}:{kept.arc}/{METADATA}") if reader else None
            if stored is not None and same_version(parse(stored).response, meta.response):
                document.unlink()
                same.append((meta.url, kept.replaces))
                (self._changed if kept.replaces else self._new)[site.repository.domain] -= 1
                continue
            site.replacing.append(kept)
            document.write_bytes(render(replace(meta, crawl_time=site.crawl_time, commit_tag=site.tag)))
            importer.add(f"{kept.arc}/{kept.name}", site.staged / kept.arc / kept.name)
            importer.add(f"{kept.arc}/{METADATA}", document)
        return same


def _check_clone(repository: Repository) -> None:
    if is_clone(repository.git_dir):
        from webarc.archive.adoption import refusal  # few archives ever need it

        if wrong := refusal(repository):
            raise UsageProblem(wrong)


def _known(site: _Site, kept: _Kept) -> Known:
    return parse((site.staged / kept.arc / METADATA).read_bytes()).url, kept.replaces


@lru_cache(maxsize=1024)
def _created(last_modified: str, received: float) -> str:
    """When a document was made, as text; many of a site say the same."""
    return times.text(times.created(last_modified, datetime.fromtimestamp(received, times.CET)))


def _described(capture: Capture, site: _Site, mime_type: str, name: str) -> Metadata:
    last_modified = capture.header("last-modified")
    return Metadata(
        url=capture.url,
        mime_type=mime_type,
        title=capture.title,
        path=f"{domain_folder(capture.domain)}/{capture.arc}",
        domain=capture.domain,
        crawl_time=site.crawl_time,
        create_time=_created(last_modified, capture.received),
        commit_tag=site.tag,
        response=Response(
            status=capture.status,
            url=capture.url,
            http_version=capture.http_version,
            declared_type=capture.declared_type,
            charset=capture.charset,
            etag=capture.header("etag"),
            last_modified=last_modified,
            file=name,
            length=capture.length,
            sha256=capture.sha256,
            headers=capture.headers,
        ),
    )


def _head_of(file: str) -> bytes:
    with Path(file).open("rb") as stream:
        return stream.read(_HEAD)


def _make_folder(folder: str) -> None:
    try:
        os.mkdir(folder)  # noqa: PTH102 - plain calls here and below: they are made for every page of a crawl
    except FileExistsError:
        return
    except FileNotFoundError:
        os.makedirs(folder, exist_ok=True)  # noqa: PTH103


def _write(path: str, data: bytes | memoryview) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o644)
    try:
        written = os.write(descriptor, data)
        while written < len(data):
            written += os.write(descriptor, memoryview(data)[written:])
    finally:
        os.close(descriptor)


def _stamp(path: str) -> tuple[int, int, int] | None:
    """What tells that somebody has written to a file, or put another in its place."""
    try:
        status = os.lstat(path)
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns


def _remove_empty(folder: Path, root: Path) -> None:
    while folder != root:
        try:
            folder.rmdir()
        except OSError:
            return
        folder = folder.parent
