"""Runs one instance per domain, never more at once than allowed, until the queue of start URLs is empty."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from math import inf
from pathlib import Path
from select import POLLIN, poll
from time import monotonic

from webarc.archive.layout import INTERNAL
from webarc.archive.urls import host_of, key_of
from webarc.crawler.channel import Disordered, Gone
from webarc.crawler.control import STALLED, Done, Note, Stop
from webarc.crawler.job import Job, Progress, Result
from webarc.crawler.nursery import Instance, nursery
from webarc.crawler.outcome import look_up_commit, what_remains
from webarc.crawler.processes import descendants, kill
from webarc.crawler.watchdog import Watchdog, write_report
from webarc.errors import Stalled, Stopped, WebarcError
from webarc.waiting import WAITING

_LISTEN = 0.2
_LOOK = 1.0
# How long an instance that was told to end may stand still once more.
_SHORTEST_GRACE, _LONGEST_GRACE = 5.0, 30.0
# How long an instance waits for a lock while other domains wait for its place.
_SHORT_WAIT = 0.2
# Sites that send visitors back and forth for ever have as many pages of each other crawled, and no more.
_MOST_ROUNDS = 5
# Orders that have not been answered; the line to who forks holds a limited number of them.
_MOST_ORDERED = 32
_TURN = 5.0


def by_domain(urls: Iterable[str]) -> dict[str, list[str]]:
    """Start URLs grouped by the domain they belong to, in the order of the list."""
    groups: dict[str, dict[str, str]] = {}
    for url in urls:
        pages = groups.setdefault(host_of(url), {})
        # A page is asked for once; of its two schemes, https.
        if not pages.get(key_of(url), "").startswith("https:"):
            pages[key_of(url)] = url
    return {domain: list(pages.values()) for domain, pages in groups.items()}


class _Running:
    """An instance at work."""

    def __init__(self, job: Job, at_work: Instance) -> None:
        self.job = job
        self.at_work = at_work
        self.watchdog = Watchdog(at_work.process, at_work.beats)
        self.told_to_end = False
        self.report: Path | None = None
        self.killed = ""

    def fileno(self) -> int:
        """Where it says something."""
        return self.at_work.channel.fileno()

    def tell(self, stop: Stop) -> None:
        """Ask it to end; such a short message always fits into the line."""
        self.at_work.channel.send(stop)
        self.at_work.channel.push()

    def kill(self, why: str) -> None:
        """End it at once; the process that it was forked from ends what it leaves behind."""
        self.killed = self.killed or why
        for pid in (self.at_work.process, *descendants(self.at_work.process)):
            kill(pid)


class Scheduler:
    """A queue of jobs and the instances that work on them."""

    def __init__(
        self,
        jobs: Iterable[Job],
        at_once: int,
        *,
        follow_up: Callable[[Sequence[Job], Sequence[str]], list[Job]] | None = None,
        stall_timeout: float | None = None,
        on_start: Callable[[Job], None],
        on_progress: Callable[[Progress], None],
        on_result: Callable[[Result], None],
        on_note: Callable[[str], None],
    ) -> None:
        self._jobs = list(jobs)
        self._queue = deque(self._jobs)
        self._follow_up = follow_up
        self._landings: list[str] = []
        self._left_out: set[str] = set()
        self._locked: deque[Job] = deque()
        self._began_waiting: dict[str, float] = {}
        self._told: set[str] = set()
        self._at_once = at_once
        self._stall_timeout = stall_timeout or inf
        self._on_start = on_start
        self._on_progress = on_progress
        self._on_result = on_result
        self._on_note = on_note
        self._running: dict[int, _Running] = {}
        self._nursery = nursery()
        self._poll = poll()
        self._look_at = 0.0
        self._stopping = False
        self._wishes: deque[Callable[[], None]] = deque()

    def run(self) -> None:
        """Work until every job has a result, and those that their results lead to."""
        self._work_through()
        for _ in range(_MOST_ROUNDS):
            landings = [url for url in self._landings if host_of(url) not in self._left_out]
            if not landings or self._follow_up is None or self._stopping:
                break
            more = self._follow_up(self._jobs, landings)
            self._landings = []
            self._jobs += more
            self._queue += more
            for job in more:
                self._began_waiting.pop(job.domain, None)
            self._work_through()

    def _work_through(self) -> None:
        while self._queue or self._locked or self._running or self._nursery.waiting:
            while (self._queue or self._locked) and self._has_place():
                self._order(self._queue.popleft() if self._queue else self._locked.popleft())
            for running in self._spoken():
                self._hear(running)
            self._begin()
            self._heed()
            self._watch()

    def _has_place(self) -> bool:
        ordered = self._nursery.waiting
        return ordered < _MOST_ORDERED and len(self._running) + ordered < self._at_once

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
        if self._stopping:
            return
        self._stopping = True
        self._on_note("stopping: what is whole is being committed; press Ctrl-C again to give it up")
        for job in (*self._queue, *self._locked, *self._nursery.drop()):
            self._on_result(Result(job.domain, reason="stopped", exit_code=Stopped.exit_code))
        self._queue.clear()
        self._locked.clear()
        for running in self._running.values():
            running.tell(Stop())

    def _abandon(self) -> None:
        for running in self._running.values():
            running.kill("given up")

    def _order(self, job: Job) -> None:
        tried = job.domain in self._began_waiting
        self._began_waiting.setdefault(job.domain, monotonic())
        self._nursery.order(replace(job, lock_turn=self._turn(job), told_to_wait=job.domain in self._told))
        if not tried:
            self._on_start(job)

    def _begin(self) -> None:
        """Watch over the instances that have begun since the last look."""
        for job, at_work in self._nursery.begun():
            if isinstance(at_work, WebarcError):
                self._on_result(_failed(job, at_work))
                continue
            running = _Running(job, at_work)
            self._running[running.fileno()] = running
            self._poll.register(running.fileno(), POLLIN)

    def _spoken(self) -> list[_Running]:
        """The instances that have said something, or have ended; waits a moment for them, or for one that begins."""
        line = self._nursery.fileno() if self._nursery.waiting else None
        if line is not None:
            self._poll.register(line, POLLIN)
        events = self._poll.poll(_LISTEN * 1000)
        if line is not None:
            self._poll.unregister(line)
        return [self._running[each] for each, _ in events if each != line]

    def _hear(self, running: _Running) -> None:
        try:
            messages = running.at_work.channel.receive()
        except Gone:
            self._end(running, _died(running))
            return
        except Disordered as error:
            running.kill("disordered")
            self._end(running, _failed(running.job, error))
            return
        for message in messages:
            if isinstance(message, Progress):
                self._on_progress(message)
            elif isinstance(message, Note):
                self._on_note(message.text)
                if message.text.startswith(WAITING):
                    self._told.add(running.job.domain)
            elif isinstance(message, Done):
                self._end(running, message.result)

    def _end(self, running: _Running, result: Result) -> None:
        """An instance hands over its result when it has let go of everything: its process need not be waited for."""
        self._poll.unregister(running.fileno())
        del self._running[running.fileno()]
        may_wait = not (self._stopping or running.job.skip_busy) and self._patience(running.job) > 0
        if result.busy and may_wait:
            self._locked.append(running.job)
            self._tell_once(running.job.domain, result)
        else:
            self._landings += result.landings
            self._left_out.update([result.domain] if result.busy else [])
            self._on_result(_stalled(running, result, self._stall_timeout) if running.told_to_end else result)
        running.at_work.close()

    # -- domains that somebody else is at work in -------------------------------------------------------------

    def _turn(self, job: Job) -> float | None:
        """How long an instance may wait for its domain before it gives its place to another one."""
        left = self._patience(job)
        if self._queue:
            return min(left, _SHORT_WAIT)
        if self._locked:
            return min(left, _TURN)
        return None if left == inf else left

    def _tell_once(self, domain: str, result: Result) -> None:
        """An instance says that it waits, unless its turn was too short for that."""
        if domain not in self._told:
            self._told.add(domain)
            self._on_note(f"{WAITING}{result.error}")

    def _patience(self, job: Job) -> float:
        """How long this run still waits for a domain."""
        longest = inf if job.lock_wait is None else job.lock_wait
        return max(self._began_waiting[job.domain] + longest - monotonic(), 0.0)

    # -- instances that do not move ---------------------------------------------------------------------------

    def _watch(self) -> None:
        if self._stall_timeout == inf or monotonic() < self._look_at:
            return
        self._look_at = monotonic() + min(_LOOK, self._stall_timeout / 4)
        for running in list(self._running.values()):
            still = running.watchdog.look()
            if not running.told_to_end and still >= self._stall_timeout:
                self._tell_to_end(running)
            elif running.told_to_end and still >= max(_SHORTEST_GRACE, min(self._stall_timeout, _LONGEST_GRACE)):
                running.kill("stalled")

    def _tell_to_end(self, running: _Running) -> None:
        """First the wish to end: if only one side hangs, what is whole can still be committed."""
        job = running.job
        running.told_to_end = True
        running.report = write_report(
            job.archive / INTERNAL / "log", job.domain, running.at_work.process, running.at_work.stacks
        )
        running.watchdog.begin_again()
        running.tell(Stop(STALLED))


def _died(running: _Running) -> Result:
    """The result of an instance that cannot tell it any more."""
    result, beats = Result(running.job.domain), running.at_work.beats
    look_up_commit(running.job.archive, beats, result)
    kept = what_remains(result, beats)
    if running.killed == "given up":
        result.reason, result.error, result.exit_code = "given up", f"given up; {kept}.", Stopped.exit_code
    else:
        result.reason, result.error = "killed", f"the crawl of {result.domain} was killed; {kept}."
        result.error_class, result.exit_code = WebarcError.__name__, WebarcError.exit_code
    return result


def _failed(job: Job, error: WebarcError) -> Result:
    name = type(error).__name__
    return Result(job.domain, reason="failed", error=str(error), error_class=name, exit_code=error.exit_code)


def _stalled(running: _Running, result: Result, seconds: float) -> Result:
    """The result of an instance that did not move and was told to end, or had to be killed."""
    where = f", where it stood is in {running.report}" if running.report else ""
    kept = what_remains(result, running.at_work.beats)
    result.warnings = [warning for warning in result.warnings if warning != f"{kept}."]
    error = Stalled(f"the crawl of {running.job.domain} did not move for {seconds:.0f} seconds{where}; {kept}.")
    result.reason, result.complete = STALLED, False
    result.error, result.error_class, result.exit_code = str(error), type(error).__name__, error.exit_code
    return result
