"""Real archives for tests: crawls made of plain dictionaries, and a user who runs git by hand."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

from webarc.archive import times
from webarc.archive.metadata import commit_tag
from webarc.archive.repository import Repository
from webarc.archive.store import Archive
from webarc.archive.worktree import bring, mend

DOMAIN = "example.org"
START = times.parse("2026-11-15 12:00:00")
PROJECT = Path(__file__).parent.parent


def message(tag: str, kind: str = "crawl") -> str:
    """A commit message as webarc writes it."""
    return f"{tag}\n\n3 fetched, 1 new\n\nWebarc-Kind: {kind}\n"


def commit(
    repo: Repository,
    files: Mapping[str, bytes],
    gone: Iterable[str] = (),
    kind: str = "crawl",
    staged: Path | None = None,
) -> str:
    """Commit without touching the work tree; the caller holds the tree lock. Returns the commitTag."""
    crawl_time = repo.archive.reserve(repo.domain, START)
    tag = commit_tag(crawl_time, repo.domain)
    repo.create()
    with repo.importer() as importer:
        for path, data in files.items():
            if staged is None:
                importer.add_bytes(path, data)
                continue
            place = staged / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)
            importer.add(path, place)
        for path in gone:
            importer.drop(path)
        mend(repo)
        name = tag if kind == "crawl" else None
        importer.commit(repo.tip(), message(tag, kind), times.parse(crawl_time), name)
    return tag


def crawl(
    archive: Archive, files: Mapping[str, bytes], gone: Iterable[str] = (), domain: str = DOMAIN, kind: str = "crawl"
) -> tuple[str, list[str]]:
    """What a crawl does with its findings: stage, commit, bring. Returns the commitTag and the warnings."""
    repo = archive.repository(domain)
    with archive.new_staging("test") as staging, archive.lock_tree(domain):
        staged = staging.path / repo.folder.name
        tag = commit(repo, files, gone, kind, staged)
        return tag, bring(repo, staged)


def user_git(folder: Path, *args: str, home: Path | None = None, check: bool = True) -> str:
    """What a user at a shell in the folder gets to see."""
    done = subprocess.run(
        ["git", *args], cwd=folder, env=user_environment(home or folder.parent), capture_output=True, text=True
    )
    if check:
        assert done.returncode == 0, done.stderr
    return done.stdout


def user_environment(home: Path) -> dict[str, str]:
    """The environment of somebody whose home is this folder."""
    identity = {f"GIT_{who}_{what}": "user" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    return {"PATH": os.environ["PATH"], "HOME": str(home), "XDG_CONFIG_HOME": str(home / ".config"), **identity}


def shown(repo: Repository) -> dict[str, bytes]:
    """Every file of the work tree, rescued ones left out."""
    found = {}
    for path in repo.folder.rglob("*"):
        name = path.relative_to(repo.folder).as_posix()
        if path.is_file() and not name.startswith((".git/", ".webarc/rescued/")):
            found[name] = path.read_bytes()
    return found


def committed(repo: Repository, revision: str = "main") -> dict[str, bytes]:
    """Every file of a commit, as git has it."""
    found = dict(repo.files(revision))
    with repo.reader() as reader:
        return {
            path: data for path, data in zip(found, reader.read_many(found.values()), strict=True) if data is not None
        }


def rescued(repo: Repository) -> dict[str, bytes]:
    """Every rescued file by its path below the crawl's own folder."""
    home = repo.folder / ".webarc" / "rescued"
    return {
        path.relative_to(home).as_posix().partition("/")[2]: path.read_bytes()
        for path in home.rglob("*")
        if path.is_file()
    }


def start(
    code: str, *args: object, env: Mapping[str, str] | None = None, prefix: Iterable[str] = ()
) -> subprocess.Popen[str]:
    """Run a piece of Python in a process of its own."""
    settings = {**(env or os.environ), "PYTHONPATH": str(PROJECT)}
    command = [*prefix, sys.executable, "-c", code, *map(str, args)]
    return subprocess.Popen(command, env=settings, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finish(process: subprocess.Popen[str]) -> str:
    """What a started process printed; it must have ended well."""
    output, complaints = process.communicate(timeout=60)
    assert process.returncode == 0, complaints
    return output


@contextmanager
def running(code: str, *args: object) -> Iterator[subprocess.Popen[str]]:
    """A process that has printed its first line, and is killed in the end if it still lives."""
    process = start(code, *args)
    assert process.stdout is not None
    try:
        assert process.stdout.readline(), process.communicate()[1]
        yield process
    finally:
        process.kill()
        process.communicate()


def killed(process: subprocess.Popen[str]) -> None:
    """Kill a process the hard way and wait until it is gone."""
    process.send_signal(signal.SIGKILL)
    process.wait()


def next_second(crawl_time: str) -> str:
    """The crawl time a second later."""
    return times.text(times.parse(crawl_time) + timedelta(seconds=1))
