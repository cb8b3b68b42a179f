"""Packing repositories: tightly when asked to, cheaply by itself every so many crawls.

Why nothing that anybody needs is ever deleted, whoever is at work in the repository meanwhile:

* Only `git repack -d` deletes packs, and only those that were there when it began and whose objects are all in the new
  pack: the unreachable ones, too (`--keep-unreachable`; `--geometric` never asks what is reachable). So an import that
  found an object in an old pack and did not write it again finds it in the new one. Neither `git gc` nor `git prune`
  is ever run.
* What an import writes is in `tmp_pack_*`, which a repack does not look at, and while its finished pack is not named by
  a ref yet, a `.keep` file guards it.
* What a killed crawl left in a pack that nothing leads to goes before: `archive/pending.py` tells how it is known. All
  else that nothing leads to may be the user's, and stays.
* The crawl lock is held, so there are never two repacks at once; git inherits it, so a killed webarc frees it only when
  its git has ended, too. The tree lock is not held while git packs: others may commit.
* Killed at any moment, the old packs are still there, or the new one is whole and in place. Half-written files are
  called `tmp_*` or `.tmp-*` and are cleared by the next one to hold the lock.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from time import monotonic

from webarc.archive import pending
from webarc.archive.durable import sync_folders
from webarc.archive.failures import storage
from webarc.archive.gitenv import git
from webarc.archive.repository import Repository
from webarc.archive.store import Archive
from webarc.archive.temp_dirs import bytes_below
from webarc.archive.worktree import mend
from webarc.errors import Locked, WebarcError
from webarc.waiting import left_of

_TIGHTLY = (
    "repack",
    "-a",
    "-d",
    "--keep-unreachable",
    "-n",
    "--quiet",
    "--window=50",
    "--depth=50",
    "--window-memory=256m",
)
_CHEAPLY = ("repack", "--geometric=2", "-d", "-n", "--quiet")
_GRAPH = ("commit-graph", "write", "--reachable", "--changed-paths", "--no-progress")
_UNFINISHED = ".tmp-*"
_COMPANIONS = (".idx", ".rev", ".bitmap", ".mtimes")
_COUNT = "webarc-packs"
_TIGHT = "webarc-tight"


@dataclass(frozen=True, slots=True)
class Size:
    """How much room the repository of a domain takes."""

    size: int
    packs: int
    loose: int


@dataclass(frozen=True, slots=True)
class Compaction:
    """What packing one domain did; `warnings` are about its work tree."""

    domain: str
    before: Size
    after: Size
    seconds: float
    warnings: tuple[str, ...]


def compact(archive: Archive, domain: str, wait: float | None = 0.0) -> Compaction:
    """Pack a domain as tightly as can be; waits so long for others at work there to end."""
    began = monotonic()
    repo = archive.repository(domain)
    with archive.lock_crawl(domain, wait), storage(f"packing {domain}"):
        before = size_of(repo)
        with archive.lock_tree(domain, wait=left_of(wait, began)):
            warnings = mend(repo)
            pending.drop(repo.git_dir)
        if repo.tip():
            _clear_unfinished(repo)
            # Once, all differences are looked for; later on, only those to what has come since.
            git(_TIGHTLY if (repo.git_dir / _TIGHT).exists() else [*_TIGHTLY, "-f"], repo.git_dir)
            (repo.git_dir / _TIGHT).touch()
            git([*_GRAPH, "--split=replace"], repo.git_dir)
            _tidy_refs(repo)
        return Compaction(domain, before, size_of(repo), monotonic() - began, tuple(warnings))


def cheap(repo: Repository) -> None:
    """Join the small packs and keep the graph of commits up to date; the caller holds the crawl lock."""
    with storage(f"packing {repo.domain}"):
        if pending.noted(repo.git_dir):
            # Packed together with others, what a killed crawl left could not be told from them any more.
            with repo.archive.lock_tree(repo.domain, wait=0):
                pending.drop(repo.git_dir)
        _clear_unfinished(repo)
        git(_CHEAPLY, repo.git_dir)
        git([*_GRAPH, "--split"], repo.git_dir)
        _tidy_refs(repo)


def due(repo: Repository, every: int) -> bool:
    """Whether so many crawls have each left a pack since the last packing; never if `every` is 0."""
    return bool(every) and _packs(repo) - _remembered(repo) >= every


def tidy(archive: Archive, domains: Iterable[str], every: int) -> list[str]:
    """Pack cheaply where it is due and nobody crawls; what goes wrong is a warning, for nothing depends on it."""
    warnings = []
    for domain in domains:
        repo = archive.repository(domain)
        try:
            if due(repo, every):
                with archive.lock_crawl(domain, wait=0):
                    cheap(repo)
        except Locked:
            continue  # whoever crawls there will see to it
        except WebarcError as error:
            warnings.append(f"the repository of {domain} could not be packed, which does no harm: {error}")
    return warnings


def size_of(repo: Repository) -> Size:
    """The room that a repository takes now, without its work tree."""
    loose = sum(1 for _ in repo.git_dir.glob("objects/??/*"))
    return Size(bytes_below(repo.git_dir), _packs(repo), loose)


def _tidy_refs(repo: Repository) -> None:
    # Tags only: main stays a file of its own, which is read without asking git.
    git(["pack-refs"], repo.git_dir)
    objects = repo.git_dir / "objects"
    (repo.git_dir / _COUNT).write_text(f"{_packs(repo)}\n")
    sync_folders(objects / "pack", objects / "info", objects / "info" / "commit-graphs", repo.git_dir)


def _clear_unfinished(repo: Repository) -> None:
    """Remove what a killed repack left: files half-written, and what belonged to a pack that is deleted already."""
    folder = repo.git_dir / "objects" / "pack"
    # Only a `.keep` may be there before its pack.
    companions = [path for ending in _COMPANIONS for path in folder.glob(f"pack-*{ending}")]
    orphans = [path for path in companions if not path.with_suffix(".pack").exists()]
    for path in [*folder.glob(_UNFINISHED), *orphans]:
        path.unlink(missing_ok=True)


def _packs(repo: Repository) -> int:
    return sum(1 for _ in repo.git_dir.glob("objects/pack/pack-*.pack"))


def _remembered(repo: Repository) -> int:
    """How many packs the last packing left."""
    try:
        return int((repo.git_dir / _COUNT).read_text())
    except (FileNotFoundError, ValueError):
        return 0
