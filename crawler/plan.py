"""From settings and start URLs to the jobs of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from webarc.archive import times
from webarc.archive.metadata import commit_tag
from webarc.archive.query_parameters import DroppedParameters
from webarc.archive.store import Archive
from webarc.archive.urls import host_of, key_of
from webarc.crawler.interrupted import interrupted
from webarc.crawler.job import Job
from webarc.crawler.limits import FetchLimits
from webarc.crawler.options import CrawlOptions
from webarc.crawler.scheduler import by_domain
from webarc.crawler.sources import Start
from webarc.errors import UsageProblem

if TYPE_CHECKING:
    from webarc.sql.index import Index


@dataclass(frozen=True, slots=True)
class Places:
    """Where a run reads and writes."""

    archive: Path
    database: str
    filter_settings: Path | None = None
    reports: Path | None = None
    claims: Path | None = None


def crawl_options(settings: Mapping[str, Any], filters: Sequence[str], filter_settings: Path | None) -> CrawlOptions:
    """The options of a crawl as the settings have them."""
    private = settings["crawl.allow_private"]
    plain = {
        name: settings[f"crawl.{name}"]
        for name in (
            *("depth", "page_requisites", "requisites_from_anywhere", "sitemaps", "scope", "no_parent", "include"),
            *("exclude", "accept_type", "reject_type", "robots", "wait", "random_wait", "connections", "user_agent"),
            *("http_user", "http_password", "proxy", "max_pages", "quota", "max_time", "prune", "allow_removals"),
            *("drop_query", "trap_detection", "recheck_resting", "engine"),
        )
    }
    cookies = settings["crawl.load_cookies"]
    return CrawlOptions(
        **plain,
        headers=tuple(_header(line) for line in settings["crawl.headers"]),
        load_cookies=str(cookies) if cookies else None,
        limits=_limits(settings),
        allow_private=private is True,
        allowed_hosts=() if isinstance(private, bool) else tuple(private),
        filters=tuple(filters),
        filter_modules=tuple(settings["filters.modules"].items()),
        filter_settings=str(filter_settings) if filter_settings else None,
        filter_time_limit=settings["filters.time_limit"],
    )


@dataclass(frozen=True, slots=True)
class Terms:
    """How a run deals with others: goes on with what was interrupted, skips who is busy, waits so long for locks."""

    resume: bool = False
    lock_wait: float | None = None
    skip_busy: bool = False


def jobs(
    starts: Sequence[Start], options: CrawlOptions, places: Places, start_time: datetime, terms: Terms | None = None
) -> list[Job]:
    """One job per domain, each knowing which domains the others own."""
    terms = terms or Terms()
    dropped = DroppedParameters(options.drop_query)
    starts = [start._replace(url=dropped.cleaned(start.url)) for start in starts] if dropped else starts
    groups = by_domain(start.url for start in starts)
    secrets = {start.url: (start.user or "", start.password or "") for start in starts if start.user or start.password}
    given = (options.http_user, options.http_password or "") if options.http_user else None
    return [
        Job(
            domain=domain,
            starts=tuple(urls),
            options=options,
            archive=places.archive,
            database=places.database,
            start_time=start_time,
            owned_elsewhere=frozenset(groups) - {domain},
            credentials=next((secrets[url] for url in urls if url in secrets), given),
            report=places.reports / f"{number}.jsonl" if places.reports else None,
            lock_wait=terms.lock_wait,
            skip_busy=terms.skip_busy,
            resume=terms.resume,
            claims=places.claims,
        )
        for number, (domain, urls) in enumerate(groups.items())
    ]


def unfinished_jobs(archive: Archive, places: Places, start_time: datetime, terms: Terms) -> list[Job]:
    """One job for each domain whose last crawl was interrupted, with the options of that crawl."""
    found = {earlier.domain: earlier for earlier in reversed(list(interrupted(archive)))}
    for earlier in found.values():
        if earlier.has_secrets:
            raise UsageProblem(
                f"the interrupted crawl of {earlier.domain} had a password, headers or a proxy, which nobody stores; "
                "give its start URLs and options again together with --resume."
            )
    return [
        Job(
            domain=earlier.domain,
            starts=earlier.starts,
            options=earlier.options,
            archive=places.archive,
            database=places.database,
            start_time=start_time,
            owned_elsewhere=frozenset(found) - {earlier.domain},
            report=places.reports / f"{number}.jsonl" if places.reports else None,
            lock_wait=terms.lock_wait,
            skip_busy=terms.skip_busy,
            resume=True,
            claims=places.claims,
        )
        for number, earlier in enumerate(found.values())
    ]


def landing_jobs(run: Sequence[Job], landings: Sequence[str]) -> list[Job]:
    """What to crawl after a run whose start URLs redirect to pages of other instances, which did not ask for those.

    Which of several instances joins a host depends on who comes first; what is kept in the end does not.
    """
    from webarc.sql.index import Index  # loads much, and few runs need it

    known = {key_of(start) for job in run for start in job.starts}
    first = run[0]
    models = {job.domain: job for job in reversed(run)}
    with closing(Index(first.database)) as index:
        missed = [url for url in landings if key_of(url) not in known and not _was_asked(index, url, first.start_time)]
    groups = by_domain(missed)
    domains = {job.domain for job in run} | groups.keys()
    return [
        replace(
            models.get(domain, first),
            domain=domain,
            starts=tuple(urls),
            owned_elsewhere=frozenset(domains - {domain}),
            # A password is for the host that it was given for.
            credentials=models[domain].credentials if domain in models else None,
            report=first.report and first.report.with_name(f"{len(run) + number}.jsonl"),
            resume=False,
        )
        for number, (domain, urls) in enumerate(groups.items())
    ]


def _was_asked(index: Index, url: str, since: datetime) -> bool:
    """Whether a crawl that owned the domain asked for a URL."""
    domain = host_of(url)
    first = commit_tag(times.text(since), domain)
    spellings = (f"http:{key_of(url)}", f"https:{key_of(url)}")
    return any(row.last_tag >= first for spelling in spellings for row in index.sightings_of(domain, spelling))


def _limits(settings: Mapping[str, Any]) -> FetchLimits:
    return FetchLimits(
        timeout=settings["crawl.timeout"],
        deadline=settings["crawl.deadline"],
        max_size=settings["crawl.max_size"],
        rate=settings["crawl.limit_rate"],
        max_redirect=settings["crawl.max_redirect"],
        tries=settings["crawl.tries"],
    )


def _header(line: str) -> tuple[str, str]:
    name, _, value = line.partition(":")
    return name.strip(), value.strip()
