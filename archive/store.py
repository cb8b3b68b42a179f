"""The archive folder: one git repository per domain, and webarc's own files beside them."""

from __future__ import annotations

import os
import re
from contextlib import AbstractContextManager, suppress
from datetime import datetime
from pathlib import Path
from shutil import which
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from webarc.archive import gitlibrary, locks, reservation, staging, times
from webarc.archive.failures import storage
from webarc.archive.gitenv import OLDEST, git
from webarc.archive.layout import INTERNAL, domain_folder, domain_of
from webarc.archive.locks import LOCK_WAIT
from webarc.archive.repository import Repository
from webarc.archive.staging import Staging
from webarc.errors import NotAnArchive, StorageProblem, UsageProblem

if TYPE_CHECKING:
    from webarc.archive.objects import ObjectReader

_SHORTENED = "%_~"
_CRAWLS = ("crawl", "guest")


class Archive:
    """Everything webarc keeps, found by its folder."""

    def __init__(self, root: Path, lock_wait: float | None = LOCK_WAIT) -> None:
        self.lock_wait = lock_wait
        self.root = root.absolute()
        self.internal = self.root / INTERNAL
        self.index_file = self.internal / "index.db"
        self.state_file = self.internal / "state.db"
        self.staging = self.internal / "staging"
        self.locks = self.internal / "locks"
        self.journal = self.internal / "journal"
        self.log = self.internal / "log"

    @classmethod
    def create(cls, root: Path) -> Archive:
        """Make an archive, or complete one that is there, after making sure that it can work here."""
        _check_tools()
        archive = cls(root)
        with storage(f"creating the archive {archive.root}"):
            if archive.locks.is_dir():
                archive.check_writable()
            if archive.root.exists() and not archive.root.is_dir():
                raise UsageProblem(f"{archive.root} is not a folder; name one for the archive.")
            archive.root.mkdir(mode=0o755, parents=True, exist_ok=True)
            for folder in (archive.internal, archive.staging, archive.locks, archive.journal, archive.log):
                folder.mkdir(mode=0o755, exist_ok=True)
            _check_case(archive.internal)
        return archive

    @classmethod
    def open(cls, root: Path, lock_wait: float | None = LOCK_WAIT) -> Archive:
        """An archive that exists; where nothing else is said, its locks are waited for so many seconds."""
        archive = cls(root, lock_wait)
        if not archive.locks.is_dir():
            raise NotAnArchive(f"{archive.root} holds no archive; make one with `webarc init` or name another folder.")
        return archive

    def is_writable(self) -> bool:
        """Whether this user may write here, and the disk lets anybody."""
        places = (self.root, self.internal, self.locks, self.staging)
        return all(os.access(place, os.W_OK) for place in places if place.exists())

    def check_writable(self) -> None:
        """Raises StorageProblem where nothing may be written."""
        if not self.is_writable():
            raise StorageProblem(
                f"the archive {self.root} may not be written to; "
                "run the command as the user who owns it, or make it writable if its disk is mounted read-only."
            )

    def domains(self) -> list[str]:
        """Every domain that has a repository, however damaged, sorted."""
        with storage(f"reading the archive {self.root}"), os.scandir(self.root) as entries:
            folders = [entry.name for entry in entries if Path(entry.path, ".git").is_dir()]
        return sorted(self._domain_in(folder) for folder in folders)

    def repository(self, domain: str) -> Repository:
        """The repository of a domain, which need not exist yet."""
        return Repository(self, domain)

    def lock_crawl(
        self, domain: str, wait: float | None = None, *, moves: bool = False
    ) -> AbstractContextManager[None]:
        """Held for a whole crawl: one crawl of a domain at a time. Who `moves` touches the lock file as it does."""
        wait = self.lock_wait if wait is None else wait
        return locks.lock(self.crawl_lock_file(domain), f"the crawl of {domain}", wait=wait, moves=moves)

    def crawl_lock_file(self, domain: str) -> Path:
        """The file that is locked during a crawl; its time says when the crawl moved last."""
        return self._lock_file(domain, "crawl")

    def lock_tree(
        self, domain: str, *, shared: bool = False, wait: float | None = None
    ) -> AbstractContextManager[None]:
        """Exclusive to commit and to change the work tree, shared to read it; one per process."""
        wait = self.lock_wait if wait is None else wait
        return locks.tree_lock(self._lock_file(domain, "tree"), f"the folder of {domain}", shared=shared, wait=wait)

    def new_staging(self, label: str) -> Staging:
        """A temp dir that lives as long as this process or its forked children."""
        with storage("making a temp dir"):
            return staging.new_staging(self.staging, self.locks / "staging", label)

    def resumable_staging(self) -> list[Path]:
        """The temp dirs of interrupted crawls, newest first."""
        with storage("looking for interrupted crawls"):
            return staging.resumable(self.staging, self.locks / "staging")

    def take_over_staging(self, path: Path) -> Staging | None:
        """The temp dir of an interrupted crawl, now held by this process; None if another was faster."""
        with storage("taking over a temp dir"):
            return staging.take_over(path, self.locks / "staging")

    def clear_stale_staging(self) -> list[Path]:
        """Remove the temp dirs that no living process holds and no crawl can go on with."""
        with storage("clearing old temp dirs"):
            return staging.clear_stale(self.staging, self.locks / "staging")

    def reserve(self, domain: str, start: datetime, reader: ObjectReader | None = None) -> str:
        """The crawl time of a crawl that starts now; nobody else ever gets it for this domain."""
        last = self.repository(domain).newest(_CRAWLS, reader)
        return reservation.reserve(self._lock_file(domain, "reserved"), start, _crawl_time(last.tag) if last else None)

    def _lock_file(self, domain: str, purpose: str) -> Path:
        return self.locks / f"{domain_folder(domain)}.{purpose}"

    def _domain_in(self, folder: str) -> str:
        if _SHORTENED in folder:
            # If its configuration cannot be read, the folder is all that names it.
            with suppress(Exception):
                return gitlibrary.setting(self.root / folder / ".git", "webarc", "domain") or domain_of(folder)
        return domain_of(folder)


def _crawl_time(tag: str) -> datetime | None:
    try:
        return times.parse(tag.partition("@")[0])
    except (ValueError, OverflowError):
        return None


def _check_tools() -> None:
    version = re.search(rb"(\d+)\.(\d+)", git(["--version"]))
    if version and tuple(map(int, version.groups())) < OLDEST:
        raise UsageProblem(f"git {version.group().decode()} is too old; install git {OLDEST[0]}.{OLDEST[1]} or newer.")
    if which("rsync") is None:
        raise UsageProblem("rsync was not found; install it (on Debian: apt-get install rsync).")


def _check_case(folder: Path) -> None:
    with TemporaryDirectory(prefix="Case-", dir=folder) as name:
        probe = Path(name)
        if (probe.parent / probe.name.lower()).exists():
            raise StorageProblem(
                f"{folder.parent} does not tell upper from lower case; put the archive on another disk."
            )
