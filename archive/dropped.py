"""What the crawls of a domain took out of URLs (`--drop-query`), so that what pages still name is found as archived."""

from __future__ import annotations

import json
from collections.abc import Sequence

from webarc.archive.query_parameters import DroppedParameters
from webarc.sql.rows import CrawlRow

_OPTION = "drop_query"


class Dropped:
    """The parameters that crawls dropped, those of the newest crawl first."""

    def __init__(self, crawls: Sequence[CrawlRow]) -> None:
        options = dict.fromkeys(crawl.options.get(_OPTION, "") for crawl in reversed(crawls))
        self._sets = [DroppedParameters(names) for names in map(_names, options) if names]

    def cleaned(self, url: str) -> list[str]:
        """The other spellings under which a crawl may have stored what was linked by this canonical URL."""
        found = dict.fromkeys(each.cleaned(url) for each in self._sets)
        return [each for each in found if each != url]


def _names(option: str) -> list[str]:
    """The names in the report of a crawl, which need not be one of ours."""
    try:
        names = json.loads(option) if option else []
    except ValueError:
        return []
    return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []
