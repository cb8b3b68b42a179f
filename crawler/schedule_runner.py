"""Runs what is due, in the foreground: each crawl a process of its own, never two with a domain in common.

A crawl has a line to this process as its standard input: a byte asks it to stop, and when the line ends, because this
process was killed, it ends at once. Signals are not passed on as signals: systemd sends them to the crawls as well,
where they would count twice.

Nothing piles up. What comes due while its run before is not over, or while others crawl its domains, is skipped; what
only has a domain in common with another schedule's run waits for that, once.
"""

from __future__ import annotations

import fcntl
import os
import select
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import IO, Protocol

from webarc.archive import times
from webarc.archive.layout import schedule_log
from webarc.crawler.schedule import following
from webarc.crawler.stop_requests import SIGNALS, StopRequests, ask
from webarc.errors import CHANGED, Locked, Stopped, StorageProblem, WebarcError, worst
from webarc.sql.state import Schedule, State

_TICK = 1.0
_NOT_OVER = "its run before was not over"
_PARTLY_BUSY = "others had a lock of a domain of it, which was left out or not ended; the next run makes up for it"
# From here on, an exit code tells which signal ended the process.
_KILLED = 128
# Of a crawl that found something new, too, if it was asked to tell so.
_FINE = (0, CHANGED)


@dataclass(frozen=True, slots=True)
class Waiting:
    """A claimed schedule and the domains that its crawl will enter."""

    schedule: Schedule
    domains: frozenset[str]
    began: str
    since: str
    resume: bool = False


class Surroundings(Protocol):
    """What the scheduler cannot know by itself."""

    def found(self, schedule: Schedule) -> Schedule:
        """The schedule with its files where they are now; raises UsageProblem if one is missing."""

    def domains(self, schedule: Schedule) -> frozenset[str]:
        """The domains that a crawl will enter; raises UsageProblem if that cannot be told."""

    def busy(self, domains: frozenset[str]) -> str:
        """Who crawls all these domains; empty if one of them is free."""


class Runner:
    """The foreground scheduler of one archive."""

    def __init__(
        self,
        state: State,
        program: Sequence[str],
        logs: Path,
        *,
        surroundings: Surroundings,
        environ: Mapping[str, str],
        at_once: int,
        say: Callable[[str], None],
        warn: Callable[[str], None] | None = None,
    ) -> None:
        self._state = state
        self._program = list(program)
        self._logs = logs
        self._environ = dict(environ)
        self._at_once = at_once
        self._surroundings = surroundings
        self._say, self._warn = say, warn or say
        self._queue: list[Waiting] = []
        self._running: dict[subprocess.Popen[bytes], Waiting] = {}
        self._codes: list[int] = []
        self._requests = StopRequests()
        self._passed_on = 0

    @property
    def _stopping(self) -> bool:
        return self._requests.wishes > 0

    def run(self, *, once: bool = False, names: Sequence[str] = ()) -> int:
        """Work until stopped, or until all that is due now is done; the exit code is that of the crawls that ended."""
        with self._signals() as wake:
            try:
                self._work(wake, once, names)
            finally:
                self._end_all()
        return worst(self._codes)

    def _work(self, wake: int, once: bool, names: Sequence[str]) -> None:
        self._take_up_interrupted(names)
        self._claim(names)
        while not self._finished(once):
            self._start_free()
            _wait(wake)
            self._pass_wishes_on()
            self._collect()
            if not once and not self._stopping:
                # Only what a stop cuts short tells how the scheduler itself ended.
                self._codes.clear()
                self._claim(names)

    def _end_all(self) -> None:
        """Nothing runs on unwatched, should the scheduler itself fail."""
        ask(self._lines())
        for process in self._running:
            process.wait()

    def _finished(self, once: bool) -> bool:
        return not self._running and (self._stopping or (once and not self._queue))

    def _take_up_interrupted(self, names: Sequence[str]) -> None:
        """Runs that began and never ended, because the scheduler or the machine went down, are made up for."""
        now = times.now()
        for schedule in self._state.list():
            chosen = not names or schedule.name in names
            if chosen and _never_ended(schedule) and not self._is_skipped(schedule, now):
                self._say(f"{schedule.name}: was interrupted, goes on")
                self._enqueue(schedule, schedule.last_start or "", resume=True)

    def _claim(self, names: Sequence[str]) -> None:
        now = times.now()
        listed = {each.name: each for each in self._state.list()}
        due = [
            each for each in listed.values() if each.next_due <= times.text(now) and (not names or each.name in names)
        ]
        free = {each.name for each in due if not self._is_skipped(each, now)}
        if not free:
            return
        for schedule in self._state.claim_due(times.text(now), lambda each: _next(each, now), listed.keys() - free):
            before = listed.get(schedule.name)
            self._enqueue(schedule, times.text(now), resume=before is not None and _was_cut_short(before))

    def _is_skipped(self, schedule: Schedule, now: datetime) -> bool:
        """Whether a run that is due is left out, which is noted, or has to wait until the run before has ended."""
        engaged = [*self._queue, *self._running.values()]
        own = next((waiting for waiting in engaged if waiting.schedule.name == schedule.name), None)
        if own is not None:
            # One that was due before the run that is made up for began goes on waiting.
            if schedule.next_due > own.since:
                self._say(self._skip(schedule, now, _NOT_OVER))
            return True
        reason = self._busy_elsewhere(schedule, {domain for waiting in engaged for domain in waiting.domains})
        if reason:
            self._count(Locked.exit_code, self._skip(schedule, now, reason))
        return bool(reason)

    def _busy_elsewhere(self, schedule: Schedule, ours: set[str]) -> str:
        try:
            domains = self._surroundings.domains(self._surroundings.found(schedule))
        except WebarcError:
            return ""  # told when it is started
        return "" if domains & ours else self._surroundings.busy(domains)

    def _skip(self, schedule: Schedule, now: datetime, reason: str) -> str:
        """Note it; returns what to say."""
        self._state.skip(schedule.name, times.text(now), reason, _next(schedule, now))
        return f"{schedule.name}: skipped; {reason}"

    def _count(self, code: int, why: str) -> None:
        """Let a code decide how the scheduler itself ends; why, is said also where nothing else is."""
        self._codes.append(code)
        (self._say if code in _FINE else self._warn)(why)

    def _enqueue(self, schedule: Schedule, began: str, *, resume: bool = False) -> None:
        since = times.text(times.now())
        try:
            found = self._surroundings.found(schedule)
            self._queue.append(Waiting(found, self._surroundings.domains(found), began, since, resume))
        except WebarcError as error:
            self._warn(f"{schedule.name}: cannot run; {error}")
            self._finish(Waiting(schedule, frozenset(), began, since), error.exit_code, str(error))

    def _start_free(self) -> None:
        """Start what has no domain in common with a running crawl, or with one that waits longer."""
        taken = {domain for waiting in self._running.values() for domain in waiting.domains}
        for waiting in list(self._queue):
            free = not (taken & waiting.domains)
            taken |= waiting.domains
            if free and not self._stopping and len(self._running) < self._at_once:
                self._queue.remove(waiting)
                self._start(waiting)

    def _start(self, waiting: Waiting) -> None:
        schedule = waiting.schedule
        log = self._log(schedule)
        with log.open("wb") as output:
            # A session of its own: Ctrl-C reaches the scheduler alone.
            process = subprocess.Popen(
                [*self._program, *(["--resume"] if waiting.resume else []), *schedule.argv],
                env=self._environ,
                stdin=subprocess.PIPE,
                bufsize=0,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._running[process] = waiting
        self._say(f"{schedule.name}: started, its output goes to {log}")

    def _collect(self) -> None:
        for process, waiting in list(self._running.items()):
            code = process.poll()
            if code is not None:
                del self._running[process]
                _line(process).close()
                self._finish(waiting, code if code >= 0 else _KILLED - code)

    def _finish(self, waiting: Waiting, code: int, remark: str | None = None) -> None:
        # A clock that went back must not make the run look interrupted.
        end = max(times.text(times.now()), waiting.began)
        cut_short = self._stopping and (code == Stopped.exit_code or code >= _KILLED)
        if cut_short:
            code = Stopped.exit_code  # not noted as ended, so that the next scheduler goes on with it
        else:
            remark = _PARTLY_BUSY if code == Locked.exit_code else remark
            self._state.finish(waiting.schedule.name, end, code, remark)
        has_output = waiting.domains and code not in _FINE and not cut_short
        where = f"; its output is in {self._log(waiting.schedule)}" if has_output else ""
        why = f"{waiting.schedule.name}: ended with exit code {code}{where}"
        self._count(code if code < _KILLED else WebarcError.exit_code, why)

    def _pass_wishes_on(self) -> None:
        """A stop is passed on to the running crawls, as often as it comes; what waits is made up for next time."""
        while self._passed_on < self._requests.wishes:
            if not self._passed_on:
                self._say(f"stopping; {len(self._running)} crawls are told to end")
            self._passed_on += 1
            ask(self._lines())

    def _lines(self) -> list[int]:
        return [_line(process).fileno() for process in self._running]

    def _log(self, schedule: Schedule) -> Path:
        self._logs.mkdir(parents=True, exist_ok=True)
        return schedule_log(self._logs, schedule.name)

    @contextmanager
    def _signals(self) -> Iterator[int]:
        """A file to wait on that signals and ended crawls make readable; no signal is lost between two looks."""
        reader, writer = os.pipe()
        os.set_blocking(writer, False)
        before = {number: signal.signal(number, self._requests.signalled) for number in SIGNALS}
        before[signal.SIGCHLD] = signal.signal(signal.SIGCHLD, lambda *_: None)
        wakeup = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
        try:
            yield reader
        finally:
            signal.set_wakeup_fd(wakeup)
            for number, handler in before.items():
                signal.signal(number, handler)
            os.close(reader)
            os.close(writer)


def _line(process: subprocess.Popen[bytes]) -> IO[bytes]:
    """Our end of the line to a crawl."""
    assert process.stdin is not None
    return process.stdin


def _never_ended(schedule: Schedule) -> bool:
    began, ended = schedule.last_start, schedule.last_end
    return bool(began) and (ended is None or ended < str(began))


def _was_cut_short(schedule: Schedule) -> bool:
    """Whether the run before left something to go on with: it was killed, or did not get a lock when it committed."""
    code = schedule.last_exit
    return _never_ended(schedule) or (code is not None and (code == Locked.exit_code or code >= _KILLED))


def _next(schedule: Schedule, now: datetime) -> str:
    return times.text(following(schedule.kind, schedule.spec, now))


@contextmanager
def alone(lock: Path) -> Iterator[None]:
    """Be the only scheduler of an archive; the lock is held by living processes only."""
    try:
        lock.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise StorageProblem(f"{lock} cannot be opened ({error.strerror}); check the archive folder.") from None
    try:
        _take(handle)
        yield
    finally:
        os.close(handle)


def _take(handle: int) -> None:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise Locked("another `webarc schedule run` serves this archive already; stop it first.") from None


def _wait(wake: int) -> None:
    if select.select([wake], [], [], _TICK)[0]:
        os.read(wake, 4096)
