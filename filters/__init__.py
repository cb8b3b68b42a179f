"""Filters: every file of a crawl passes them, and each may drop it."""

from webarc.filters.chain import Chain
from webarc.filters.plugin import Filter

__all__ = ["Chain", "Filter"]
