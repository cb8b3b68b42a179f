"""The proof of a domain's history: every document is valid, and every version's bytes are those that it describes.

One pass over the commits. What a user committed by hand is the user's own: it is read, but owes nothing to a schema.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING

from webarc.archive.digests import Digest, Digests
from webarc.archive.document import parse
from webarc.archive.findings import BACKUP, LOST, NOTE, Finding
from webarc.archive.history import Change, Commit
from webarc.archive.layout import INTERNAL, METADATA, arc_file, domain_folder
from webarc.archive.objects import ObjectReader
from webarc.archive.reports import parse_crawl, read_urls
from webarc.archive.repository import Repository
from webarc.archive.tombstones import FORGOTTEN
from webarc.archive.tombstones import parse as parse_tombstones
from webarc.archive.walk import Walk
from webarc.errors import BadDocument, Damaged
from webarc.schema import schema_path

if TYPE_CHECKING:
    from xmlschema import XMLSchema

    from webarc.archive.metadata import Metadata

_READ = (f"{INTERNAL}/crawls/", f"{FORGOTTEN}/")
_CLAIMS_AT_A_TIME = 2_000
_DOCUMENTS_AT_A_TIME = 1_000
_MISSING = "git does not have it any more"
DAMAGED_OBJECT = "its object in git is damaged"
Tell = Callable[[Finding], None]


@dataclass(frozen=True, slots=True)
class _Claim:
    """What a document says about the bytes beside it."""

    path: str
    blob: str
    meta: Metadata
    by_hand: bool


@dataclass(frozen=True, slots=True)
class _Alteration:
    """A file of a crawl's that a commit of the user's own replaced or removed, and what it was before."""

    commit: str
    before: str


class Proof:
    """One pass; `tell` gets every finding, `moved` now and then how many versions were seen.

    `unreadable` says in the end which commits could be read in part only.
    """

    def __init__(self, repo: Repository, reader: ObjectReader, tell: Tell, moved: Callable[[int], None]) -> None:
        self._repo, self._reader, self._tell, self._moved = repo, reader, tell, moved
        self._folder = domain_folder(repo.domain)
        self._digests = Digests(repo.git_dir, reader)
        self._files: dict[str, str] = {}
        self._by_hand: set[str] = set()
        self._altered: dict[str, _Alteration] = {}
        self._claims: list[_Claim] = []
        self._current: dict[str, str] = {}
        self._reports: set[str] = set()
        self.versions = 0
        self.unreadable: list[str] = []

    def over(self, commits: list[Commit], after: str | None) -> None:
        """Read these commits, which follow another one."""
        if after is not None:
            self._files.update((path, blob) for path, blob in self._repo.files(after) if arc_file(path))
        walk = Walk(self._repo, self._reader, after, self.unreadable.append)
        for commit, changes in walk.over(commits):
            self._read_commit(walk, commit, changes)
        self._settle_claims()
        self._ask_again()
        self._tell_altered()
        self._moved(self.versions)

    def _tell_altered(self) -> None:
        """A user may commit what they like; but that it is not what a crawl brought should be known."""
        for path, alteration in self._altered.items():
            commit = alteration.commit[:12]
            what = f"the commit {commit}, which no crawl made, altered or removed it; its versions are whole"
            cure = f"run `git revert {commit}` in {self._folder} if that was not meant"
            kind = "document" if path.endswith(f"/{METADATA}") else "bytes"
            self._tell(Finding(self._repo.domain, kind, what, cure, NOTE, path=path))

    def _read_commit(self, walk: Walk, commit: Commit, changes: Iterable[Change]) -> None:
        documents: list[tuple[str, Change]] = []
        reports: list[Change] = []
        for change in changes:
            place = arc_file(change.path)
            if place is None:
                if change.path.startswith(_READ) and change.status != "D":
                    reports.append(change)
                continue
            if place[1] == METADATA:
                documents.append((place[0], change))
            self._note_file(commit, change)
        waiting = iter(documents)
        while part := list(islice(waiting, _DOCUMENTS_AT_A_TIME)):
            self._read_documents(walk, commit, part)
        for change in reports if commit.kind else ():
            self._read_report(walk, commit, change)

    def _note_file(self, commit: Commit, change: Change) -> None:
        before = self._crawled(change.path)
        self._by_hand.discard(change.path)
        self._altered.pop(change.path, None)
        # Whoever takes back such a commit brings the same bytes again.
        if not commit.kind and before not in ("", change.blob):
            self._altered[change.path] = _Alteration(commit.id, before)
        if change.status == "D":
            self._files.pop(change.path, None)
            return
        self._files[change.path] = change.blob
        if not commit.kind and change.blob != before:
            self._by_hand.add(change.path)

    def _crawled(self, path: str) -> str:
        """The blob that webarc itself last wrote at a path; empty if it did not, or took it away."""
        if path in self._altered:
            return self._altered[path].before
        return "" if path in self._by_hand else self._files.get(path, "")

    # -- documents --------------------------------------------------------------------------------------------

    def _read_documents(self, walk: Walk, commit: Commit, documents: list[tuple[str, Change]]) -> None:
        for arc, _ in documents:
            self._current.pop(arc, None)
        written = [(arc, change) for arc, change in documents if change.status != "D"]
        for (arc, change), data in zip(written, self._reader.read_many(each.blob for _, each in written), strict=True):
            try:
                self._read_document(walk, commit, arc, change, parse(_there(data)))
            except Damaged as problem:
                lost = change.blob if not isinstance(data, bytes) else ""
                self._document(commit, change.path, _told(problem, lost), lost)
        self._moved(self.versions)

    def _read_document(self, walk: Walk, commit: Commit, arc: str, change: Change, meta: Metadata) -> None:
        if commit.kind:
            self._current[arc] = change.blob
        if walk.makes_versions(commit):
            self.versions += 1
            if not walk.is_version(commit, meta.commit_tag):
                self._document(commit, change.path, f"it carries the commitTag {meta.commit_tag!r}", "", meta)
            if (meta.path, meta.domain) != (f"{self._folder}/{arc}", self._repo.domain):
                self._document(commit, change.path, f"it is the document of {meta.path!r}", "", meta)
        self._claim(commit, f"{arc}/{meta.response.file}", meta)

    def _claim(self, commit: Commit, path: str, meta: Metadata) -> None:
        blob = self._files.get(path)
        by_hand = not commit.kind or path in self._by_hand or path in self._altered
        if blob is not None:
            self._claims.append(_Claim(path, blob, meta, by_hand))
        elif commit.kind:
            self._bytes(path, meta, "git has no such file in this crawl", "", by_hand)
        if len(self._claims) >= _CLAIMS_AT_A_TIME:
            self._settle_claims()

    def _settle_claims(self) -> None:
        found = self._digests.of({claim.blob for claim in self._claims})
        for claim in self._claims:
            wrong = _wrong(claim.meta, found[claim.blob])
            if wrong:
                lost = "" if isinstance(found[claim.blob], Digest) else claim.blob
                self._bytes(claim.path, claim.meta, wrong, lost, claim.by_hand)
        self._claims.clear()

    def _ask_again(self) -> None:
        """A second, independent validator has a look at the documents of the newest state."""
        if not self._current:
            return
        from xmlschema import XMLSchemaException

        schema = _other_checker()
        for arc, data in zip(self._current, self._reader.read_many(self._current.values()), strict=True):
            try:
                if isinstance(data, bytes):
                    schema.validate(data)
            except XMLSchemaException as problem:
                what = f"it is not a valid arc document ({' '.join(str(problem).split())[:300]})"
                self._tell(self._finding("document", what, f"{arc}/{METADATA}", "", ""))

    # -- reports ----------------------------------------------------------------------------------------------

    def _read_report(self, walk: Walk, commit: Commit, change: Change) -> None:
        if change.blob in self._reports:
            return
        data = None
        try:
            data = _there(self._reader.read(change.blob))
            if change.path.endswith("/crawl.xml"):
                record = parse_crawl(data)
                if walk.makes_versions(commit) and not walk.is_version(commit, record.commit_tag):
                    raise BadDocument(f"it is the report of {record.commit_tag!r}")
            elif change.path.endswith("/urls.xml"):
                for _ in read_urls(data):
                    pass
            elif change.path.startswith(FORGOTTEN):
                for _ in parse_tombstones(data):
                    pass
            self._reports.add(change.blob)
        except Damaged as problem:
            lost = "" if data is not None else change.blob
            self._tell(self._finding("report", _told(problem, lost), change.path, commit.tag, lost))

    # -- findings ---------------------------------------------------------------------------------------------

    def _document(self, commit: Commit, path: str, what: str, lost: str, meta: Metadata | None = None) -> None:
        by_hand = not commit.kind and not lost
        if by_hand and path in self._altered:
            return  # that will be told, and what to do about it
        finding = self._finding("document", what, path, commit.tag if commit.kind else "", lost)
        self._tell(_of(finding, meta, by_hand=by_hand))

    def _bytes(self, path: str, meta: Metadata, what: str, lost: str, by_hand: bool) -> None:
        if by_hand and not lost and path in self._altered:
            return
        finding = self._finding("bytes", what, path, meta.commit_tag, lost)
        self._tell(_of(finding, meta, by_hand=by_hand and not lost))

    def _finding(self, kind: str, what: str, path: str, commit_tag: str, lost: str) -> Finding:
        cure = LOST if lost else BACKUP
        return Finding(self._repo.domain, kind, what, cure, commit_tag=commit_tag, path=path, object_id=lost)


@cache
def _other_checker() -> XMLSchema:
    from xmlschema import XMLSchema  # heavy, and needed late

    return XMLSchema(str(schema_path("arc")))


def _of(finding: Finding, meta: Metadata | None, *, by_hand: bool) -> Finding:
    url = meta.url if meta is not None else ""
    if by_hand:
        return replace(finding, url=url, severity=NOTE, cure="it was committed by hand; nothing needs to be done")
    return replace(finding, url=url)


def _wrong(meta: Metadata, found: Digest | Damaged | None) -> str:
    """What is wrong with the bytes of a version; empty if nothing is."""
    if found is None:
        return _MISSING
    if isinstance(found, Damaged):
        return DAMAGED_OBJECT
    if found.length != meta.response.length:
        return f"git has {found.length} bytes where data.xml says {meta.response.length}"
    if found.sha256.hex() != meta.response.sha256:
        return "the bytes in git do not have the SHA-256 that data.xml says"
    return ""


def _told(problem: Damaged, lost: str) -> str:
    if lost:
        return _MISSING if isinstance(problem, BadDocument) else DAMAGED_OBJECT
    # What to do about it is said by the finding.
    return str(problem).partition("; ")[0]


def _there(data: bytes | Damaged | None) -> bytes:
    if data is None:
        raise BadDocument(f"{_MISSING}.")
    if isinstance(data, Damaged):
        raise data
    return data
