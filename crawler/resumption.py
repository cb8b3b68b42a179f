"""Going on with an interrupted crawl: its temp dir, its list of URLs and the files that it had fetched."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType

from webarc.archive.layout import INTERNAL
from webarc.archive.staging import Staging
from webarc.archive.store import Archive
from webarc.archive.zones import shown
from webarc.crawler.frontier import Frontier
from webarc.crawler.hoard import Hoard
from webarc.crawler.interrupted import Interrupted, interrupted, note, note_commit
from webarc.crawler.job import Job
from webarc.errors import NoSpace, StorageProblem

_LIST = "frontier.db"


class Resumption:
    """The temp dir of a crawl, new or taken over; it stays for a later crawl if this one does not reach its end."""

    def __init__(self, archive: Archive, job: Job, definition: str, say: Callable[[str], None]) -> None:
        self._archive = archive
        self._job = job
        self._definition = definition
        self._say = say
        self._earlier: Interrupted | None = None
        self._noted = False
        self._temp_dir = self._taken_over() or archive.new_staging(job.domain)
        self.staging = self._temp_dir.path
        self.hoard = Hoard(self.staging) if self._earlier else None

    def __enter__(self) -> Resumption:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        # On a full disk the room is needed more than what was fetched.
        if error is not None and self.can_go_on and not isinstance(error, NoSpace):
            self._temp_dir.leave()
        self._temp_dir.remove()

    def frontier(self) -> Frontier:
        """The crawl's list of URLs."""
        file = self.staging / INTERNAL / _LIST
        file.parent.mkdir(exist_ok=True)
        if self._earlier is None:
            return Frontier(file)
        try:
            return _restored(file, committed=bool(self._earlier.committed))
        except (sqlite3.DatabaseError, StorageProblem):
            # A power cut may have spoilt the list; the files that are whole still need not be fetched again.
            for ending in ("", "-wal", "-shm"):
                file.with_name(_LIST + ending).unlink(missing_ok=True)
            return Frontier(file)

    def begin(self, crawl_time: str) -> None:
        """From here on, the crawl can be gone on with."""
        if self._job.options.engine != "wget":
            note(self.staging, self._job, self._definition, crawl_time)
            self._noted = True

    @property
    def can_go_on(self) -> bool:
        """Whether `--resume` can go on with this crawl should it not reach its end."""
        return self._noted or self._earlier is not None

    def end(self, reason: str, tag: str) -> None:
        """A crawl that was cut short can go on; one that was not makes earlier ones of its domain superfluous."""
        if reason and self._noted:
            note_commit(self.staging, tag)
            self._temp_dir.leave()
            return
        for earlier in self._of_domain():
            outdated = self._archive.take_over_staging(earlier.place)
            if outdated is not None:
                outdated.remove()

    def _taken_over(self) -> Staging | None:
        for earlier in self._of_domain():
            if self._job.resume and earlier.definition == self._definition:
                found = self._archive.take_over_staging(earlier.place)
                if found is not None:
                    self._earlier = earlier
                    self._say(f"{earlier.domain}: goes on with the crawl that began at {shown(earlier.began)}")
                    return found
            elif not self._job.resume:
                self._say(
                    f"{earlier.domain}: a crawl that began at {shown(earlier.began)} was interrupted; "
                    "this one starts anew (--resume would go on with that one)"
                )
        return None

    def _of_domain(self) -> Iterator[Interrupted]:
        return (earlier for earlier in interrupted(self._archive) if earlier.domain == self._job.domain)


def _restored(file: Path, *, committed: bool) -> Frontier:
    frontier = Frontier(file)
    try:
        frontier.restore(committed=committed)
    except BaseException:
        frontier.close()
        raise
    return frontier
