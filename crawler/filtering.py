"""The filters that a crawl was asked to use."""

from __future__ import annotations

from pathlib import Path

from webarc.crawler.options import CrawlOptions
from webarc.filters.chain import Chain


def make_chain(options: CrawlOptions) -> Chain:
    """The chain of filters; raises UnknownFilter or ConfigProblem before anything is fetched."""
    settings = Path(options.filter_settings) if options.filter_settings else None
    return Chain.build(options.filters, settings, dict(options.filter_modules), options.filter_time_limit)
