"""Mending a repository and its work tree; what is replaced is kept aside."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from webarc.archive import gitlibrary
from webarc.archive.aside import Aside
from webarc.archive.durable import sync_folders
from webarc.archive.findings import Finding
from webarc.archive.gitdir import CONFIG, INDEX, REFS, settings
from webarc.archive.gitenv import git
from webarc.archive.history import commits
from webarc.archive.importer import MAIN
from webarc.archive.refs import PACKED, read_head, read_refs, ref_value
from webarc.archive.repository import Repository
from webarc.archive.salvage import Salvage
from webarc.archive.store import Archive
from webarc.archive.tags import tag_name
from webarc.archive.worktree import SHOWN, mend
from webarc.errors import GitProblem, WebarcError

_HEAD = f"ref: {MAIN}\n"
_ID = re.compile(r"[0-9a-f]{40,64}")
# Where the cause may be a lost object or a damaged pack.
_FROM_OBJECTS = {"object", "repository", "document", "bytes", "report", "ref", "tag"}


class Repair:
    """One repair of one domain; the caller holds the exclusive tree lock."""

    def __init__(self, repo: Repository) -> None:
        self._repo = repo
        self._aside = Aside(repo.git_dir)
        self._rescued: dict[str, Path] = {}

    @property
    def kept(self) -> dict[str, Path]:
        """Where that is now which stood at the paths that were mended."""
        return self._aside.kept | self._rescued

    def run(self, findings: Iterable[Finding]) -> list[str]:
        """Mend what can be mended of these findings; returns what could not be done."""
        damage = [finding for finding in findings if finding.is_damage]
        paths = {finding.path for finding in damage}
        kinds = {finding.kind for finding in damage}
        problems: list[str] = []
        for wanted, step in (
            (".git/HEAD" in paths, self._head),
            (REFS in paths, self._refs_folder),
            (CONFIG in paths, self._config),
            (".git/info/attributes" in paths, lambda: self._renew("info/attributes")),
            (PACKED in paths, self._packed_refs),
            (bool(kinds & _FROM_OBJECTS), lambda: self._objects(damage)),
            (any(finding.kind == "ref" for finding in damage), lambda: self._refs(damage)),
            (INDEX in paths, self._index),
            ("tag" in kinds, lambda: self._tags(damage)),
            ("worktree" in kinds or SHOWN in paths, self._forget_shown),
            (True, lambda: mend(self._repo, self._rescued)),
        ):
            if not wanted:
                continue
            try:
                step()
            except (WebarcError, OSError) as problem:
                problems.append(str(problem))
        return problems

    # -- files of git's ---------------------------------------------------------------------------------------

    def _head(self) -> None:
        self._write("HEAD", _HEAD.encode())

    def _config(self) -> None:
        """Put right what webarc needs; settings of the user's own stay if they can be read."""
        with self._model() as model:
            ours = model.git_dir / "config"
            if not self._adjusted(self._repo.git_dir / "config", settings(ours)):
                self._write("config", ours.read_bytes())

    def _adjusted(self, place: Path, wanted: dict[str, str]) -> bool:
        """Write these settings over others; False if git does not work with what else the file says."""
        try:
            settings(place)
            self._aside.copy(place)
            for name, value in wanted.items():
                git(["config", "--file", str(place), "--replace-all", name, value])
            git(["rev-parse", "--git-dir"], self._repo.git_dir)
        except GitProblem:
            return False
        return True

    def _refs_folder(self) -> None:
        place = self._repo.git_dir / "refs"
        self._aside.move(place)
        for name in ("heads", "tags"):
            (place / name).mkdir(parents=True)

    def _renew(self, name: str) -> None:
        """Take a file from a repository made for this purpose."""
        with self._model() as model:
            self._write(name, (model.git_dir / name).read_bytes())

    @contextmanager
    def _model(self) -> Iterator[Repository]:
        """A new repository of the same domain, as webarc makes them."""
        with self._repo.archive.new_staging("repair") as staging:
            model = Archive.create(staging.path / "archive").repository(self._repo.domain)
            model.create()
            yield model

    def _index(self) -> None:
        self._aside.move(self._repo.git_dir / "index")
        git(["read-tree", read_head(self._repo.git_dir) or MAIN], self._repo.git_dir)

    def _write(self, name: str, data: bytes) -> None:
        place = self._repo.git_dir / name
        self._aside.copy(place)
        place.parent.mkdir(exist_ok=True)
        fresh = place.with_name(f"{place.name}.webarc-new")
        with fresh.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        fresh.rename(place)
        sync_folders(place.parent)

    def _objects(self, damage: list[Finding]) -> None:
        Salvage(self._repo, self._aside).run({finding.object_id for finding in damage if finding.object_id})

    # -- refs -------------------------------------------------------------------------------------------------

    def _packed_refs(self) -> None:
        """Every line that can be read is kept; what packed-refs says about tags, git finds out anew."""
        refs = read_refs(self._repo.git_dir)
        loose = {path.relative_to(self._repo.git_dir).as_posix() for path in (self._repo.git_dir / "refs").rglob("*")}
        packed = sorted((ref.name, ref.value) for ref in refs.found.values() if ref.name not in loose)
        lines = "".join(f"{value} {name}\n" for name, value in packed)
        self._write("packed-refs", lines.encode("utf-8", "surrogateescape"))
        with suppress(GitProblem):
            # As long as a ref is lost git packs nothing; it does the next time.
            git(["pack-refs", "--all"], self._repo.git_dir)

    def _refs(self, damage: list[Finding]) -> None:
        for finding in damage:
            place = self._repo.git_dir / finding.path.removeprefix(".git/")
            if finding.kind == "ref" and finding.path.startswith(".git/refs/"):
                self._aside.move(place)
        if self._commit(ref_value(self._repo.git_dir, MAIN)) is None:
            self._restore_main()

    def _restore_main(self) -> None:
        """The newest commit that the other refs and the log of main still know."""
        known = [commit for commit in map(self._commit, self._candidates()) if commit is not None]
        newest = next((one for one in known if all(self._contains(one, other) for other in known)), None)
        if newest is None:
            raise GitProblem(f"nothing tells where main of {self._repo.domain} was; restore it from a backup.")
        place = self._repo.git_dir / MAIN
        if place.exists():
            self._aside.move(place)
        self._aside.note(f"{MAIN} was {ref_value(self._repo.git_dir, MAIN)} and is now {newest}")
        with suppress(GitProblem):
            git(["update-ref", "--no-deref", "-d", MAIN], self._repo.git_dir)
        self._repo.set_ref(MAIN, newest)

    def _candidates(self) -> Iterator[str]:
        log = self._repo.git_dir / "logs" / MAIN
        with suppress(FileNotFoundError):
            for line in reversed(log.read_text("utf-8", "replace").splitlines()[-5:]):
                yield from line.split(" ")[1:2]
        refs = read_refs(self._repo.git_dir)
        yield refs.value(SHOWN) or ""
        # Their names begin with the time of the crawl.
        for ref in sorted(refs.below("refs/tags/"), key=lambda ref: ref.name, reverse=True)[:5]:
            yield ref.value
        yield from (ref.value for ref in refs.below("refs/heads/"))
        if not refs.found:
            yield from self._newest_commits()

    def _newest_commits(self) -> Iterator[str]:
        """The commits that git has and that no other commit follows."""
        asked = ["cat-file", "--batch-all-objects", "--batch-check=%(objecttype) %(objectname)"]
        listed = git(asked, self._repo.git_dir).decode().splitlines()
        names = [line.split()[1] for line in listed if line.startswith("commit ")]
        given = "".join(f"{name}\n" for name in names).encode()
        parents = git(["log", "--no-walk=unsorted", "--format=%P", "--stdin"], self._repo.git_dir, given)
        followed = set(parents.decode().split())
        yield from (name for name in names if name not in followed)

    def _commit(self, name: str | None) -> str | None:
        """The commit that an object is, or that it points to as a tag; None if it cannot be read."""
        if not name or not _ID.fullmatch(name):
            return None
        with suppress(GitProblem):
            return git(["rev-parse", "--verify", "--quiet", f"{name}^{{commit}}"], self._repo.git_dir).decode().strip()
        return None

    def _contains(self, commit: str, other: str) -> bool:
        with suppress(GitProblem):
            git(["merge-base", "--is-ancestor", other, commit], self._repo.git_dir)
            return True
        return False

    # -- tags and work tree -----------------------------------------------------------------------------------

    def _tags(self, damage: list[Finding]) -> None:
        crawls = {commit.tag: commit for commit in commits(self._repo.git_dir, MAIN) if commit.kind == "crawl"}
        for finding in damage:
            if finding.kind != "tag" or finding.object_id:
                # A crawl that main does not have is for its owner to take back.
                continue
            self._remove_ref(finding.path)
            if finding.commit_tag in crawls and not self._repo.ref(f"refs/tags/{tag_name(finding.commit_tag)}"):
                gitlibrary.add_tag(self._repo.folder, crawls[finding.commit_tag])

    def _remove_ref(self, name: str) -> None:
        value = ref_value(self._repo.git_dir, name)
        if value is not None:
            self._aside.note(f"{name} was {value}")
            git(["update-ref", "--no-deref", "-d", name], self._repo.git_dir)

    def _forget_shown(self) -> None:
        """Let webarc not know what the work tree shows: it then looks at every file and rescues what is strange."""
        if read_head(self._repo.git_dir) == MAIN:
            self._remove_ref(SHOWN)


def keep_index(path: Path, name: str) -> Path:
    """Copy the files of a database aside; returns where to."""
    kept = path.with_name(f"{path.name}.replaced-{name}")
    for companion in ("-wal", ""):
        with suppress(FileNotFoundError):
            shutil.copy2(f"{path}{companion}", f"{kept}{companion}")
    return kept
