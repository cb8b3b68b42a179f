"""What cannot be rebuilt from git: at present the schedules. It lives in its own SQLite file, written durably."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from webarc.errors import UsageProblem
from webarc.sql.database import Database, run
from webarc.sql.readonly import ReadOnlyFile, writable
from webarc.sql.sqlite import SqliteFile


@dataclass(frozen=True, slots=True)
class Schedule:
    """A crawl that is to run again and again; `kind` is `cron` or `every`, `argv` what follows `webarc crawl`.

    A run that began and has no end is going on or was interrupted. `archive` is where the archive was when this was
    added, `skipped` when a run was skipped after the last one, and `remark` what there is to say of either.
    """

    name: str
    kind: str
    spec: str
    argv: tuple[str, ...]
    created: str
    last_start: str | None
    last_end: str | None
    last_exit: int | None
    next_due: str
    archive: str | None = None
    skipped: str | None = None
    remark: str | None = None


Schedules = list[Schedule]


class State:
    """The state of an archive; several processes may use it at once."""

    def __init__(self, where: Path | Database) -> None:
        self._database = SqliteFile(where, "state") if isinstance(where, Path) else where

    @classmethod
    def at(cls, path: Path) -> State:
        """The state in a file, which is made if it is not there."""
        return cls(path)

    @classmethod
    def to_read(cls, path: Path) -> State:
        """The state in a file that need not be writable."""
        return cls(path if writable(path) else ReadOnlyFile(path, "state"))

    def close(self) -> None:
        """Let go of all connections."""
        self._database.close()

    def add(
        self,
        name: str,
        kind: str,
        spec: str,
        argv: Sequence[str],
        created: str,
        next_due: str,
        archive: str | None = None,
    ) -> None:
        """Remember a new schedule."""
        # A path need not be UTF-8, and what is not goes as it is.
        place = os.fsencode(archive) if archive and not archive.isprintable() else archive
        values = {"name": name, "kind": kind, "spec": spec, "argv": json.dumps(list(argv)), "archive": place}
        with self._database.writing() as connection:
            added = run(connection, "schedule_add", **values, created=created, next_due=next_due)
            if not added.rowcount:
                raise UsageProblem(f"there is a schedule {name!r} already; remove it first or choose another name.")

    def list(self) -> Schedules:
        """All schedules by name; none where there is no file and none can be made."""
        if isinstance(self._database, ReadOnlyFile) and not self._database.is_there:
            return []
        with self._database.reading() as connection:
            return [_schedule(row) for row in run(connection, "schedule_list")]

    def remove(self, name: str) -> None:
        """Forget a schedule."""
        with self._database.writing() as connection:
            if not run(connection, "schedule_remove", name=name).rowcount:
                raise UsageProblem(f"there is no schedule {name!r}; see `webarc schedule list`.")

    def claim_due(self, now: str, following: Callable[[Schedule], str], busy: Collection[str] = ()) -> Schedules:
        """The schedules that are due and not busy, each given to one caller only and once however many runs it missed.

        `following` tells when a schedule is due next, after now.
        """
        with self._database.writing() as connection:
            due = [_schedule(row) for row in run(connection, "schedule_due", now=now)]
            claimed = [_begun(schedule, now, following(schedule)) for schedule in due if schedule.name not in busy]
            for schedule in claimed:
                times = {"last_start": schedule.last_start, "next_due": schedule.next_due}
                run(connection, "schedule_start", name=schedule.name, **times)
        return claimed

    def finish(self, name: str, end: str, exit_code: int, remark: str | None = None) -> None:
        """Note how a run ended."""
        with self._database.writing() as connection:
            run(connection, "schedule_finish", name=name, last_end=end, last_exit=exit_code, remark=remark)

    def skip(self, name: str, when: str, remark: str, next_due: str) -> None:
        """Note that a run was left out, and why."""
        with self._database.writing() as connection:
            run(connection, "schedule_skip", name=name, skipped=when, remark=remark, next_due=next_due)


def _begun(schedule: Schedule, now: str, next_due: str) -> Schedule:
    """As schedule_start.sql has it: of how the run before ended, and of skipped ones, nothing is left."""
    anew = replace(schedule, last_end=None, last_exit=None, skipped=None, remark=None)
    return replace(anew, last_start=now, next_due=next_due)


def _schedule(row: Any) -> Schedule:
    values = row._asdict()
    archive = None if values["archive"] is None else os.fsdecode(values["archive"])
    return Schedule(**{**values, "argv": tuple(json.loads(values["argv"])), "archive": archive})
