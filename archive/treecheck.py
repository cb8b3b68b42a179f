"""Whether the work tree shows what git has, byte for byte.

Files are hashed without any lock; only what differs is looked at again under the shared lock, so that a sound work
tree, however large, is in nobody's way and a crawl that writes to it meanwhile raises no alarm.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import datetime

from webarc.archive import times
from webarc.archive.document import parse
from webarc.archive.findings import NOTE, REPAIR, Finding, note
from webarc.archive.history import steps
from webarc.archive.importer import MAIN
from webarc.archive.layout import ADDED_FILES, INTERNAL, METADATA, arc_file
from webarc.archive.refs import read_head, ref_value
from webarc.archive.repository import Repository
from webarc.archive.rescue import blob_id
from webarc.archive.worktree import SHOWN
from webarc.archive.zones import shown
from webarc.errors import Damaged, GitProblem

_PLAIN_FILES = ("100644", "100755")
_RESCUED = f"{INTERNAL}/rescued/"
_MISSING = "the file is missing, while git has it"
_NAMED = 3


class TreeCheck:
    """The check of one work tree; `moved` now and then gets how many files were seen."""

    def __init__(self, repo: Repository, moved: Callable[[int], None]) -> None:
        self._repo, self._moved = repo, moved
        self.files = 0

    def run(self) -> list[Finding]:
        """What differs from the commit that HEAD names."""
        expected = self._expected()
        suspects = [path for path, blob in expected.items() if self._wrong(path, blob)]
        strangers = list(self._strangers(expected))
        if not suspects and not strangers:
            return []
        # Whoever was writing has done so when the lock is ours.
        with self._repo.archive.lock_tree(self._repo.domain, shared=True):
            if self._is_behind():
                return [note(self._repo.domain, "worktree", "its folder is behind git; the next command brings it")]
            expected = self._expected()
            wrong = {path: self._wrong(path, expected[path]) for path in suspects if path in expected}
            strangers = [path for path in strangers if path not in expected and self._is_there(path)]
            found = [self._finding(path, what) for path, what in wrong.items() if what]
            return [*found, *self._note(strangers)]

    def _expected(self) -> dict[str, str]:
        head = read_head(self._repo.git_dir)
        commit = self._repo.ref(head) if head.startswith("refs/") else head
        if commit is None:
            return {}
        return {step.path: step.new for step in steps(self._repo.git_dir, None, commit) if step.mode in _PLAIN_FILES}

    def _is_behind(self) -> bool:
        """Whether a crawl was killed between its commit and the work tree, just now."""
        refs = {ref_value(self._repo.git_dir, name) for name in (MAIN, SHOWN)}
        return read_head(self._repo.git_dir) == MAIN and None not in refs and len(refs) > 1

    def _wrong(self, path: str, blob: str) -> str:
        """How a file differs from what git has; empty if it does not."""
        self.files += 1
        if not self.files % 1000:
            self._moved(self.files)
        place = self._repo.folder / path
        try:
            status = place.lstat()
            if not stat.S_ISREG(status.st_mode):
                return "something else stands where git has a file"
            if blob_id(place, status.st_size, blob) == blob:
                return ""
        except (FileNotFoundError, NotADirectoryError):
            return _MISSING
        except OSError as problem:
            return f"the file cannot be read ({problem.strerror})"
        changed = shown(times.text(datetime.fromtimestamp(status.st_mtime, times.CET)))
        return f"the file is not what git has (it was last written to at {changed})"

    def _finding(self, path: str, what: str) -> Finding:
        head = read_head(self._repo.git_dir)
        if head != MAIN or not _is_ours(path):
            cure = "it is yours; nothing needs to be done"
            tag = self._tag(head, path) if head != MAIN else ""
            return Finding(self._repo.domain, "worktree", what, cure, NOTE, commit_tag=tag, path=path)
        how = "brings it back" if what == _MISSING else f"moves it to {_RESCUED} and restores it"
        return Finding(self._repo.domain, "worktree", what, f"{REPAIR}, which {how} from git", path=path)

    def _tag(self, commit: str, path: str) -> str:
        """The crawl that brought the version of a page which a commit has; empty if that cannot be told."""
        place = arc_file(path)
        if place is None:
            return ""
        with suppress(Damaged, GitProblem), self._repo.reader() as reader:
            return parse(reader.read(f"{commit}:{place[0]}/{METADATA}") or b"").commit_tag
        return ""

    def _is_there(self, path: str) -> bool:
        return os.path.lexists(self._repo.folder / path)

    def _note(self, strangers: list[str]) -> list[Finding]:
        """One note for all files that git does not have; they are the user's."""
        if not strangers:
            return []
        count = len(strangers)
        shown = ", ".join(map(repr, strangers[:_NAMED])) + (", ..." if count > _NAMED else "")
        counted = "1 file that is not webarc's lies" if count == 1 else f"{count} files that are not webarc's lie"
        return [note(self._repo.domain, "worktree", f"{counted} in its folder ({shown})")]

    def _strangers(self, expected: dict[str, str]) -> Iterator[str]:
        """The files that git does not have."""
        folders = [""]
        while folders:
            folder = folders.pop()
            # A crawl may be taking folders away.
            with suppress(FileNotFoundError), os.scandir(self._repo.folder / folder) as entries:
                for entry in entries:
                    path = f"{folder}{entry.name}"
                    if path == ".git" or f"{path}/" == _RESCUED:
                        continue
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(f"{path}/")
                    elif path not in expected:
                        yield path


def _is_ours(path: str) -> bool:
    """Whether webarc itself writes files of such a name."""
    return arc_file(path) is not None or path.startswith(f"{INTERNAL}/") or f"/{ADDED_FILES}/" in path
