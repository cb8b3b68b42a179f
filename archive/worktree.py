"""The work tree of a domain: bringing it from the commit it shows to main, and mending what a killed process left.

`refs/webarc/worktree` names the commit that the work tree shows. It moves last, so whatever stops the work, the next
one does it again: files that are already right are passed over, and nothing of the user's is overwritten.
"""

from __future__ import annotations

import os
import shutil
import stat
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from tempfile import mkdtemp

from webarc.archive import gitlibrary, leftovers, rsync
from webarc.archive.clone import is_clone
from webarc.archive.failures import storage
from webarc.archive.gitenv import git
from webarc.archive.history import Commit, Step, commits, steps
from webarc.archive.layout import INTERNAL
from webarc.archive.objects import sizes
from webarc.archive.repository import Repository
from webarc.archive.rescue import Rescue
from webarc.archive.staging import delete_folder
from webarc.archive.tags import tag_name
from webarc.errors import Damaged, GitProblem
from webarc.heartbeat import beat

SHOWN = "refs/webarc/worktree"
_BATCH = 5_000
_PATIENCE = 3.0
_NAP = 0.1
_NO_BLOB = "0" * 40
_REPORTS = f"{INTERNAL}/crawls/"
_PLAIN_FILES = ("100644", "100755")
Rescued = dict[str, Path]


def bring(
    repo: Repository, staged: Path | None = None, *, exact: bool = False, rescued: Rescued | None = None
) -> list[str]:
    """Make the work tree show main; returns warnings. The caller holds the exclusive tree lock.

    Bytes are taken from `staged`, a domain folder in a temp dir, where it has the file, else from git. It is `exact` if
    its files are those of the repository's only commit. `rescued` is told where files went that stood in the way.
    """
    target = repo.tip()
    shown = _shown(repo)
    if target is None or target == shown:
        shutil.rmtree(_workshop(repo), ignore_errors=True)
        return []
    if not repo.shows_main():
        return [
            f"{repo.folder} has something other than main checked out, so its files were left as they are; "
            "`git checkout main` there shows the newest crawl."
        ]
    with storage(f"bringing the files of {repo.domain} up to date"):
        return _Bringing(repo, shown, target, staged, exact, {} if rescued is None else rescued).run()


def mend(repo: Repository, rescued: Rescued | None = None) -> list[str]:
    """Finish or clear away what a killed process left; whoever takes the exclusive tree lock calls this first."""
    if not repo.exists():
        return []
    leftovers.clear(repo.git_dir)
    if not is_clone(repo.git_dir):
        return _mend(repo, rescued)
    from webarc.archive.adoption import adopt  # few archives ever need it

    adopted = adopt(repo, SHOWN)
    if is_clone(repo.git_dir):
        # Somebody's own repository, or one that holds no crawl yet.
        return adopted
    return [*adopted, *_mend(repo, rescued)]


def _mend(repo: Repository, rescued: Rescued | None) -> list[str]:
    tip = repo.tip()
    if tip and tip != repo.ref(SHOWN):
        commit = _commit(repo, tip)
        if commit.kind == "crawl" and repo.ref(f"refs/tags/{tag_name(commit.tag)}") is None:
            gitlibrary.add_tag(repo.folder, commit)
    return bring(repo, rescued=rescued)


@dataclass(slots=True)
class _Bringing:
    """One way from the commit shown to the newest one."""

    repo: Repository
    shown: str | None
    target: str
    staged: Path | None
    exact: bool
    rescued: Rescued
    few: list[Step] | None = None
    """All that differs, if it is not too much to be kept."""
    looked: bool = False

    def run(self) -> list[str]:
        workshop = _workshop(self.repo)
        interrupted = workshop.exists()
        delete_folder(workshop)
        workshop.mkdir()
        rescue = Rescue(self.repo.git_dir, self.shown, self.target)
        index_lines = workshop / "index"
        if self.staged is not None and self.exact and self._shows_nothing():
            self._bring_everything(self.staged, workshop)
        else:
            self._take_away_gone(rescue, index_lines)
            self._bring_changed(rescue, index_lines, workshop, interrupted)
        warnings = _told(rescue)
        self.rescued.update(rescue.rescued)
        if self._refresh_index(index_lines):
            self.repo.set_ref(SHOWN, self.target)
        else:
            warnings.append(
                f"git is at work in {self.repo.folder}; the next webarc command brings its index up to date."
            )
        delete_folder(workshop)
        return warnings

    def _shows_nothing(self) -> bool:
        return self.shown is None and list(self.repo.folder.iterdir()) == [self.repo.git_dir]

    def _bring_everything(self, staged: Path, workshop: Path) -> None:
        """The first crawl of a domain: there is nothing to look at path by path."""
        with rsync.Copying(self.repo.folder, workshop) as copying:
            copying.start_all(staged)

    def _steps(self, *, gone: bool) -> Iterator[Step]:
        """What is gone, or all else that differs; one look is enough for a crawl that changed little."""
        if not self.looked and self.shown is not None:
            self.looked = True
            found = list(islice(steps(self.repo.git_dir, self.shown, self.target), _BATCH + 1))
            self.few = found if len(found) <= _BATCH else None
        if self.few is None:
            return steps(self.repo.git_dir, self.shown, self.target, only="D" if gone else "d")
        return (step for step in self.few if bool(step.new) is not gone)

    def _take_away_gone(self, rescue: Rescue, index_lines: Path) -> None:
        if self.shown is None:
            return
        for batch in _batches(self._steps(gone=True)):
            rescue.take_away(batch)
            _note(index_lines, (f"0 {_NO_BLOB}\t{step.path}\0" for step in batch))

    def _bring_changed(self, rescue: Rescue, index_lines: Path, workshop: Path, interrupted: bool) -> None:
        executable: list[str] = []
        with rsync.Copying(self.repo.folder, workshop) as copying:
            for batch in _batches(self._steps(gone=False)):
                if interrupted:
                    rsync.sweep(self.repo.folder, (step.path for step in batch))
                missing = rescue.clear_way([step for step in batch if step.mode in _PLAIN_FILES])
                self._copy(missing, copying, workshop)
                executable += [step.path for step in missing if step.mode == "100755"]
                _note(index_lines, (f"{step.mode} {step.new}\t{step.path}\0" for step in batch))
        for path in executable:
            (self.repo.folder / path).chmod(0o755)

    def _copy(self, missing: list[Step], copying: rsync.Copying, workshop: Path) -> None:
        ready = self._ready(missing)
        reports = {step.path for step in missing if step.path in ready and step.path.startswith(_REPORTS)}
        for path in reports:
            self._replace(path)
        missing = [step for step in missing if step.path not in reports]
        ready -= reports
        # rsync must not look at sizes and times of what is to be replaced; where nothing is, there are none.
        fresh = {step.path for step in missing if not step.old and step.path in ready and not self._shows(step.path)}
        for link, paths in ((True, fresh), (False, ready - fresh)):
            if self.staged and paths:
                copying.start(self.staged, paths, link=link)
        rest = [step for step in missing if step.path not in ready]
        if rest:
            folder = Path(mkdtemp(dir=workshop))
            self._extract(rest, folder)
            copying.start(folder, (step.path for step in rest))

    def _replace(self, path: str) -> None:
        """Bring a report: every crawl does, and rsync takes 45 ms to end, whatever it is given to do."""
        target = self.repo.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        fresh = target.with_name(rsync.half_written(target.name))
        shutil.copyfile(f"{self.staged}/{path}", fresh)
        fresh.chmod(0o644)
        fresh.replace(target)

    def _ready(self, missing: list[Step]) -> set[str]:
        """The paths whose bytes are in the staging folder."""
        if self.staged is None or not self.staged.is_dir():
            return set()
        lengths = sizes(self.repo.git_dir, (step.new for step in missing))
        return {step.path for step, length in zip(missing, lengths, strict=True) if self._has(step.path, length)}

    def _shows(self, path: str) -> bool:
        return os.path.lexists(f"{self.repo.folder}/{path}")

    def _has(self, path: str, length: int) -> bool:
        beat()
        try:
            status = os.lstat(f"{self.staged}/{path}")
        except (FileNotFoundError, NotADirectoryError):
            return False
        return stat.S_ISREG(status.st_mode) and status.st_size == length

    def _extract(self, wanted: list[Step], folder: Path) -> None:
        with self.repo.reader() as reader:
            for step in wanted:
                place = folder / step.path
                place.parent.mkdir(parents=True, exist_ok=True)
                with place.open("wb") as target:
                    if not reader.copy(step.new, target):
                        raise Damaged(
                            f"git has lost {step.path!r} of {self.repo.domain}; run `git fsck` in its folder."
                        )

    def _refresh_index(self, index_lines: Path) -> bool:
        """Tell git's index what the work tree now has; False if the user's own git keeps it locked."""
        deadline = time.monotonic() + _PATIENCE
        while True:
            try:
                self._write_index(index_lines)
                return True
            except GitProblem as problem:
                if "index.lock" not in str(problem):
                    raise
            leftovers.clear_lock(self.repo.git_dir / "index.lock", self.repo.git_dir)
            if time.monotonic() > deadline:
                return False
            time.sleep(_NAP)

    def _write_index(self, index_lines: Path) -> None:
        """Only the paths brought are touched, so what the user has staged elsewhere stays staged."""
        git_dir = self.repo.git_dir
        noted = index_lines.exists()
        if not (git_dir / "index").exists() and (self.shown or not noted):
            git(["read-tree", self.target], git_dir)
        elif noted:
            with index_lines.open("rb") as lines:
                git(["update-index", "-z", "--index-info"], git_dir, lines)


def _workshop(repo: Repository) -> Path:
    """Where the work is prepared; that it is still there tells that the last one was interrupted."""
    return repo.git_dir / "webarc-bring"


def _shown(repo: Repository) -> str | None:
    """The commit that the work tree shows, if git still has it."""
    shown = repo.ref(SHOWN)
    if shown is None or shown == repo.tip():
        return shown
    return shown if sizes(repo.git_dir, [shown]) != [-1] else None


def _commit(repo: Repository, commit: str) -> Commit:
    return next(commits(repo.git_dir, commit, newest_first=True))


def _batches(found: Iterator[Step]) -> Iterator[list[Step]]:
    """So many at a time that they fit into memory, however large the crawl was."""
    while batch := list(islice(found, _BATCH)):
        yield batch


def _note(file: Path, lines: Iterable[str]) -> None:
    beat()
    with file.open("ab") as target:
        target.write("".join(lines).encode("utf-8", "surrogateescape"))


def _told(rescue: Rescue) -> list[str]:
    if not rescue.rescued:
        return []
    count = "1 file" if len(rescue.rescued) == 1 else f"{len(rescue.rescued)} files"
    return [f"{count} changed by hand stood in the way and went to {rescue.home}; look there for your own changes."]
