"""The commit of a takedown: the tip without the versions that go, and the tombstone that says so."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from webarc.archive import times
from webarc.archive.doom import Doom, owner
from webarc.archive.going import Going
from webarc.archive.history import KIND
from webarc.archive.importer import Importer
from webarc.archive.repository import Repository
from webarc.archive.rewriting import final_files
from webarc.archive.tombstones import FORGOTTEN, Tombstone, render, tombstones
from webarc.archive.worktree import bring


class Burial:
    """One such commit, prepared; the caller holds the tree lock."""

    def __init__(self, repo: Repository, doom: Doom, going: list[Going], tag: str, reason: str, by: str) -> None:
        self._repo = repo
        self.doom, self.going, self.tag = doom, going, tag
        self._outdated: set[str] = set()
        about = (times.text(times.parse(tag.partition("@")[0])), reason, by)
        self._stones = [Tombstone(page.url, page.arc, page.numbers, *about, page.sha256s, page.tags) for page in going]

    def summarise(self) -> None:
        """Only numbers, and earlier tombstones that say the same of other versions are taken in."""
        found = {stone.arc: replace(stone, sha256s=(), tags=()) for stone in self._stones}
        for old in tombstones(self._repo):
            first = self._stones[0]
            if not old.sha256s and (old.reason, old.by) == (first.reason, first.by):
                self._outdated.add(old.file)
                stone = found.get(old.arc) or replace(first, url=old.url, arc=old.arc, numbers=(), sha256s=(), tags=())
                found[old.arc] = replace(stone, numbers=tuple(sorted({*stone.numbers, *old.numbers})))
        self._stones = list(found.values())

    @property
    def files(self) -> Iterator[tuple[str, bytes]]:
        """Names and bytes of the tombstone's files."""
        return render(self._stones, self._repo.domain, self.tag)

    def commit(self) -> list[str]:
        """Make the commit and bring the work tree; returns warnings."""
        tip = self._repo.tip()
        assert tip is not None
        count = sum(len(page.numbers) for page in self.going)
        message = f"{self.tag}\n\nforgot {count} versions of {len(self.going)} pages\n\n{KIND}: forget\n"
        with self._repo.importer() as importer, self._repo.archive.new_staging("forget") as staging:
            self._clear_tip(importer, tip, staging.path)
            for name in self._outdated:
                importer.drop(f"{FORGOTTEN}/{name}")
            for name, data in self.files:
                importer.add_bytes(f"{FORGOTTEN}/{name}", data)
            importer.commit(tip, message, times.now(), None)
        return bring(self._repo)

    def _clear_tip(self, importer: Importer, tip: str, workshop: Path) -> None:
        """Drop what goes from the tip; where an older version of the page stays, that one comes back."""
        current = {path: blob for path, blob in self._repo.files(tip) if self.doom.touches(owner(path))}
        wanted = final_files(self._repo, self.doom) if self.doom.is_partial() else {}
        for path in current.keys() - wanted.keys():
            importer.drop(path)
        with self._repo.reader() as reader:
            for number, (path, blob) in enumerate(wanted.items()):
                if current.get(path) != blob:
                    with (workshop / str(number)).open("wb") as target:
                        reader.copy(blob, target)
                    importer.add(path, workshop / str(number))
