"""The objects that git cannot read any more, each named by its place in the history as far as that can be known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice

from webarc.archive.digests import Digest, Digests
from webarc.archive.document import parse
from webarc.archive.findings import LOST, NOTE, Finding
from webarc.archive.fsck import Complaints, Fsck
from webarc.archive.gitdir import hash_fits
from webarc.archive.gitenv import git
from webarc.archive.history import Commit
from webarc.archive.objects import ObjectReader
from webarc.archive.places import Place, Places
from webarc.archive.repository import Repository
from webarc.errors import Damaged, GitProblem

_AT_A_TIME = 5_000
_NAMED = 3


class ObjectCheck:
    """The check of one domain's objects; `told` are the findings so far, which are not told once more."""

    def __init__(
        self, repo: Repository, reader: ObjectReader, commits: Sequence[Commit], told: Sequence[Finding]
    ) -> None:
        self._repo, self._reader, self._commits, self._told = repo, reader, commits, told
        self._places: dict[str, Place] = {}
        self._lost = 0

    @property
    def names_all(self) -> bool:
        """Whether objects are lost, and each of them could be named by its place."""
        return 0 < self._lost == len(self._places)

    def complaints(self, found: Complaints) -> Iterator[Finding]:
        """What git's own check says."""
        for path, text in found.files.items():
            if path.endswith(".pack") and hash_fits(self._repo.folder / path):
                # It is its index that does not fit it, which has been told.
                continue
            yield Finding(self._repo.domain, "repository", text, LOST, path=path)
        told = {each.object_id for each in self._told}
        names = [name for name in found.objects if name not in told]
        lost: dict[str, Damaged | None] = {}
        for name, data in zip(names, self._reader.read_many(names), strict=True):
            if not isinstance(data, bytes):
                lost[name] = data
            elif found.objects[name].startswith(("error in ", "warning in ")):
                what = f"git fsck dislikes an object that is as it was written: {found.objects[name]}"
                yield Finding(self._repo.domain, "object", what, severity=NOTE, object_id=name)
        yield from self._named(lost)
        if not any(finding.is_damage for finding in self._told):
            for text in found.others:
                yield Finding(self._repo.domain, "repository", f"git fsck says: {text}", LOST)

    def since(self, after: str | None, tip: str) -> Iterator[Finding]:
        """The objects that came after a commit, read one by one; all of them if git cannot tell those."""
        try:
            listed = git(["rev-list", "--objects", "--no-object-names", f"{after}..{tip}", "--"], self._repo.git_dir)
        except GitProblem:
            yield from self.complaints(Fsck(self._repo.git_dir, [tip]).complaints())
            return
        told = {each.object_id for each in self._told}
        names = [name for name in listed.decode().split() if name not in told]
        for start in range(0, len(names), _AT_A_TIME):
            found = Digests(self._repo.git_dir, self._reader).of(set(names[start : start + _AT_A_TIME]))
            yield from self._named({name: each for name, each in found.items() if not isinstance(each, Digest)})

    def _named(self, lost: dict[str, Damaged | None]) -> Iterator[Finding]:
        if not lost:
            return
        self._lost += len(lost)
        places = Places(self._reader, self._commits).of(set(lost))
        self._places |= places
        for name, problem in lost.items():
            what = f"the object {name} is {'missing' if problem is None else 'damaged'}"
            finding = Finding(self._repo.domain, "object", what, LOST, object_id=name)
            yield self._placed(finding, places[name]) if name in places else finding

    def _placed(self, finding: Finding, place: Place) -> Finding:
        tag, urls = place.commits[0].tag, [self._url(blob) for blob in islice(place.documents.values(), _NAMED)]
        what = f"{finding.what}, {_described(place)}"
        if urls:
            more = len(place.documents) - len(urls)
            what += f", which may have had versions of {', '.join(urls)}{f' and {more} more' if more else ''}"
        url = urls[0] if len(place.documents) == 1 else ""
        return Finding(
            finding.domain, "object", what, LOST, url=url, commit_tag=tag, path=place.path, object_id=finding.object_id
        )

    def _url(self, blob: str) -> str:
        with suppress(Damaged):
            return parse(self._reader.read(blob) or b"").url
        return "a page whose document is damaged, too"


def _described(place: Place) -> str:
    crawls = "this crawl" if len(place.commits) == 1 else f"{len(place.commits)} crawls, up to {place.commits[-1].tag}"
    if not place.is_folder:
        return f"a file of {crawls}"
    return f"a folder of {crawls}" if place.path else f"the list of all files of {crawls}"
