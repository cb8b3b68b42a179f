"""The git repository of one domain."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from webarc.archive import gitlibrary, history
from webarc.archive.ailments import main_is_lost
from webarc.archive.clone import main_of
from webarc.archive.durable import sync_folders
from webarc.archive.failures import storage
from webarc.archive.gitenv import git
from webarc.archive.hindrance import hindrance
from webarc.archive.history import Change, Commit
from webarc.archive.importer import MAIN, Importer
from webarc.archive.layout import domain_folder
from webarc.archive.objects import ObjectReader
from webarc.archive.refs import is_id, read_head
from webarc.errors import Damaged, GitProblem, UsageProblem

if TYPE_CHECKING:
    from webarc.archive.store import Archive

_NAME_LENGTH = 40
# Of all places for attributes this one has the last word: no line end, keyword or filter ever touches a byte.
_ATTRIBUTES = "* -text -eol -ident -filter -working-tree-encoding -export-subst -export-ignore\n"
_EXCLUDES = ".webarc/rescued/\n"
_CONFIGURATION = {
    ("core", "autocrlf"): "false",
    ("core", "quotePath"): "false",
    # A running crawl may count on objects that nothing names yet, so only `webarc compact` tidies up.
    ("gc", "auto"): "0",
    ("gc", "pruneExpire"): "never",
}


class Repository:
    """The history of one domain, and the folder that shows its newest state."""

    def __init__(self, archive: Archive, domain: str) -> None:
        self.archive = archive
        self.domain = domain
        self.folder = archive.root / domain_folder(domain)
        self.git_dir = self.folder / ".git"

    def exists(self) -> bool:
        """Whether it was ever created, however damaged it is now."""
        return self.git_dir.is_dir()

    def create(self) -> None:
        """Make the repository, whole or not at all; an existing one is left as it is."""
        if self.exists():
            return
        self.check_place()
        with storage(f"creating the repository of {self.domain}"), self.archive.new_staging("create") as staging:
            self.prepare(staging.path / "repository")
            self.folder.mkdir(mode=0o755, exist_ok=True)
            self._move_in(staging.path / "repository" / ".git")
            sync_folders(self.folder, self.archive.root)

    def check_place(self) -> None:
        """Raises UsageProblem where something stands that is not ours and must not get commits of ours."""
        if wrong := hindrance(self.folder):
            raise UsageProblem(wrong)
        if self.folder.exists() and not self.folder.is_dir():
            raise UsageProblem(f"{str(self.folder)!r} is not a folder; move it away and crawl {self.domain} again.")
        if (
            self.exists()
            and self.ref(main_of(self.git_dir)) is None
            and not gitlibrary.setting(self.git_dir, "webarc", "domain")
        ):
            raise UsageProblem(
                f"{str(self.folder)!r} is a git repository that webarc did not make; "
                f"move it away and crawl {self.domain} again."
            )

    def tip(self) -> str | None:
        """The newest commit on main, None before the first one; raises Damaged if there were commits and it is lost."""
        value = self.ref(MAIN)
        if value is None and (main := main_of(self.git_dir)) != MAIN:
            value = self.ref(main)
        if value is None and main_is_lost(self.git_dir):
            raise self._broken_main("gone")
        return value

    def ref(self, name: str) -> str | None:
        """The object that a full ref name stands for; asks git only where its files do not say it plainly."""
        try:
            value = (self.git_dir / name).read_text("ascii", "replace").strip()
        except (FileNotFoundError, NotADirectoryError):
            return self._packed_ref(name)
        if is_id(value):
            return value
        if value and not value.startswith("ref:"):
            if name == MAIN:
                raise self._broken_main("damaged")
            return None  # one of our own, which can be made anew
        try:
            return git(["rev-parse", "--verify", "--quiet", "--end-of-options", name], self.git_dir).decode().strip()
        except GitProblem:
            return None

    def _packed_ref(self, name: str) -> str | None:
        try:
            packed = (self.git_dir / "packed-refs").read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None
        end = packed.find(b" %s\n" % name.encode())
        value = packed[max(end - _NAME_LENGTH, 0) : max(end, 0)].decode("ascii", "replace")
        return value if is_id(value) else None

    def _broken_main(self, how: str) -> Damaged:
        return Damaged(f"the branch main of {self.domain} is {how}; run `webarc verify --repair {self.domain}`.")

    def set_ref(self, name: str, value: str) -> None:
        """Make a full ref name stand for an object, durably."""
        git(["update-ref", "--no-deref", name, value], self.git_dir)
        sync_folders((self.git_dir / name).parent)

    def shows_main(self) -> bool:
        """Whether the work tree is meant to show main, not something that the user has checked out."""
        return read_head(self.git_dir) == MAIN

    def commits(self, after: str | None = None) -> list[Commit]:
        """The commits on main, oldest first, those behind `after` only."""
        return list(history.commits(self.git_dir, self._range(after))) if self.tip() else []

    def newest(self, kinds: tuple[str, ...], reader: ObjectReader | None = None) -> Commit | None:
        """The newest commit of one of these kinds; mostly the tip, which a reader that is at work tells sooner."""
        tip = self.tip()
        if not tip:
            return None
        commit = history.parse_commit(tip, reader.read(tip) or b"") if reader else None
        if commit and commit.kind in kinds:
            return commit
        found = history.commits(self.git_dir, main_of(self.git_dir), newest_first=True)
        return next((commit for commit in found if commit.kind in kinds), None)

    def changes(self, commit: str) -> Iterator[Change]:
        """What a commit changed against its first parent, or against nothing."""
        return history.changes(self.git_dir, commit)

    def changes_since(self, after: str | None) -> Iterator[tuple[Commit, list[Change]]]:
        """Every commit on main behind `after`, oldest first, with its changes."""
        return history.changes_of_each(self.git_dir, self._range(after)) if self.tip() else iter(())

    def files(self, commit: str) -> Iterator[tuple[str, str]]:
        """Path and blob of every file of a commit."""
        return history.files(self.git_dir, commit)

    def reader(self) -> ObjectReader:
        """Reads objects; close it, or use it in a `with`."""
        return ObjectReader(self.git_dir)

    def importer(self) -> Importer:
        """Starts a commit; use it in a `with`."""
        return Importer(self.git_dir)

    def _range(self, after: str | None) -> str:
        main = main_of(self.git_dir)
        return f"{after}..{main}" if after else main

    def prepare(self, folder: Path) -> None:
        """Make an empty repository of this domain elsewhere."""
        # A very long host has a shortened folder, which does not tell it.
        gitlibrary.initialise(folder, {**_CONFIGURATION, ("webarc", "domain"): self.domain})
        information = folder / ".git" / "info"
        information.mkdir(exist_ok=True)
        (information / "attributes").write_text(_ATTRIBUTES)
        (information / "exclude").write_text(_EXCLUDES)

    def _move_in(self, prepared: Path) -> None:
        try:
            prepared.rename(self.git_dir)
        except OSError as error:
            # Somebody else was faster; theirs is as good as ours.
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
