"""`webarc crawl`: the main job, from start URLs to a committed, indexed archive."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from webarc.cli.changed_exit_code import changed_exit_code_option
from webarc.cli.context import Context, command
from webarc.cli.crawl_options import CrawlCommand, crawl_options, overrides
from webarc.errors import CHANGED, UsageProblem, WebarcError, worst

if TYPE_CHECKING:
    from datetime import datetime

    from webarc.archive.store import Archive
    from webarc.cli.crawl_display import Display
    from webarc.crawler.job import Job, Result
    from webarc.crawler.plan import Places

# How long to wait for a reader of our output that does not read: as long as for a crawl, or until it gets in the way.
_LONG, _SHORTLY = 300.0, 2.0
_EPILOG = """\b
Examples:
  webarc crawl https://example.org/
  webarc crawl --depth 3 urls.txt
  webarc crawl --depth inf --jobs 8 --exclude '/calendar/' urls.txt
  webarc crawl --interval 6h --report last.json urls.txt
  webarc crawl --resume
  webarc crawl -q urls.txt                        for cron: not a word unless something is wrong
\b
Exit codes: 0 fine, 2 wrong usage, 3 disk, 4 network, 6 authentication, 8 a start page or server error,
13 stopped by a limit, by you, or removals held back; see docs/exit-codes.md.
"""


@click.command(cls=CrawlCommand, epilog=_EPILOG)
@click.argument("sources", nargs=-1, metavar="SOURCE...")
@crawl_options
@click.option(
    "--filter", "add_filters", multiple=True, metavar="NAME", help="Use this filter, too (see `webarc filters`)."
)
@click.option("--no-filter", "drop_filters", multiple=True, metavar="NAME", help="Do not use this filter.")
@click.option(
    "--resume",
    is_flag=True,
    help="Go on with interrupted crawls of the same start URLs and options; without a SOURCE, with all there are.",
)
@click.option(
    "--skip-busy", is_flag=True, help="Leave out a domain that another crawl is at work in, instead of waiting for it."
)
@click.option("--recover-db", is_flag=True, help="Rebuild the index from the archive first.")
@click.option(
    "--report", type=click.Path(dir_okay=False, path_type=Path), help="Write every URL with its outcome to this file."
)
@click.option("--dry-run", is_flag=True, help="Say what would be fetched from the start pages; store nothing.")
@changed_exit_code_option("something is new, changed, gone or moved")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
# What `webarc schedule run` starts its crawls with: standard input is then its line to them.
@click.option("--lifeline", is_flag=True, hidden=True, help="Standard input is a line to the scheduler.")
@command
def crawl(context: Context, sources: tuple[str, ...], **values: Any) -> int:
    """Crawl the sites at the start URLs and keep every new version.

    A SOURCE is a URL, a file with one URL a line (# starts a comment), or - for standard input. Start URLs of one
    domain are crawled together; different domains are crawled side by side.
    """
    from webarc.crawler.sources import Sources, read_sources

    if not sources and not values["resume"]:
        raise UsageProblem(
            "a crawl needs at least one start URL; give a URL, a file with URLs, or - for standard input."
        )
    settings = context.settings(overrides(values))
    found = read_sources(sources, sys.stdin) if sources else Sources()
    for problem in found.problems:
        context.warn(problem)
    run = _Run(context, settings, list(found.urls), values)
    if values["dry_run"]:
        return run.rehearse()
    with run.output_left():
        codes = [run.once()]
        while settings["crawl.interval"] is not None and run.wait(settings["crawl.interval"]):
            codes = [run.once()]
    return worst([UsageProblem.exit_code if found.problems else 0, *codes])


class _Run:
    """The crawls of one command, repeated or not."""

    def __init__(self, context: Context, settings: Any, starts: list[Any], values: dict[str, Any]) -> None:
        from webarc.crawler.plan import Terms
        from webarc.crawler.plan import crawl_options as options_from
        from webarc.crawler.stop_requests import StopRequests, listen
        from webarc.filters.catalog import chosen

        self._context = context
        self._starts = starts
        self._values = values
        self._at_once = settings["crawl.jobs"]
        self._filters_dir = settings.filters_dir
        given = (values["add_filters"], values["drop_filters"], settings["filters.modules"])
        self._options = options_from(settings, chosen(settings["filters.use"], *given), settings.filters_dir)
        self._every = settings["compact.every"]
        self._stall_timeout = settings["crawl.stall_timeout"]
        self._terms = Terms(values["resume"], settings["crawl.lock_wait"], values["skip_busy"])
        self._repeats = settings["crawl.interval"] is not None
        self._display: Display | None = None
        self._requests = StopRequests()
        if values["lifeline"]:
            listen(sys.stdin.fileno(), self._requests)

    def once(self) -> int:
        """One crawl of every start URL."""
        from webarc.archive import times
        from webarc.cli.takedowns import finish_interrupted
        from webarc.crawler.plan import Places

        start_time = times.now()
        # Where there is no archive, there is nothing to go on with.
        archive = self._context.archive(create=bool(self._starts))
        archive.check_writable()
        self._check_report()
        self._check_filters()
        archive.clear_stale_staging()
        finish_interrupted(self._context, self._terms.lock_wait)
        codes = [self._context.recover_database()] if self._values["recover_db"] else []
        with archive.new_staging("run") as scratch:
            reports = scratch.path if self._values["report"] else None
            claims = scratch.path / "claims"
            claims.mkdir()
            places = Places(archive.root, self._context.database_url(), self._filters_dir, reports, claims)
            work = self._jobs(archive, places, start_time)
            results = self._crawled(archive, work)
        if self._values["changed_exit_code"] and any(result.has_news() for result in results):
            codes.append(CHANGED)
        return worst([*codes, *(result.exit_code for result in results)])

    def _crawled(self, archive: Archive, work: list[Job]) -> list[Result]:
        """What came of the jobs; what is to be written is written before anything waits for who reads our output."""
        from webarc.crawler.plan import landing_jobs
        from webarc.crawler.report_file import write_report
        from webarc.crawler.scheduler import Scheduler
        from webarc.waiting import using

        display = self._new_display()

        def follow_up(run: Sequence[Job], landings: Sequence[str]) -> list[Job]:
            """An index that cannot be asked must not cost the run its report."""
            try:
                with using(longest=_SHORTLY):
                    return landing_jobs(run, landings)
            except WebarcError as problem:
                display.warn(f"pages that start URLs lead to were not crawled: {problem}")
                return []

        scheduler = Scheduler(
            work,
            self._at_once,
            follow_up=follow_up,
            stall_timeout=self._stall_timeout,
            on_start=display.started,
            on_progress=display.moved,
            on_result=display.ended,
            on_note=display.say,
        )

        def abandon() -> None:
            scheduler.abandon()
            display.give_up()

        with self._requests.heeded(lambda: None, display.give_up), display:
            with self._requests.heeded(scheduler.stop, abandon):
                scheduler.run()
            if self._values["report"]:
                write_report(self._values["report"], display.results)
            for warning in self._tidied(archive, _committed(display.results)):
                display.warn(warning)
        return display.results

    def _new_display(self) -> Display:
        """One that shows nothing while nobody reads what the crawl before had to say."""
        from webarc.cli.crawl_display import Display
        from webarc.cli.crawl_view import view_for

        news_code = CHANGED if self._values["changed_exit_code"] else 0
        view = view_for(self._context, as_json=self._values["as_json"], news_code=news_code)
        if self._display is not None and self._display.is_stuck:
            return Display(view, self._patience, shown=False)
        self._display = Display(view, self._patience)
        return self._display

    def _patience(self) -> float:
        """How long to wait for a reader of our output that does not read."""
        return _SHORTLY if self._requests.wishes or self._repeats else self._stall_timeout or _LONG

    @contextmanager
    def output_left(self) -> Iterator[None]:
        """At the end, do not wait for a reader of our output any more."""
        from webarc.cli.background import leave_output

        try:
            yield
        finally:
            if self._display is not None and self._display.is_stuck:
                leave_output()

    def _tidied(self, archive: Archive, domains: set[str]) -> list[str]:
        """Pack what is due to be packed, unless asked to stop; returns what went wrong."""
        from webarc.archive.compaction import tidy

        if self._requests.wishes:
            return []
        try:
            with self._requests.heeded(_interrupt, _interrupt):
                return tidy(archive, domains, self._every)
        except KeyboardInterrupt:
            return []

    def _jobs(self, archive: Archive, places: Places, start_time: datetime) -> list[Job]:
        from webarc.crawler.plan import jobs, unfinished_jobs

        if self._starts:
            work = jobs(self._starts, self._options, places, start_time, self._terms)
        else:
            work = unfinished_jobs(archive, places, start_time, self._terms)
        if not work:
            self._context.note("there is no interrupted crawl to go on with")
        return [replace(job, zone=self._context.zone_name()) for job in work]

    def rehearse(self) -> int:
        """Say what would be fetched."""
        from webarc.archive import times
        from webarc.crawler.plan import Places, jobs
        from webarc.crawler.rehearsal import rehearse

        places = Places(self._context.archive_path(), "", self._filters_dir)
        return rehearse(
            jobs(self._starts, self._options, places, times.now()), self._context.echo, as_json=self._values["as_json"]
        )

    def wait(self, seconds: float) -> bool:
        """Wait for the next crawl; a signal ends the waiting, and then there is none."""
        until = time.monotonic() + seconds
        with self._requests.heeded(lambda: None, lambda: None):
            while not self._requests.wishes and time.monotonic() < until:
                time.sleep(min(0.2, max(until - time.monotonic(), 0.0)))
        return not self._requests.wishes

    def _check_report(self) -> None:
        """A report that cannot be written is a mistake to hear of before anything is fetched."""
        file: Path | None = self._values["report"]
        if file is not None and not file.absolute().parent.is_dir():
            raise UsageProblem(f"the folder of --report {file} does not exist; make it or give another file.")

    def _check_filters(self) -> None:
        """A filter that cannot be built is a mistake to hear of before anything is fetched."""
        from webarc.crawler.filtering import make_chain

        make_chain(self._options)


def _interrupt() -> None:
    raise KeyboardInterrupt


def _committed(results: Iterable[Result]) -> set[str]:
    """The domains that got a commit."""
    tags = (tag for result in results for tag in (result.commit_tag, *result.also))
    return {tag.partition("@")[2] for tag in tags if tag}
