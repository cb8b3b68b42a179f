"""Is everything well: what can be told of an archive at a glance, without any lock, and without git but for clones.

Ten thousand domains take about a second: a few small files are read of each.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from webarc.archive.adoption import refusal
from webarc.archive.ailments import ailment
from webarc.archive.clone import is_clone
from webarc.archive.disk_usage import DiskUsage, disk_usage
from webarc.archive.hindrance import hindrance
from webarc.archive.holders import Held, Holder, holders
from webarc.archive.importer import MAIN
from webarc.archive.layout import INTERNAL, domain_folder, domain_of, schedule_log
from webarc.archive.refs import read_head, read_refs, ref_value
from webarc.archive.repository import Repository
from webarc.archive.staging import RESUMABLE
from webarc.archive.store import Archive
from webarc.archive.verified import last_verified
from webarc.archive.worktree import SHOWN
from webarc.errors import CHANGED, DatabaseProblem, WebarcError
from webarc.sql.inspection import Standing, index_file
from webarc.sql.state import Schedule, State

# A glance takes no longer, however many files there are.
_COUNTING = 3.0


@dataclass(frozen=True, slots=True)
class Remark:
    """Something about a domain, or about the archive, that is good to know; bad if something is broken or hangs."""

    domain: str
    text: str
    bad: bool = False
    hangs: bool = False


@dataclass(frozen=True, slots=True)
class Unfinished:
    """A temp dir of a crawl: of one that runs, or of one that was interrupted."""

    domain: str
    began: str
    place: Path
    pid: int | None


@dataclass(slots=True)
class Wellbeing:
    """All that can be told; sizes are in bytes, `verified` is how many domains were ever found sound."""

    root: Path
    domains: int = 0
    behind: int = 0
    verified: int = 0
    oldest_verified: str = ""
    history_size: int = 0
    index_size: int = 0
    free: int = 0
    usage: DiskUsage = field(default_factory=lambda: DiskUsage(0, whole=True))
    is_writable: bool = True
    holders: list[Holder] = field(default_factory=list)
    crawls: list[Unfinished] = field(default_factory=list)
    schedules: list[Schedule] = field(default_factory=list)
    remarks: list[Remark] = field(default_factory=list)

    @property
    def is_well(self) -> bool:
        """Whether nothing is broken."""
        return not any(remark.bad for remark in self.remarks)

    @property
    def hangs(self) -> bool:
        """Whether a crawl does not move."""
        return any(remark.hangs for remark in self.remarks)

    @property
    def has_scheduler(self) -> bool:
        """Whether a process runs what is due."""
        return any(holder.purpose == "schedule" for holder in self.holders)


def wellbeing(archive: Archive, database: str, stall_timeout: float | None = None) -> Wellbeing:
    """Look around; a crawl that has not moved for the stall timeout is named."""
    found = Wellbeing(archive.root, free=shutil.disk_usage(archive.root).free, is_writable=archive.is_writable())
    held = Held()
    found.holders = list(holders(archive.locks, held))
    found.crawls = sorted(_crawls(archive.staging, held), key=lambda crawl: (crawl.domain, crawl.began))
    if stall_timeout:
        found.remarks += _standing_still(found.holders, stall_timeout)
    indexed = _indexed(archive, database, found)
    there = archive.domains()
    for domain in there:
        _look_at(archive.repository(domain), indexed, found)
    found.remarks += _lost(indexed or {}, set(there))
    found.remarks += _in_the_way(archive)
    _look_at_schedules(archive, found)
    found.usage = disk_usage(archive.root, _COUNTING)
    return found


def _look_at(repo: Repository, indexed: dict[str, str | None] | None, found: Wellbeing) -> None:
    found.domains += 1
    found.history_size += _packed_size(repo.git_dir)
    head, tip = read_head(repo.git_dir), ref_value(repo.git_dir, MAIN)
    found.remarks += _remarks(repo, head, tip)
    if indexed is not None and tip is not None:
        found.behind += indexed.get(repo.domain) != tip
    verified = last_verified(repo.git_dir)
    if verified is not None:
        found.verified += 1
        found.oldest_verified = min(found.oldest_verified or verified.time, verified.time)


def _lost(indexed: dict[str, str | None], there: set[str]) -> Iterator[Remark]:
    """Domains that the index still knows, and that have no repository any more."""
    for domain in sorted(indexed.keys() - there):
        if indexed[domain] is not None:
            yield Remark(domain, "its repository is gone; restore it, or run `webarc db-recover`", bad=True)


def _remarks(repo: Repository, head: str, tip: str | None) -> Iterator[Remark]:
    if wrong := ailment(repo.git_dir):
        yield Remark(repo.domain, wrong, bad=True)
    elif is_clone(repo.git_dir):
        yield _about_clone(repo)
    elif head != MAIN:
        shown = head.removeprefix("refs/heads/")
        yield Remark(repo.domain, f"its folder shows {shown} instead of main, so crawls leave the files there alone")
    elif tip is not None and ref_value(repo.git_dir, SHOWN) != tip:
        yield Remark(
            repo.domain, "its folder is behind git; a crawl is at it, or the next command that may write brings it"
        )


def _about_clone(repo: Repository) -> Remark:
    with suppress(WebarcError):
        # The only thing that git is asked for: clones are few, and are so until the next command only.
        if wrong := refusal(repo):
            return Remark(repo.domain, wrong.rstrip("."), bad=True)
    ours = read_refs(repo.git_dir).tell_of_crawls()
    what = "it is a clone; " if ours else "webarc did not make its repository; if it is a clone of a domain, "
    return Remark(repo.domain, f"{what}the next command that may write adopts it")


def _in_the_way(archive: Archive) -> Iterator[Remark]:
    """Folders in a domain's place that have no repository of their own, but one elsewhere or a bare one."""
    with os.scandir(archive.root) as entries:
        folders = sorted(entry.name for entry in entries if entry.is_dir() and entry.name != INTERNAL)
    for name in folders:
        domain = domain_of(name)
        if domain_folder(domain) == name and (wrong := hindrance(archive.root / name)):
            yield Remark(domain, wrong.rstrip("."), bad=True)


def _packed_size(git_dir: Path) -> int:
    """The bytes of the packs, which is nearly all of a repository."""
    total = 0
    with suppress(OSError), os.scandir(git_dir / "objects" / "pack") as entries:
        for entry in entries:
            total += entry.stat(follow_symlinks=False).st_size
    return total


def _standing_still(found: list[Holder], longest: float) -> Iterator[Remark]:
    """Crawls that have not touched the lock file of their domain for so long, whatever they are at."""
    for holder in found:
        still = 0.0 if holder.moved is None else time.time() - holder.moved
        if still > longest:
            text = f"the crawl has not moved for {still:.0f} seconds; stop process {holder.pid} to end it"
            yield Remark(holder.domain, text, bad=True, hangs=True)


def _crawls(staging: Path, held: Held) -> Iterator[Unfinished]:
    with os.scandir(staging) as entries:
        for entry in entries:
            note = Path(entry.path, RESUMABLE)
            # Those of other commands live no longer than they do, and have nothing to go on with.
            with suppress(OSError, ValueError, KeyError, TypeError):
                values = json.loads(note.read_text("utf-8"))
                began = str(values["began"]).replace("T", " ")
                yield Unfinished(str(values["domain"]), began, Path(entry.path), held.pid(entry))


def _indexed(archive: Archive, database: str, found: Wellbeing) -> dict[str, str | None] | None:
    """How far the index is; None if it cannot be asked."""
    file = index_file(database)
    if file is not None:
        if not file.exists():
            return {}
        found.index_size = sum(_size(Path(f"{file}{companion}")) for companion in ("", "-wal"))
    try:
        with closing(cast("Standing", Standing.to_read(database))) as index:
            return index.indexed_commits()
    except DatabaseProblem as problem:
        found.remarks.append(Remark("", str(problem).rstrip("."), bad=True))
    return None


def _look_at_schedules(archive: Archive, found: Wellbeing) -> None:
    if not archive.state_file.exists():
        return
    try:
        with closing(State.to_read(archive.state_file)) as state:
            found.schedules = sorted(state.list(), key=lambda each: (each.next_due, each.name))
    except DatabaseProblem as problem:
        found.remarks.append(Remark("", str(problem).rstrip("."), bad=True))
    found.remarks += _failed(archive, found.schedules)
    if found.schedules and found.is_writable and not found.has_scheduler:
        found.remarks.append(Remark("", f"nothing runs the schedules in {INTERNAL}; start `webarc schedule run`"))


def _failed(archive: Archive, schedules: list[Schedule]) -> Iterator[Remark]:
    """Schedules whose last run did not end well."""
    for each in schedules:
        if each.last_exit not in (None, 0, CHANGED):
            log = schedule_log(archive.log, each.name)
            where = f"; its output is in {log}" if log.exists() else ""
            yield Remark("", f"the last run of schedule {each.name} ended with exit code {each.last_exit}{where}")


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
