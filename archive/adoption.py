"""A domain that was cloned into the archive becomes one of its own.

Nothing that a clone says of itself is trusted: webarc's settings take the place of its own, of which only the addresses
of remotes are kept, and what git derives or could be led astray by is put aside. Hooks stay where they are; webarc
never runs any. The settings come last, for they mark what has been adopted: killed before, it is done again.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from webarc.archive import gitlibrary
from webarc.archive.aside import Aside
from webarc.archive.clone import is_clone, main_of
from webarc.archive.durable import sync_folders
from webarc.archive.failures import storage
from webarc.archive.gitdir import settings
from webarc.archive.gitenv import fields, git
from webarc.archive.history import commits
from webarc.archive.importer import MAIN
from webarc.archive.layout import domain_folder
from webarc.archive.refs import read_head
from webarc.archive.remark import Remark
from webarc.archive.repository import Repository
from webarc.archive.tags import tag_name
from webarc.errors import GitProblem, UsageProblem

_CRAWLS = ("crawl", "guest")
_NOT_KEPT = (
    "config.worktree",
    "index",
    "info/attributes",
    "info/exclude",
    "info/grafts",
    "info/sparse-checkout",
    "objects/info/commit-graph",
    "objects/info/commit-graphs",
    "objects/pack/multi-pack-index",
)
_REMOTE = re.compile(r"remote\.[^.]+\.(?:url|fetch)")
_ELSEWHERE = ("commondir", "gitdir", "objects/info/alternates", "objects/info/http-alternates")


def adopt(repo: Repository, shown_ref: str) -> list[str]:
    """Make a clone ours and say so; anything else is left as it is. The caller holds the exclusive tree lock.

    `shown_ref` is the ref that is to name what the work tree shows. Raises UsageProblem for a clone that does not have
    all of its history itself, or that is one of another domain.
    """
    if not is_clone(repo.git_dir) or not (domain := _domain_of(repo)):
        return []
    if wrong := _refusal(repo, domain):
        raise UsageProblem(wrong)
    with storage(f"adopting {repo.folder}"):
        return list(_Adoption(repo, domain).run(shown_ref))


def _domain_of(repo: Repository) -> str:
    """The domain whose crawls are in it; empty if there are none."""
    crawl = repo.newest(_CRAWLS)
    return crawl.tag.partition("@")[2] if crawl else ""


def refusal(repo: Repository) -> str:
    """Why a clone cannot be adopted, as a sentence; empty if it can be, or if it is none of a domain."""
    domain = _domain_of(repo)
    return _refusal(repo, domain) if domain else ""


def _refusal(repo: Repository, domain: str) -> str:
    if domain_folder(domain) != repo.folder.name:
        return f"{repo.folder} is a clone of {domain}; call it {domain_folder(domain)}."
    if repo.git_dir.is_symlink():
        target = repo.git_dir.readlink()
        return f"{repo.folder} is a clone of which .git is a link to {target}; put the repository itself there."
    if any((repo.git_dir / name).exists() for name in _ELSEWHERE) or any(_links(repo.git_dir)):
        return (
            f"{repo.folder} is a clone that borrows from another repository; put one there that `git clone` made "
            "without --shared or --reference."
        )
    if _is_partial(repo.git_dir):
        return (
            f"{repo.folder} is a clone of a part of the history, or of another form; put one there that `git clone` "
            "made without --depth, --filter and the like."
        )
    return ""


def _is_partial(git_dir: Path) -> bool:
    found = {name.lower() for name in settings(git_dir / "config")}
    partial = any(
        name.startswith("extensions.") or name.endswith((".promisor", ".partialclonefilter")) for name in found
    )
    return partial or (git_dir / "shallow").exists()


def _links(git_dir: Path) -> Iterator[Path]:
    yield from (path for path in git_dir.rglob("*") if path.is_symlink())


class _Adoption:
    def __init__(self, repo: Repository, domain: str) -> None:
        # A very long host has a shortened folder, which does not tell it; its crawls do.
        self._repo, self._git_dir = Repository(repo.archive, domain), repo.git_dir
        self._aside = Aside(repo.git_dir)

    def run(self, shown_ref: str) -> Iterator[str]:
        """Do it; yields what to tell of it."""
        given = settings(self._git_dir / "config")
        for name in _NOT_KEPT:
            self._aside.move(self._git_dir / name)
        main = git(["rev-parse", "--verify", f"{main_of(self._git_dir)}^{{commit}}"], self._git_dir).decode().strip()
        self._repo.set_ref(MAIN, main)
        head = self._head()
        stands_in_main = head is not None and self._is_in_main(head)
        # A mirror has it from the source, whose files are not here.
        git(["update-ref", "--no-deref", "-d", shown_ref], self._git_dir)
        if stands_in_main:
            self._write("HEAD", f"ref: {MAIN}\n".encode())
        self._drop_remote_refs()
        self._add_tags()
        self._write_settings(given)
        if stands_in_main and head is not None and head != main:
            # From there the files are brought; where it is main, all of them are looked at.
            self._repo.set_ref(shown_ref, head)
        yield Remark(
            f"{self._repo.folder} is a clone, adopted now; webarc's settings are in its .git/config, "
            f"and what was replaced is kept in {self._aside.home}."
        )

    def _head(self) -> str | None:
        """The commit that is checked out; None if there is none."""
        name = read_head(self._git_dir)
        try:
            return git(["rev-parse", "--verify", "--quiet", f"{name}^{{commit}}"], self._git_dir).decode().strip()
        except GitProblem:
            return None

    def _is_in_main(self, commit: str) -> bool:
        try:
            git(["merge-base", "--is-ancestor", commit, MAIN], self._git_dir)
        except GitProblem:
            return False
        return True

    def _drop_remote_refs(self) -> None:
        """They say what main says, and would keep what is to be forgotten; commits of the user's own stay named."""
        form = "--format=%(refname)"
        names = fields(["for-each-ref", form, f"--merged={MAIN}", "refs/remotes/"], self._git_dir, b"\n")
        # The symbolic one first, for it names another.
        for name in sorted(names, key=lambda name: not name.endswith("/HEAD")):
            git(["update-ref", "--no-deref", "-d", name], self._git_dir)

    def _add_tags(self) -> None:
        """Those of crawls that were not cloned along."""
        for commit in commits(self._git_dir, MAIN):
            if commit.kind == "crawl" and self._repo.ref(f"refs/tags/{tag_name(commit.tag)}") is None:
                gitlibrary.add_tag(self._repo.folder, commit)

    def _write_settings(self, given: dict[str, str]) -> None:
        with self._repo.archive.new_staging("adopt") as staging:
            model = staging.path / "repository"
            self._repo.prepare(model)
            config = model / ".git" / "config"
            for name, value in _remotes(given.items()):
                git(["config", "--file", str(config), "--add", name, value])
            for name in ("info/attributes", "info/exclude", "config"):
                self._write(name, (model / ".git" / name).read_bytes())

    def _write(self, name: str, data: bytes) -> None:
        place = self._git_dir / name
        self._aside.copy(place)
        place.parent.mkdir(exist_ok=True)
        fresh = place.with_name(f"{place.name}.webarc-new")
        with fresh.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        fresh.rename(place)
        sync_folders(place.parent)


def _remotes(given: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Where it was cloned from; an address that names a program, or looks like an option, is none.

    What a mirror fetches would take the place of main and of what our refs say, so that is none either.
    """
    for name, value in given:
        if not _REMOTE.fullmatch(name) or "::" in value or value.startswith("-"):
            continue
        if name.endswith(".url") or ":refs/remotes/" in value:
            yield name, value
