"""Runs one instance per domain, never more at once than allowed, until the queue of start URLs is empty."""

from __future__ import annotations

import os
import signal
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from multiprocessing.connection import Connection, wait

from webarc.archive.urls import host_of, key_of
from webarc.crawler.control import DONE, JOIN, NOTE, PROGRESS, STOP
from webarc.crawler.job import Job, Progress, Result
from webarc.crawler.nursery import instance
from webarc.errors import Stopped, WebarcError


def by_domain(urls: Iterable[str]) -> dict[str, list[str]]:
    """Start URLs grouped by the domain they belong to, in the order of the list."""
    groups: dict[str, dict[str, str]] = {}
    for url in urls:
        pages = groups.setdefault(host_of(url), {})
        # A page is asked for once; of its two schemes, https.
        if not pages.get(key_of(url), "").startswith("https:"):
            pages[key_of(url)] = url
    return {domain: list(pages.values()) for domain, pages in groups.items()}


class Scheduler:
    """A queue of jobs and the instances that work on them."""

    def __init__(
        self,
        jobs: Iterable[Job],
        at_once: int,
        *,
        on_start: Callable[[Job], None],
        on_progress: Callable[[Progress], None],
        on_result: Callable[[Result], None],
        on_note: Callable[[str], None],
    ) -> None:
        self._queue = deque(jobs)
        self._at_once = at_once
        self._on_start = on_start
        self._on_progress = on_progress
        self._on_result = on_result
        self._on_note = on_note
        self._owners = {job.domain: job.domain for job in self._queue}
        self._running: dict[Connection, tuple[Job, int]] = {}
        self._stopping = False
        self._given_up = False
        self._wishes: deque[Callable[[], None]] = deque()

    def run(self) -> None:
        """Work until every job has a result."""
        while self._queue or self._running:
            while self._queue and len(self._running) < self._at_once:
                self._start(self._queue.popleft())
            for connection in wait(list(self._running), timeout=0.2):
                assert isinstance(connection, Connection)
                self._hear(connection)
            self._heed()

    def stop(self) -> None:
        """Let instances commit what is whole and drop jobs that have not begun; safe in a signal handler."""
        self._wishes.append(self._stop)

    def abandon(self) -> None:
        """End the instances at once; nothing that is committed is lost. Safe in a signal handler."""
        self._wishes.append(self._abandon)

    def _heed(self) -> None:
        while self._wishes:
            self._wishes.popleft()()

    def _stop(self) -> None:
        self._stopping = True
        self._on_note("stopping: what is whole is being committed; press Ctrl-C again to give it up")
        while self._queue:
            job = self._queue.popleft()
            self._on_result(Result(job.domain, reason="stopped", exit_code=Stopped.exit_code))
        for connection in self._running:
            _tell(connection, (STOP, None))

    def _abandon(self) -> None:
        self._given_up = True
        for _, process in self._running.values():
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)

    def _start(self, job: Job) -> None:
        connection, process = instance()
        _tell(connection, job)
        self._running[connection] = (job, process)
        self._on_start(job)

    def _hear(self, connection: Connection) -> None:
        job, _ = self._running[connection]
        try:
            kind, value = connection.recv()
        except (EOFError, OSError):
            self._end(connection, _died(job, given_up=self._given_up))
            return
        if kind == PROGRESS:
            self._on_progress(value)
        elif kind == NOTE:
            self._on_note(value)
        elif kind == JOIN:
            _tell(connection, (JOIN, self._grant(job, value)))
        elif kind == DONE:
            self._end(connection, value)

    def _grant(self, job: Job, domain: str) -> bool:
        return not self._stopping and self._owners.setdefault(domain, job.domain) == job.domain

    def _end(self, connection: Connection, result: Result) -> None:
        """An instance hands over its result when it has let go of everything: its process need not be waited for."""
        del self._running[connection]
        connection.close()
        self._on_result(result)


def _tell(connection: Connection, message: object) -> None:
    try:
        connection.send(message)
    except OSError:
        return  # it has ended meanwhile; its result or its death is read next


def _died(job: Job, *, given_up: bool) -> Result:
    kept = "what it had committed stays, the next crawl goes on from there."
    if given_up:
        return Result(job.domain, reason="given up", error=f"given up; {kept}", exit_code=Stopped.exit_code)
    message = f"the crawl of {job.domain} was killed; {kept}"
    return Result(job.domain, reason="killed", error=message, error_class=WebarcError.__name__, exit_code=1)
