"""The fetcher that a job needs: its limits, its secrets, and which addresses it may reach."""

from __future__ import annotations

from pathlib import Path

from webarc.crawler.addresses import AddressPolicy
from webarc.crawler.fetcher import Fetcher
from webarc.crawler.job import Job
from webarc.crawler.limits import FetchOptions, origin_of


def make_fetcher(job: Job) -> Fetcher:
    """A fetcher for one job; secrets go to the origins of its start URLs only."""
    options = job.options
    origins = frozenset(origin_of(url) for url in job.starts)
    credentials = {origin: job.credentials for origin in origins if job.credentials}
    presented = FetchOptions(
        user_agent=options.user_agent,
        headers=options.headers,
        origins=origins,
        credentials=credentials,
        cookie_file=Path(options.load_cookies) if options.load_cookies else None,
        proxy=options.proxy,
    )
    return Fetcher(options.limits, presented, address_policy(job))


def address_policy(job: Job) -> AddressPolicy:
    """Which private addresses a job may reach: those that its start URLs or the settings name."""
    options = job.options
    return AddressPolicy.build(job.starts, options.allowed_hosts, allow_private=options.allow_private)
