"""A domain's repository written anew without some versions: built beside it, proven, and swapped in.

The new one borrows the old one's objects until it has packed all it needs for itself. It takes over main, every tag
and every other ref, git's index, and the repository's own settings; reflogs and whatever no ref names stay behind.
"""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path
from subprocess import PIPE
from typing import IO, BinaryIO, NamedTuple, cast

from webarc.archive import swap
from webarc.archive.doom import Doom
from webarc.archive.failures import failure, storage
from webarc.archive.gitenv import complaint_book, fields, git, said, spawn
from webarc.archive.importer import MAIN
from webarc.archive.layout import INTERNAL
from webarc.archive.objects import ObjectReader
from webarc.archive.replay import Replay
from webarc.archive.repository import Repository
from webarc.archive.rewrite_proof import prove
from webarc.errors import Damaged, GitProblem, UsageProblem

_BUFFER = 1 << 20
_EXPORT = ("fast-export", "--no-data", "--show-original-ids", "--reencode=no", "--use-done-feature", MAIN)
_IMPORT = ("fast-import", "--quiet", "--done", "--date-format=raw-permissive")
# What there is to reuse of the old packs is reused; `webarc compact` looks for more.
_PACK = ("repack", "-a", "-d", "-n", "--quiet", "--window=0")
_GRAPH = ("commit-graph", "write", "--reachable", "--changed-paths", "--split=replace", "--no-progress")
_TAKEN_OVER = ("config", "description", "index", "sharedindex.*", "hooks", "info")
_AT_WORK = (
    "MERGE_HEAD",
    "CHERRY_PICK_HEAD",
    "REVERT_HEAD",
    "BISECT_LOG",
    "rebase-merge",
    "rebase-apply",
    "worktrees/*",
)
_MARKER = "webarc-rewritten"
_MOST_NAMED = 5


class _Ref(NamedTuple):
    name: str
    kind: str
    object: str
    commit: str


def check_rewritable(repo: Repository, doom: Doom) -> None:
    """Raises UsageProblem if something of the user's would be lost or keep what must go, Damaged where git is."""
    if not repo.shows_main():
        raise UsageProblem(
            f"{repo.folder} has something other than main checked out; run `git checkout main` there, then try again."
        )
    if any(True for name in _AT_WORK for _ in repo.git_dir.glob(name)):
        raise UsageProblem(
            f"a merge, rebase or second work tree of {repo.folder} is under way; end it, then try again."
        )
    refs = [ref.name for ref in _refs(repo.git_dir) if ref.kind not in ("commit", "tag") or not ref.commit]
    refs += fields(["for-each-ref", "--format=%(refname)%00", f"--no-merged={MAIN}"], repo.git_dir)
    if refs:
        names = ", ".join(name.strip() for name in refs[:_MOST_NAMED])
        raise UsageProblem(
            f"commits of your own in {repo.folder} would keep what must go: {names}; delete these refs first."
        )
    if doom.is_partial() and git(["rev-list", "--merges", "--max-count=1", MAIN, "--"], repo.git_dir):
        raise UsageProblem(f"main of {repo.folder} holds merges, so only whole pages of it can be forgotten.")
    _check_whole(repo)


def _check_whole(repo: Repository) -> None:
    try:
        git(["fsck", "--connectivity-only", "--no-dangling", "--no-progress"], repo.git_dir)
    except GitProblem as problem:
        raise Damaged(
            f"the repository of {repo.domain} is damaged, so its history cannot be rewritten ({problem}); "
            f"run `webarc verify {repo.domain}` to see what can be mended."
        ) from problem


def is_rewritten(repo: Repository, tag: str) -> bool:
    """Whether the repository is the one that was written anew under this commitTag; completes a swap first."""
    swap.recover(repo.git_dir, _sibling(repo))
    try:
        return (repo.git_dir / _MARKER).read_text("utf-8").strip() == tag
    except FileNotFoundError:
        return False


def rewrite(repo: Repository, doom: Doom, tag: str) -> None:
    """Replace the repository by one without what is doomed; the caller holds both locks and has mended it.

    The tip must already be free of it, so that the work tree and git's index stay as they are.
    """
    fresh = _sibling(repo)
    with storage(f"rewriting the history of {repo.domain}"):
        remove_remains(repo)
        try:
            _build(repo, fresh, doom)
            prove(repo.git_dir, fresh, doom)
            (fresh / _MARKER).write_text(f"{tag}\n", "utf-8")
            _sync_all(fresh)
            swap.exchange(repo.git_dir, fresh)
        finally:
            remove_remains(repo)


def remove_remains(repo: Repository) -> None:
    """Remove what lies beside the repository: one half-built, or the old one."""
    workshop = _sibling(repo).parent
    swap.recover(repo.git_dir, _sibling(repo))
    if workshop.exists():
        shutil.rmtree(workshop)


def final_files(repo: Repository, doom: Doom) -> dict[str, str]:
    """What the ARCs concerned will be at the tip when the doomed versions are gone: blobs by path."""
    with repo.reader() as reader:
        replay = Replay(doom, reader)
        _export(repo.git_dir, replay, _Nowhere())
    return replay.told()


class _Nowhere:
    def write(self, _data: bytes) -> None:
        """Take no notice."""


def _sibling(repo: Repository) -> Path:
    return repo.folder / INTERNAL / "rewrite" / ".git"


def _build(repo: Repository, fresh: Path, doom: Doom) -> None:
    for folder in ("objects/info", "objects/pack", "refs"):
        (fresh / folder).mkdir(parents=True)
    (fresh / "HEAD").write_text(f"ref: {MAIN}\n")
    _take_over(repo.git_dir, fresh)
    lender = os.path.relpath(repo.git_dir / "objects", fresh / "objects")
    borrowing = fresh / "objects" / "info" / "alternates"
    borrowing.write_text(f"{lender}\n")
    with repo.reader() as reader:
        _import(repo, fresh, Replay(doom, reader), reader)
    git(_PACK, fresh)
    borrowing.unlink()
    if any(repo.git_dir.glob("objects/info/commit-graph*")):
        git(_GRAPH, fresh)
    git(["pack-refs"], fresh)
    shutil.rmtree(fresh / "logs", ignore_errors=True)


def _take_over(old: Path, fresh: Path) -> None:
    for pattern in _TAKEN_OVER:
        for found in old.glob(pattern):
            if found.is_dir():
                shutil.copytree(found, fresh / found.name, symlinks=True)
            else:
                shutil.copy2(found, fresh / found.name)


def _import(repo: Repository, fresh: Path, replay: Replay, reader: ObjectReader) -> None:
    with complaint_book() as complaints:
        process = spawn(_IMPORT, fresh, complaints, stdin=PIPE, buffer=_BUFFER)
        assert process.stdin is not None
        try:
            with suppress(BrokenPipeError):
                _export(repo.git_dir, replay, process.stdin)
                for ref in _refs(repo.git_dir):
                    if ref.name != MAIN:
                        process.stdin.write(_told_again(ref, replay, reader))
                process.stdin.write(b"done\n")
                process.stdin.close()
        except BaseException:
            process.kill()
            raise
        finally:
            with suppress(BrokenPipeError), process:
                process.wait()
        if process.returncode:
            raise failure("git fast-import", said(process, complaints))


def _export(git_dir: Path, replay: Replay, target: IO[bytes] | _Nowhere) -> None:
    with (
        complaint_book() as complaints,
        spawn(_EXPORT, git_dir, complaints, reads_only=True, buffer=_BUFFER) as process,
    ):
        assert process.stdout is not None
        try:
            replay.run(cast("BinaryIO", process.stdout), target.write)
        except BaseException:
            process.kill()
            raise
        if process.wait():
            raise failure("git fast-export", said(process, complaints))


def _told_again(ref: _Ref, replay: Replay, reader: ObjectReader) -> bytes:
    """A ref on the commit that stands for the one it was on; an annotated tag with its author, date and text."""
    mark = replay.marks.get(ref.commit)
    if mark is None:
        raise Damaged(f"{ref.name} names the commit {ref.commit}, which is not on main; delete it and try again.")
    name = ref.name.encode("utf-8", "surrogateescape")
    if ref.kind == "commit":
        return b"reset %s\nfrom %s\n\n" % (name, mark)
    head, _, text = (reader.read(ref.object) or b"").partition(b"\n\n")
    tagger = b"".join(line + b"\n" for line in head.split(b"\n") if line.startswith(b"tagger "))
    return b"tag %s\nfrom %s\n%sdata %d\n%s\n" % (name.removeprefix(b"refs/tags/"), mark, tagger, len(text), text)


def _refs(git_dir: Path) -> list[_Ref]:
    """All refs; `commit` is what a ref comes to, empty if that is no commit or lies behind several tags."""
    form = "--format=%(refname)%00%(objecttype)%00%(objectname)%00%(*objecttype)%00%(*objectname)%00"
    stream = (field.lstrip("\n") for field in fields(["for-each-ref", form], git_dir))
    found = []
    for name in stream:
        kind, object_, peeled_kind, peeled = next(stream), next(stream), next(stream), next(stream)
        commit = object_ if kind == "commit" else peeled if peeled_kind == "commit" else ""
        found.append(_Ref(name, kind, object_, commit))
    return found


def _sync_all(folder: Path) -> None:
    """Make everything below a folder durable, names and bytes."""
    for place, _, names in os.walk(folder, topdown=False):
        for name in [*names, "."]:
            descriptor = os.open(f"{place}/{name}", os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
