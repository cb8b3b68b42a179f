"""One crawl of one domain, from the lock to the commit, in a process of its own."""

from __future__ import annotations

import gc
import os
import pickle
import socket
import sys
import traceback
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from itertools import chain
from time import monotonic
from types import TracebackType

from webarc.archive import zones
from webarc.archive.document import headers_of
from webarc.archive.failures import storage_problem
from webarc.archive.indexing import catch_up
from webarc.archive.layout import METADATA, arc_file, arc_of, domain_folder
from webarc.archive.objects import ObjectReader
from webarc.archive.reports import crawl_paths, parse_crawl, read_urls
from webarc.archive.store import Archive
from webarc.archive.urls import host_of
from webarc.archive.worktree import mend
from webarc.crawler.capture import Committed, Landed, LeftOut, Order
from webarc.crawler.channel import Channel
from webarc.crawler.claims import claim, release
from webarc.crawler.control import CONTROL_TYPES, Control
from webarc.crawler.ending import Ending, Previous
from webarc.crawler.errands import Errands
from webarc.crawler.fetching import make_fetcher
from webarc.crawler.filtering import make_chain
from webarc.crawler.frontier import Item
from webarc.crawler.harvest import Harvest
from webarc.crawler.job import Job, Result
from webarc.crawler.judgement import Judgement
from webarc.crawler.keeper import Keeper
from webarc.crawler.keeping import KeeperLine
from webarc.crawler.manners import Manners
from webarc.crawler.outcome import look_up_commit, what_remains
from webarc.crawler.processes import adopt_orphans, end_descendants
from webarc.crawler.reader import ReaderLine
from webarc.crawler.reading import is_readable
from webarc.crawler.reporting import Reporter
from webarc.crawler.resumption import Resumption
from webarc.crawler.ring import Ring
from webarc.crawler.scope import Scope
from webarc.crawler.shelf import Shelf
from webarc.crawler.trail import Trail
from webarc.crawler.watchdog import Stacks
from webarc.errors import Damaged, Locked, NoSpace, Stopped, WebarcError, worst
from webarc.heartbeat import FETCH, RESUMABLE, Heartbeats, look_at_beats
from webarc.sql.index import Index
from webarc.sql.rows import CurrentRow
from webarc.waiting import Manner, left_of, use, using

_SHORT_WAIT = 2.0
# Whoever does not wait for a domain to begin still waits for a moment for what its crawl needs then.
_LEAST_AT_WORK = 10.0
_LEAST_WAIT = 1.0
_GARBAGE = 50_000
_MOST_SAID = 20
_SMALL_DOMAIN = 2_000


def run_instance(line: int, task: int, beats: int, stacks: int) -> None:
    """The entry point of an instance's process, given descriptors; the result travels back through the line."""
    os.setsid()
    adopt_orphans()
    gc.set_threshold(_GARBAGE)  # looking for it costs every page a little
    heartbeats = Heartbeats(beats)
    heartbeats.use(FETCH)
    Stacks(stacks).answer_signals()
    control = Control(Channel(socket.socket(fileno=line), CONTROL_TYPES), heartbeats)
    with os.fdopen(task, "rb") as file:
        job: Job = pickle.load(file)  # noqa: S301 - written by the scheduler
    zones.use(job.zone)
    _wait_as_told(job, control)
    result = Result(job.domain)
    _run(job, control, heartbeats, result)
    end_descendants()  # nothing that it started is left behind
    control.done(result)


def _wait_as_told(job: Job, control: Control) -> None:
    """Every step, and every look at a lock that somebody else has, is a look at the scheduler, too."""
    look_at_beats(control.check)
    longest = _LEAST_AT_WORK if job.lock_wait == 0 else job.lock_wait
    use(Manner(longest, control.check, control.say))


def _run(job: Job, control: Control, heartbeats: Heartbeats, result: Result) -> None:
    try:
        with _begun(job, control, heartbeats, result) as instance:
            instance.crawl(result)
    except WebarcError as error:
        _note(job, heartbeats, result, error)
    except OSError as error:
        _note(job, heartbeats, result, storage_problem("the crawl", error))
    except Exception as error:  # noqa: BLE001 - the scheduler must hear of it, whatever it is
        traceback.print_exc()
        problem = WebarcError(f"the crawl of {job.domain} failed unexpectedly: {error!r}; please report this.")
        _note(job, heartbeats, result, problem)


@contextmanager
def _begun(job: Job, control: Control, heartbeats: Heartbeats, result: Result) -> Iterator[Instance]:
    """An instance that owns its domain; if somebody else is at work there, nothing has begun."""
    with ExitStack() as stack:
        try:
            # Of a domain that is tried again people know already.
            with using(say=_unheard if job.told_to_wait else control.say):
                instance = stack.enter_context(Instance(job, control, heartbeats))
        except Locked:
            result.busy = True
            raise
        yield instance


def _note(job: Job, heartbeats: Heartbeats, result: Result, error: WebarcError) -> None:
    """The crawl failed: say why, and what became of it as far as it had come."""
    result.error, result.error_class, result.exit_code = str(error), type(error).__name__, error.exit_code
    if isinstance(error, Stopped):
        result.reason = "stopped"
    if heartbeats.crawl_time:
        look_up_commit(job.archive, heartbeats, result)
        if not isinstance(error, NoSpace):  # then the temp dir is gone
            result.warnings.append(f"{what_remains(result, heartbeats)}.")


class Instance:
    """Owns a domain for the length of a crawl."""

    def __init__(self, job: Job, control: Control, heartbeats: Heartbeats) -> None:
        self._job = job
        self._control = control
        self._heartbeats = heartbeats
        self._stack = ExitStack()
        self._began = monotonic()
        self._archive = Archive.open(job.archive, lock_wait=job.lock_wait)
        self._definition = job.options.definition(list(job.starts))
        self._crawl_times: dict[str, str] = {}
        self._previous: dict[str, Previous] = {}
        self._objects: dict[str, tuple[ObjectReader, str]] = {}
        self._rows: dict[str, dict[str, CurrentRow] | None] = {}
        self._problems: list[str] = []
        self._owned: dict[str, str] = {}
        self._behind: set[str] = set()

    def __enter__(self) -> Instance:
        job, stack = self._job, self._stack
        lock = self._archive.lock_crawl(job.domain, 0.0 if job.skip_busy else self._left(), moves=True)
        stack.enter_context(lock)
        self._control.show_movement(self._archive.crawl_lock_file(job.domain))
        say = _unheard if job.told_to_wait else self._control.say
        try:
            self._resumption = Resumption(self._archive, job, self._definition, say)
            self._staging = stack.enter_context(self._resumption).staging
            # Forked before databases and connections are open: those must not be shared between processes.
            self._ring = Ring()
            self._line = stack.enter_context(self._begin_keeper())
            self._reader = stack.enter_context(self._begin_reader())
            self._index = Index(job.database)
            stack.callback(self._index.close)
            # Whoever skips busy domains does not come back for them, and waits for the folder as at the commit.
            self._own(job.domain, job.starts[0].partition(":")[0], wait=None if job.skip_busy else self._left())
            self._frontier = self._resumption.frontier()
            stack.callback(self._frontier.close)
            self._resumption.begin(self._crawl_times[job.domain])
            if self._resumption.can_go_on:
                self._heartbeats.mark(RESUMABLE)
            self._reader.know(self._crawl_times[job.domain])
        except BaseException:
            stack.__exit__(*sys.exc_info())
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._stack.__exit__(kind, error, at)

    def _left(self) -> float | None:
        """How long this instance may still wait to begin."""
        return left_of(self._job.lock_turn, self._began)

    def crawl(self, result: Result) -> None:
        """Fetch, decide, report, commit."""
        job = self._job
        # Told even if the crawl fails: files of the user's own may have been put aside.
        result.warnings = self._problems
        scope = Scope(
            job.options.scope,
            list(job.starts),
            no_parent=job.options.no_parent,
            include=job.options.include,
            exclude=job.options.exclude,
            requisites_from_anywhere=job.options.requisites_from_anywhere,
        )
        with make_fetcher(job) as fetcher:
            fetcher.watch(self._reader.fileno())
            trail = Trail(
                *(job.options, self._frontier, scope, self._owned, job.owned_elsewhere),
                *(self._adopt, fetcher.cookies),
            )
            manners = Manners(job.options.wait, job.options.random_wait, job.options.connections)
            errands = Errands(job.options, fetcher, manners, trail, self._owned)
            harvest = Harvest(
                *(job.domain, job.options, self._frontier, fetcher, manners, trail, errands, self._control),
                *(self._staging, self._current),
            )
            judgement = Judgement(
                *(job.options, self._frontier, trail, self._owned),
                reader=self._reader,
                line=self._line,
                shelf=Shelf(self._ring),
                cookies=fetcher.cookies,
                stored=self._stored,
                again=harvest.push,
            )
            harvest.judgement = judgement
            ending = Ending(harvest, trail, self._frontier, self._index, self._previous)
            if job.options.engine == "wget":
                trail.open = False
                from webarc.crawler.wget import Wget

                wget = Wget(job, self._staging, self._control.check)
                harvest.reason = wget.run(self._frontier, trail, judgement, self._look_up)
            else:
                harvest.hoard = self._resumption.hoard
                for url in job.starts:
                    harvest.ask(url, "start")
                harvest.run()
            self._end(harvest, ending)
        result.warnings += scope.problems + errands.problems + fetcher.problems
        result.warnings += judgement.problems[:_MOST_SAID]
        self._finish(harvest, judgement, ending, result)

    def _end(self, harvest: Harvest, ending: Ending) -> None:
        self._frontier.mark_loops()
        if ending.complete():
            ending.ask_unreached(prune=self._job.options.prune, recheck=self._job.options.recheck_resting)
        if not ending.limit:
            ending.ask_gone_again()
        self._frontier.mark_loops()

    def _finish(self, harvest: Harvest, judgement: Judgement, ending: Ending, result: Result) -> None:
        self._reader.close(sweep=not harvest.reason)
        verdicts = self._line.verdicts()
        self._frontier.refuse(verdicts.drops)
        ending.flag_soft404s()
        reporter = Reporter(self._job, self._definition, self._frontier, ending, verdicts)
        tags: dict[str, tuple[str, ...]] = {}
        for event in self._line.commit(self._orders(reporter)):
            if isinstance(event, Landed):
                self._index_commit(event, result)
            elif isinstance(event, LeftOut):
                reporter.left_out(event.domain, event.captures)
                result.warnings.append(f"what was fetched from {event.domain} was left out: {event.reason}")
            else:
                self._note_commit(event, reporter, tags, result)
        self._remember(judgement)
        reporter.conclude(result, monotonic() - self._began)
        if self._behind:
            result.exit_code = worst([result.exit_code, Locked.exit_code])
        self._compare(tags)
        self._resumption.end(harvest.reason, result.commit_tag)

    def _compare(self, tags: dict[str, tuple[str, ...]]) -> None:
        """What the report calls stored must be in the commits; the temp dir stays where it is not."""
        for domain, number in self._frontier.stored().items():
            if domain in self._behind:
                continue
            expected = number - self._frontier.earlier[domain]
            there = self._versions_under(domain, tags.get(domain, ()), expected)
            if there != expected:
                raise WebarcError(
                    f"{expected} pages of {domain} were fetched to be stored, but its commit has {there}; crawl again "
                    "with --resume, and please report this."
                )

    def _versions_under(self, domain: str, tags: tuple[str, ...], expected: int) -> int:
        """How many versions came under these commitTags; the index knows, but not while somebody else rebuilds it."""
        if not tags:
            return 0
        with suppress(Locked, Stopped):
            if sum(self._index.versions_of(domain, tag) for tag in tags) == expected:
                return expected
        repository = self._archive.repository(domain)
        commits = [commit.id for commit in repository.commits() if commit.tag in tags]
        changes = chain.from_iterable(map(repository.changes, commits))
        places = (arc_file(change.path) for change in changes if change.blob)
        return sum(place is not None and place[1] == METADATA for place in places)

    def _index_commit(self, landed: Landed, result: Result) -> None:
        """Index a commit while its files are brought to the work tree."""
        try:
            catch_up(self._archive.repository(landed.domain), self._index, known=landed.known())
        except (Locked, Stopped) as error:
            self._behind.add(landed.domain)
            result.warnings.append(f"the index is behind, the next command that may write there brings it: {error}")

    def _note_commit(
        self, done: Committed, reporter: Reporter, tags: dict[str, tuple[str, ...]], result: Result
    ) -> None:
        reporter.found_same(done.domain, done.same)
        tags[done.domain] = tuple(filter(None, (done.commit_tag, done.later)))
        result.also += [done.later] if done.later else []
        result.warnings += [each for each in done.warnings if each not in result.warnings]
        if done.domain == self._job.domain:
            result.commit_tag = done.commit_tag
        elif done.commit_tag:
            result.also.append(done.commit_tag)

    def _orders(self, reporter: Reporter) -> list[Order]:
        orders = []
        for domain, crawl_time in reversed(self._crawl_times.items()):
            if self._archive.repository(domain).exists() or reporter.answered(domain):
                held = self._previous[domain].held if domain in self._previous else ()
                orders.append(reporter.order(domain, crawl_time, self._staging, held, monotonic() - self._began))
        return orders

    def _remember(self, judgement: Judgement) -> None:
        if self._behind:
            return  # nobody could write to the index a moment ago
        by_domain: dict[str, list[tuple[str, str, str]]] = {}
        for domain, arc, etag, last_modified in judgement.validators:
            by_domain.setdefault(domain, []).append((arc, etag, last_modified))
        # Only a saving for the next crawl, which must not cost this one its report.
        with suppress(Locked, Stopped):
            for domain, rows in by_domain.items():
                self._index.remember_validators(domain, rows)

    # -- domains ----------------------------------------------------------------------------------------------

    def _own(self, domain: str, scheme: str, *, wait: float | None) -> None:
        repository, began = self._archive.repository(domain), monotonic()
        repository.check_place()
        if repository.exists():
            with self._archive.lock_tree(domain, wait=wait):
                self._problems += mend(repository)
        least = _LEAST_AT_WORK if self._job.lock_wait == 0 else _LEAST_WAIT
        with using(None if wait is None else max(left_of(wait, began) or 0.0, least)):
            catch_up(repository, self._index, self._problems.append)
        # What was looked up while it was a guest's may be outdated.
        self._rows.pop(domain, None)
        self._objects.pop(domain, None)
        objects = self._objects_of(domain)
        crawl_time = self._archive.reserve(domain, self._job.start_time, objects and objects[0])
        self._line.own(domain, crawl_time)
        self._owned[domain] = scheme
        self._crawl_times[domain] = crawl_time
        if domain == self._job.domain:
            self._heartbeats.crawl_time = crawl_time
        self._previous[domain] = self._last_crawl(domain)

    def _adopt(self, domain: str, scheme: str) -> bool:
        """Own the domain that a start URL redirects to, unless another instance or process has it."""
        if self._control.check() or not claim(self._job.claims, domain):
            return False
        with ExitStack() as stack:
            try:
                stack.enter_context(self._archive.lock_crawl(domain, wait=0))
                self._own(domain, scheme, wait=_SHORT_WAIT)
            except WebarcError as error:
                release(self._job.claims, domain)
                # What stands in its place, or is broken there, must not cost this crawl its own pages.
                self._problems += [] if isinstance(error, (Locked, Stopped)) else [f"{domain} could not join: {error}"]
                return False
            self._stack.push(stack.pop_all())
        return True

    def _last_crawl(self, domain: str) -> Previous:
        reader = self._objects_of(domain)
        if reader is None:
            return Previous(None, [])
        objects, tip = reader
        try:
            record, urls = (objects.read(f"{tip}:{path}") for path in crawl_paths(self._definition))
            if record is None or urls is None:
                return Previous(None, [])
            return Previous(parse_crawl(record), list(read_urls(urls)))
        except Damaged as error:
            self._problems.append(f"the last report of {domain} cannot be read: {error}")
            return Previous(None, [])

    def _objects_of(self, domain: str) -> tuple[ObjectReader, str] | None:
        if domain not in self._objects:
            repository = self._archive.repository(domain)
            tip = repository.tip() if repository.exists() else None
            if tip is None:
                return None
            self._objects[domain] = (self._stack.enter_context(repository.reader()), tip)
        return self._objects[domain]

    def _current(self, domain: str, arcs: list[str]) -> dict[str, CurrentRow]:
        if domain not in self._rows:
            if domain not in self._owned:
                # What another crawl has brought is compared with again at the commit.
                with using(longest=_SHORT_WAIT), suppress(Locked, Stopped):
                    catch_up(self._archive.repository(domain), self._index)
            self._rows[domain] = self._all_rows(domain)
        rows = self._rows[domain]
        return self._index.current(domain, arcs) if rows is None else {arc: rows[arc] for arc in arcs if arc in rows}

    def _all_rows(self, domain: str) -> dict[str, CurrentRow] | None:
        """All that a small domain has, read at once, which is quicker than some at a time; None for a large one."""
        if self._index.current_count(domain) > _SMALL_DOMAIN:
            return None
        return {row.arc: row for row in self._index.current_arcs(domain)}

    def _look_up(self, item: Item) -> None:
        arc = arc_of(item.url)
        item.current = self._current(host_of(item.url), [arc]).get(arc)

    def _stored(self, domain: str, row: CurrentRow) -> tuple[bytes, dict[str, str]] | None:
        """The bytes of a stored page, and the headers that it came with; no bytes of what is never read."""
        read = is_readable(row.declared_type or row.mime_type)
        # Pictures may come from a thousand hosts, and each of these would need a git process for their headers alone.
        if not read and domain not in self._owned:
            return None
        objects, tip = self._objects_of(domain) or (None, "")
        if objects is None:
            return None
        try:
            body = objects.read(row.blob or f"{tip}:{row.arc}/{row.file}") if read else b""
            return None if body is None else (body, headers_of(objects.read(f"{tip}:{row.arc}/data.xml") or b""))
        except Damaged as error:
            self._problems.append(f"the stored copy of {row.url} cannot be read: {error}")
            return None

    def _begin_keeper(self) -> KeeperLine:
        closing = (self._control.fileno(),)
        calls = (self._idle, self._control.say)
        return KeeperLine.begin(self._make_keeper, self._ring, *calls, beats=self._heartbeats, closing=closing)

    def _begin_reader(self) -> ReaderLine:
        cache = self._archive.internal / "cache" / f"{domain_folder(self._job.domain)}.links.db"
        closing = (self._control.fileno(), self._line.fileno())
        return ReaderLine.begin(self._ring, cache, beats=self._heartbeats, closing=closing)

    def _idle(self) -> None:
        """The crawl waits for its archive side."""
        self._control.check()

    def _make_keeper(self) -> Keeper:
        job = self._job
        chain = make_chain(job.options)
        return Keeper(self._archive, self._staging, chain, job.start_time)


def _unheard(_text: str) -> None:
    """People know already."""
