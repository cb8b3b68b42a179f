"""From git to the index: the only writer of its rows, for crawls and recovery alike, so that both write the same."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict
from itertools import groupby, islice
from operator import itemgetter

from webarc.archive.document import parse
from webarc.archive.history import Change, Commit
from webarc.archive.layout import INTERNAL, METADATA, arc_file, domain_folder
from webarc.archive.loss import refuse_loss
from webarc.archive.metadata import Metadata
from webarc.archive.numbering import Numbering
from webarc.archive.objects import ObjectReader
from webarc.archive.reports import UrlRow, parse_crawl, read_urls
from webarc.archive.repository import Repository
from webarc.archive.walk import Note, Walk, commits_beyond, legible_commits
from webarc.errors import BadDocument, Damaged
from webarc.sql.batch import Batch, Row
from webarc.sql.index import Index
from webarc.sql.rows import DefinitionRow

# A commit of a million pages is written in several transactions, an ordinary crawl in one.
_ROWS_AT_A_TIME = 40_000
_ARCS_AT_A_TIME = 1_000
_REPORTS = f"{INTERNAL}/crawls/"
Progress = Callable[[str, int], None]
_Folder = tuple[str, dict[str, Change]]


class _MovedOn(Exception):
    """Someone else has indexed the domain meanwhile."""


def catch_up(
    repo: Repository,
    index: Index,
    on_problem: Note | None = None,
    on_progress: Progress | None = None,
    rows_at_a_time: int = _ROWS_AT_A_TIME,
    known: Mapping[str, Metadata] | None = None,
) -> int:
    """Write what git holds beyond the index; returns how many versions that were.

    The rows of a domain without a commit are removed; if its repository is gone, with versions that the index knows,
    that raises Damaged. What is damaged in git is left out.
    `on_problem` gets a sentence for everything that cannot be read, `on_progress` the domain and the versions so far.
    `known` holds documents by blob that the caller has written itself and that need not be read from git again.
    """
    note = on_problem or _unheard
    versions = 0
    while tip := repo.tip() if repo.exists() else None:
        after = index.indexed_commit(repo.domain)
        if after == tip:
            return versions
        with repo.reader() as reader:
            commits = legible_commits(repo, reader, note) if after is None else commits_beyond(repo, reader, after)
            if commits is None:
                # History was rewritten: what is indexed of it is not true any more.
                index.forget(repo.domain)
                continue
            batch = Batch(repo.domain, domain_folder(repo.domain), after)
            numbering = Numbering(reader, tip, index, repo.domain, note)
            reading = _Reading(repo, reader, index, batch, rows_at_a_time, note, numbering)
            reading.on_progress, reading.known = on_progress, known or {}
            with suppress(_MovedOn):
                reading.read(commits)
            versions += reading.versions
    refuse_loss(repo, index)
    if index.knows(repo.domain):
        # The repository is empty, and so is what was true of it.
        index.forget(repo.domain)
    return versions


class _Reading:
    """One walk over commits; nothing of git is touched while rows are being written."""

    def __init__(
        self,
        repo: Repository,
        reader: ObjectReader,
        index: Index,
        batch: Batch,
        limit: int,
        note: Note,
        numbering: Numbering,
    ) -> None:
        self._reader, self._index, self._batch, self._limit, self._note = reader, index, batch, limit, note
        self._numbering = numbering
        self._walk = Walk(repo, reader, batch.after, note)
        self._definitions = index.definitions(repo.domain)
        self.on_progress: Progress | None = None
        self.known: Mapping[str, Metadata] = {}
        self.versions = 0

    def read(self, commits: list[Commit]) -> None:
        """Index these commits, oldest first."""
        for commit, changes in self._walk.over(commits):
            self._read_commit(commit, changes)
            self._batch.end(commit.id)
            self._write_if_full()
        self._write()

    def _read_commit(self, commit: Commit, changes: Iterable[Change]) -> None:
        reports: list[_Folder] = []
        arcs = _by_folder(changes, reports)
        while part := list(islice(arcs, _ARCS_AT_A_TIME)):
            self._read_arcs(commit, part)
            self._write_if_full()
        for folder, files in reports if self._walk.makes_versions(commit) else ():
            self._read_report(commit, folder.removeprefix(_REPORTS), files)

    def _read_arcs(self, commit: Commit, arcs: list[_Folder]) -> None:
        for arc, files in arcs:
            if files[METADATA].status == "D":
                self._batch.removed(arc, commit.tag)
        written = [(arc, files) for arc, files in arcs if files[METADATA].status != "D"]
        unknown = [files[METADATA].blob for _, files in written if files[METADATA].blob not in self.known]
        documents = self._reader.read_many(unknown)
        for arc, files in written:
            meta = self.known.get(files[METADATA].blob) or self._metadata(commit, arc, next(documents))
            self._read_arc(commit, arc, files, meta)

    def _read_arc(self, commit: Commit, arc: str, files: dict[str, Change], meta: Metadata | None) -> None:
        document = files[METADATA]
        if meta is None:
            self._batch.lost(arc)
        elif self._walk.is_version(commit, meta.commit_tag):
            content = files.get(meta.response.file)
            blob = content.blob if content is not None and content.status != "D" else None
            number = self._numbering.number(arc, meta.commit_tag)
            self._batch.version(arc, meta.commit_tag, _columns(meta, document.blob, blob), number)
        else:
            # A node was added, or a user committed by hand: that makes no version, whatever it did.
            self._batch.touched(arc, meta.commit_tag, document.blob, commit.tag)

    def _metadata(self, commit: Commit, arc: str, data: bytes | Damaged | None) -> Metadata | None:
        try:
            return parse(_there(data))
        except Damaged as problem:
            # What a user commits by hand owes nothing to our schema; `webarc verify` tells of it.
            if commit.kind or not isinstance(data, bytes):
                self._name(commit, f"{arc}/{METADATA}", problem)
            return None

    def _name(self, commit: Commit, path: str, problem: Damaged) -> None:
        self._note(f"{self._batch.folder}/{path} of {commit.tag} was left out: {problem}")

    # -- reports of crawls ------------------------------------------------------------------------------------

    def _read_report(self, commit: Commit, definition: str, files: dict[str, Change]) -> None:
        crawl, urls = files.get("crawl.xml"), files.get("urls.xml")
        known = self._definitions.get(definition)
        last_tag, blob = (commit.tag, known.urls_blob if known else None)
        if crawl is not None and crawl.status != "D":
            self._read_crawl(commit, f"{_REPORTS}{definition}/crawl.xml", crawl)
        if urls is not None:
            blob = None if urls.status == "D" else urls.blob
            blob = self._read_outcomes(commit, definition, known, blob)
        if crawl is not None and crawl.status == "D" and known:
            last_tag = known.last_tag
        self._batch.moved_on(definition, last_tag, blob)
        self._definitions[definition] = DefinitionRow(definition, last_tag, blob)

    def _read_crawl(self, commit: Commit, path: str, crawl: Change) -> None:
        try:
            self._batch.crawl(asdict(parse_crawl(_there(self._reader.read(crawl.blob)))))
        except Damaged as problem:
            self._name(commit, path, problem)

    def _read_outcomes(
        self, commit: Commit, definition: str, known: DefinitionRow | None, blob: str | None
    ) -> str | None:
        """Write where the outcomes differ from those before; returns the blob that the rows now stand for."""
        before = self._outcomes_before(commit, definition, known)
        try:
            after = read_urls(_there(self._reader.read(blob))) if blob else iter(())
            for old, new in _differences(before, after):
                if old is not None and known is not None:
                    self._batch.closed(definition, commit.tag, old.url, known.last_tag)
                if new is not None:
                    self._batch.opened(definition, commit.tag, (new.url, new.status, new.error, new.target, new.mark))
                self._write_if_full()
        except Damaged as problem:
            self._name(commit, f"{_REPORTS}{definition}/urls.xml", problem)
            self._close_all(commit, definition, known)
            return None
        return blob

    def _outcomes_before(self, commit: Commit, definition: str, known: DefinitionRow | None) -> Iterator[UrlRow]:
        if known is None:
            return iter(())
        try:
            if known.urls_blob is not None:
                # It was read when it was indexed, so it can be read again, or not at all.
                return read_urls(_there(self._reader.read(known.urls_blob)))
        except Damaged:
            pass
        self._close_all(commit, definition, known)
        return iter(())

    def _close_all(self, commit: Commit, definition: str, known: DefinitionRow | None) -> None:
        if known is not None:
            self._batch.closed_all(definition, commit.tag, known.last_tag)

    # -- writing ----------------------------------------------------------------------------------------------

    def _write_if_full(self) -> None:
        if self._batch.size >= self._limit:
            self._write()

    def _write(self) -> None:
        batch = self._batch
        if not self._index.write(batch):
            raise _MovedOn
        self.versions += batch.versions
        self._batch = Batch(batch.domain, batch.folder, batch.upto or batch.after)
        if self.on_progress is not None:
            self.on_progress(batch.domain, self.versions)


def _by_folder(changes: Iterable[Change], reports: list[_Folder]) -> Iterator[_Folder]:
    """The ARCs whose document changed, with all that changed there; the crawls' reports are put aside."""
    # Git lists the files of a folder side by side; only data.files may stand between them.
    for folder, places in groupby(_places(changes), key=itemgetter(0)):
        files = {name: change for _, name, change in places}
        if folder.startswith(_REPORTS):
            reports.append((folder, files))
        elif METADATA in files:
            yield folder, files


def _places(changes: Iterable[Change]) -> Iterator[tuple[str, str, Change]]:
    for change in changes:
        if change.path.startswith(_REPORTS):
            folder, _, name = change.path.rpartition("/")
            yield folder, name, change
        elif place := arc_file(change.path):
            yield *place, change


def _there(data: bytes | Damaged | None) -> bytes:
    if data is None:
        raise BadDocument("git does not have it any more; restore the repository from a backup.")
    if isinstance(data, Damaged):
        raise data
    return data


def _unheard(_problem: str) -> None:
    pass


def _differences(old: Iterator[UrlRow], new: Iterator[UrlRow]) -> Iterator[tuple[UrlRow | None, UrlRow | None]]:
    """Rows of two sorted reports that are not the same: what was, what is, or both for one URL."""
    before, after = next(old, None), next(new, None)
    while before is not None or after is not None:
        if after is None or (before is not None and before.url < after.url):
            yield before, None
            before = next(old, None)
        elif before is None or after.url < before.url:
            yield None, after
            after = next(new, None)
        else:
            if before != after:
                yield before, after
            before, after = next(old, None), next(new, None)


def _columns(meta: Metadata, document_blob: str, data_blob: str | None) -> Row:
    response = meta.response
    return {
        "url": meta.url,
        "mime_type": meta.mime_type,
        "title": meta.title,
        "crawl_time": meta.crawl_time,
        "create_time": meta.create_time,
        "status": response.status,
        "final_url": response.url,
        "http_version": response.http_version,
        "declared_type": response.declared_type,
        "charset": response.charset,
        "etag": response.etag,
        "last_modified": response.last_modified,
        "file": response.file,
        "length": response.length,
        "sha256": response.sha256,
        "document_blob": document_blob,
        "data_blob": data_blob,
    }
