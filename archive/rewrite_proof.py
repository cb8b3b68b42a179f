"""The proof that a rewritten history is the old one, but for the versions that had to go.

It looks at the two repositories only and takes nothing from the code that wrote the new one: both are read commit by
commit, side by side.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path

from webarc.archive.doom import Doom, owner, tag_in
from webarc.archive.gitenv import fields, git
from webarc.archive.history import Change, Commit, changes_of_each
from webarc.archive.importer import MAIN
from webarc.archive.layout import METADATA
from webarc.archive.objects import ObjectReader
from webarc.errors import Damaged

_COMMITS = (
    "log",
    "-z",
    "--reverse",
    "--topo-order",
    "--date=raw",
    "--format=%an%n%ae%n%ad%n%cn%n%ce%n%cd%n%B",
    MAIN,
    "--",
)
_TAGS = (
    "for-each-ref",
    "--format=%(refname)%00%(objecttype)%00%(taggername)%(taggeremail)%(taggerdate:raw)%00%(contents)%00%(*subject)%00",
)
_MAKE_VERSIONS = ("crawl", "guest")


@dataclass(slots=True)
class _Arc:
    """An ARC in both histories, and the commitTag of the version that the old one has there."""

    old: dict[str, str] = field(default_factory=dict)
    new: dict[str, str] = field(default_factory=dict)
    tag: str | None = None


def prove(old: Path, new: Path, doom: Doom) -> None:
    """Raises Damaged unless the new repository is whole and only what is doomed is missing from it."""
    git(["fsck", "--full", "--no-dangling", "--no-progress"], new)
    for arguments, what in ((_COMMITS, "a commit"), (_TAGS, "a tag")):
        for one, two in zip_longest(fields(arguments, old), fields(arguments, new)):
            _require(one == two, f"{what} is not the same: {one!r:.200} and {two!r:.200}")
    trees = [git(["rev-parse", "--verify", f"{MAIN}^{{tree}}"], git_dir) for git_dir in (old, new)]
    _require(trees[0] == trees[1], "the newest state is not the same")
    with ObjectReader(old) as reader:
        _Comparison(doom, reader).run(old, new)


class _Comparison:
    def __init__(self, doom: Doom, reader: ObjectReader) -> None:
        self._doom, self._reader = doom, reader
        self._arcs: dict[str, _Arc] = {}

    def run(self, old: Path, new: Path) -> None:
        """Walk both histories."""
        for one, two in zip_longest(changes_of_each(old, MAIN), changes_of_each(new, MAIN)):
            if one is None or two is None:
                raise _unproven("the numbers of commits are not the same")
            (commit, before), (twin, after) = one, two
            _require(
                (commit.tag, commit.kind, commit.time) == (twin.tag, twin.kind, twin.time), f"{commit.tag} differs"
            )
            _require(self._spared(before) == self._spared(after), f"files of {commit.tag} that stay differ")
            self._compare_doomed(commit, before, after)

    def _spared(self, changes: Iterable[Change]) -> list[Change]:
        return [change for change in changes if not self._doom.touches(owner(change.path))]

    def _compare_doomed(self, commit: Commit, before: Iterable[Change], after: Iterable[Change]) -> None:
        was_touched, is_touched = self._applied(before, "old"), self._applied(after, "new")
        for change in before:
            arc = owner(change.path)
            if arc in was_touched and change.path == f"{arc}/{METADATA}":
                self._arcs[arc].tag = self._tag(commit, change)
        for arc in was_touched | is_touched:
            state = self._arcs[arc]
            if self._doom.takes(arc, state.tag, state.old.values()):
                _require(arc not in is_touched, f"{arc} is still changed by {commit.tag}")
            else:
                _require(state.old == state.new, f"{arc} in {commit.tag} differs")

    def _applied(self, changes: Iterable[Change], side: str) -> set[str]:
        touched: set[str] = set()
        for change in changes:
            arc = owner(change.path)
            if arc is None or not self._doom.touches(arc):
                continue
            touched.add(arc)
            files: dict[str, str] = getattr(self._arcs.setdefault(arc, _Arc()), side)
            if change.status == "D":
                files.pop(change.path, None)
            else:
                files[change.path] = change.blob
        return touched

    def _tag(self, commit: Commit, change: Change) -> str | None:
        if change.status == "D":
            return None
        return commit.tag if commit.kind in _MAKE_VERSIONS else tag_in(self._reader.read(change.blob))


def _require(true: bool, complaint: str) -> None:
    if not true:
        raise _unproven(complaint)


def _unproven(complaint: str) -> Damaged:
    return Damaged(
        f"the rewritten history is not what it must be ({complaint}); the old one stays, please report this."
    )
