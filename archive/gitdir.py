"""The files in `.git` that git needs before it can read anything, and those that only make it quick."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

from webarc.archive.clone import is_clone
from webarc.archive.findings import BACKUP, REPAIR, Finding, note
from webarc.archive.gitenv import git
from webarc.archive.importer import MAIN
from webarc.archive.packfile import fits_index, is_whole
from webarc.archive.refs import Refs, read_head, read_refs
from webarc.archive.repository import Repository
from webarc.errors import StorageProblem

INDEX, CONFIG, REFS = ".git/index", ".git/config", ".git/refs"
# Their last bytes are a hash of all others.
_HASHED = (
    "pack/*.idx",
    "pack/*.rev",
    "pack/*.bitmap",
    "pack/*.mtimes",
    "pack/multi-pack-index*",
    "info/commit-graph",
    "info/**/*.graph",
)
_CONVERSIONS = ("text", "eol", "ident", "filter", "working-tree-encoding", "export-subst", "export-ignore")
_SAFEGUARDS = {"gc.auto": "0", "gc.pruneexpire": "never"}
# Settings of ours that git reads late, if at all: what they are, and of what kind another value must be.
_SETTINGS = {"core.bare": ("false", "bool"), "gc.auto": ("0", "int"), "gc.pruneexpire": ("never", "expiry-date")}
_CHUNK = 1 << 20
_ID_LENGTH = 20


def check_start(repo: Repository) -> list[Finding]:
    """What keeps git from working at all; nothing else can be looked at until it is mended."""
    if not read_head(repo.git_dir):
        return [_finding(repo, ".git/HEAD", "it names neither a branch nor a commit")]
    if not (repo.git_dir / "refs").is_dir():
        return [_finding(repo, REFS, "the folder is gone, and git takes nothing for a repository without it")]
    if not (repo.git_dir / "objects").is_dir():
        what = "the folder is gone, and with it the whole history"
        return [Finding(repo.domain, "repository", what, BACKUP, path=".git/objects")]
    try:
        found = settings(repo.git_dir / "config")
        # A setting may be legible and still make git refuse to work.
        git(["rev-parse", "--git-dir"], repo.git_dir)
    except StorageProblem as problem:
        # What to do about it is said by the finding.
        return [_finding(repo, CONFIG, str(problem).rpartition("; ")[0])]
    named = found.get("webarc.domain", "")
    if not named and not _is_ours(repo):
        return [note(repo.domain, "repository", "this repository is not webarc's; it is left alone")]
    if is_clone(repo.git_dir):
        what = "it is a clone that is not adopted yet, so it is left alone"
        return [note(repo.domain, "repository", what, "any command that may write there adopts it, or says why not")]
    if named != repo.domain:
        return [_finding(repo, CONFIG, f"it names the domain {named!r}")]
    return [_finding(repo, CONFIG, what) for what in _spoilt(repo.git_dir / "config", found)][:1]


def _spoilt(file: Path, found: dict[str, str]) -> Iterator[str]:
    """Settings of ours that say nothing any more; another choice of the user's is none of them."""
    for name, (ours, kind) in _SETTINGS.items():
        if found.get(name, ours) == ours:
            continue
        try:
            value = git(["config", "--file", str(file), f"--type={kind}", "--get", name]).decode().strip()
        except StorageProblem:
            yield f"its {name} is {found[name]!r}, which is no value for it"
        else:
            if kind == "bool" and value != ours:
                yield f"its {name} is {found[name]!r}, so that git does not see the files"


def _is_ours(repo: Repository) -> bool:
    """Whether anything in a repository tells that crawls were stored there, in a clone of it at least."""
    refs = read_refs(repo.git_dir)
    return refs.is_unusable() or refs.tell_of_crawls()


def settings(file: Path) -> dict[str, str]:
    """What a configuration file of git's says; raises GitProblem if git cannot read it."""
    listed = git(["config", "--file", str(file), "--null", "--list"]).decode("utf-8", "surrogateescape")
    return dict(line.partition("\n")[::2] for line in listed.split("\0")[:-1])


def check_files(repo: Repository, refs: Refs) -> Iterator[Finding]:
    """What is wrong with HEAD, attributes, packed refs and the files whose own hash can be checked."""
    yield from _check_head(repo, refs)
    yield from unreadable_refs(repo, refs)
    found = settings(repo.git_dir / "config")
    for name, value in _SAFEGUARDS.items():
        if found.get(name) != value:
            what = f"its .git/config lets git tidy up by itself, which may take what a running crawl counts on ({name})"
            yield note(repo.domain, "repository", what, f"run `git config {name} {value}` in {repo.folder}")
    hashed = list(_check_hashed(repo))
    yield from hashed
    # Git does not say anything about files while its index is damaged.
    legible = not any(finding.kind == "git-index" and finding.is_damage for finding in hashed)
    if legible and _conversions(repo) != {b"unset"}:
        yield _finding(repo, ".git/info/attributes", "it lets git convert what it checks out")


def unreadable_refs(repo: Repository, refs: Refs) -> Iterator[Finding]:
    """The files and lines of refs that say nothing."""
    return (Finding(repo.domain, "ref", what, REPAIR, path=path) for path, what in refs.unreadable)


def _conversions(repo: Repository) -> set[bytes]:
    """What git would do to the bytes of a page when it checks it out."""
    answers = git(["check-attr", "-z", *_CONVERSIONS, "--", "any/data.html"], repo.git_dir)
    return set(answers.split(b"\0")[2::3])


def _check_head(repo: Repository, refs: Refs) -> Iterator[Finding]:
    head = read_head(repo.git_dir)
    if head == MAIN:
        return
    if head.startswith("refs/") and refs.value(head) is None:
        yield _finding(repo, ".git/HEAD", f"it names the branch {head!r}, which does not exist")
        return
    yield note(
        repo.domain,
        "worktree",
        f"its folder shows {head.removeprefix('refs/heads/')} instead of main, so webarc leaves the files there alone",
        f"run `git checkout main` in {repo.folder} to see the newest crawl",
    )


def _check_hashed(repo: Repository) -> Iterator[Finding]:
    for pattern in _HASHED:
        for path in sorted((repo.git_dir / "objects").glob(pattern)):
            # It may be replaced by a better one meanwhile.
            if path.is_file() and not hash_fits(path) and path.is_file():
                yield _finding(repo, _shown(repo, path), "its bytes do not fit the hash at its end")
            elif path.suffix == ".idx" and (misfit := _misfit(path)) and path.is_file():
                yield _finding(repo, _shown(repo, misfit[0]), misfit[1])
    if not chain_fits(repo.git_dir / "objects"):
        yield _finding(repo, ".git/objects/info/commit-graphs", "its chain names a graph that is not there")
    index = repo.git_dir / "index"
    if not index.exists():
        yield note(repo.domain, "git-index", "git's index is missing; the next crawl makes a new one", path=INDEX)
    elif not hash_fits(index) and not hash_fits(index):
        # Read twice, for git may be writing it.
        yield Finding(repo.domain, "git-index", "its bytes do not fit the hash at its end", REPAIR, path=INDEX)


def chain_fits(objects: Path) -> bool:
    """Whether all parts of a split commit-graph are there."""
    folder = objects / "info" / "commit-graphs"
    try:
        names = (folder / "commit-graph-chain").read_text("ascii", "replace").split()
    except OSError:
        return True
    return all((folder / f"graph-{name}.graph").is_file() for name in names)


def _misfit(index: Path) -> tuple[Path, str] | None:
    """Which of a pack and its index is damaged if they do not belong together, and how."""
    pack = index.with_suffix(".pack")
    try:
        if fits_index(pack, index):
            return None
        if is_whole(pack):
            return index, "it is not the index of its pack"
    except OSError:
        # One of them is gone; a killed process may have left the other.
        return None
    return pack, "its header, or the hash at its end, is damaged, so that git reads nothing from it"


def packs_without_index(repo: Repository) -> Iterator[Finding]:
    """Packs that git does not see; a crawl that was killed leaves one, too, and then nothing is missing."""
    for pack in sorted((repo.git_dir / "objects" / "pack").glob("*.pack")):
        if not pack.with_suffix(".idx").exists() and pack.exists():
            yield _finding(repo, _shown(repo, pack), "it has no index, so that git does not see what is in it")


def hash_fits(path: Path) -> bool:
    """Whether a file of git's is what it was when git wrote it."""
    digest = hashlib.sha1(usedforsecurity=False)
    tail = b""
    try:
        with path.open("rb", buffering=0) as file:
            for piece in iter(lambda: file.read(_CHUNK), b""):
                tail += piece
                digest.update(tail[:-_ID_LENGTH])
                tail = tail[-_ID_LENGTH:]
    except FileNotFoundError:
        return True
    except OSError:
        return False
    # Git may be told to write no hash, and leaves its place empty.
    return tail in (digest.digest(), bytes(_ID_LENGTH))


def _finding(repo: Repository, path: str, what: str) -> Finding:
    return Finding(repo.domain, "repository", what, REPAIR, path=path)


def _shown(repo: Repository, path: Path) -> str:
    return path.relative_to(repo.folder).as_posix()
