"""Which two states of a domain are compared when nobody names them: those after two crawls that are alike.

A crawl that found nothing, such as a mistyped one, and a look at single pages say nothing about the site, and a guest
leaves no report; what they changed counts, but that they were there does not.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from webarc.archive.catalog import Catalog
from webarc.sql.rows import CrawlRow

# Counts of pages that a crawl had an answer of: it got somewhere.
_FOUND = ("new", "changed", "unchanged", "gone", "moved")
# How the two states belong together.
ALIKE, DIFFERENT, SINGLE, GUESTS = "alike", "different", "single", "guests"


class CrawlPair(NamedTuple):
    """Two commitTags, the older one first.

    `kind` says what they are. ALIKE: two crawls of the same definition, DIFFERENT: two crawls of which no two are
    alike, SINGLE: only one crawl, and what came before or after it, GUESTS: no crawl of its own. `links` says whether
    they followed links.

    `crawl` is the newer one of the two crawls; what came after it and changed something is in, up to `new`;
    `passed_over` is how many crawls came later still and changed nothing, `empty` how many of these found nothing.
    """

    old: str
    new: str
    crawl: str
    kind: str = ALIKE
    links: bool = True
    passed_over: int = 0
    empty: int = 0


def last_pair(catalog: Catalog, domain: str) -> CrawlPair | None:
    """The pair to compare; None if only one crawl found something."""
    catalog.catch_up(domain)
    crawls = list(catalog.index.crawls_between(domain))
    visits = {visit.commit_tag for visit in catalog.index.guest_visits(domain)}
    found = [crawl for crawl in crawls if _found_something(crawl)]
    tags = sorted(visits.union(crawl.commit_tag for crawl in found), reverse=True)
    if len(tags) < 2:
        return None
    pair = _chosen(found, tags)
    end = max(pair.crawl, catalog.index.newest_change(domain) or "")
    # There may be nothing but one crawl of the site, and others behind it that changed nothing.
    end = end if end > pair.old else tags[0]
    later = {crawl.commit_tag for crawl in crawls if crawl.commit_tag > end}
    return pair._replace(new=end, passed_over=len(later), empty=len(later.difference(tags)))


def newest_tag(catalog: Catalog, domain: str) -> str:
    """The commitTag of the newest state: that of the last crawl, or of a guest that changed something since."""
    last = next(catalog.crawl_tags(domain), "")
    return max(last, catalog.index.newest_change(domain) or "")


def _chosen(found: Sequence[CrawlRow], tags: Sequence[str]) -> CrawlPair:
    """The two crawls, whatever came after them; those that found something are given, newest first."""
    sites = [crawl for crawl in found if crawl.options.get("depth") != "0"]
    links, likely = bool(sites), sites or found
    if alike := _alike(likely):
        return CrawlPair(alike[0], alike[1], alike[1], ALIKE, links)
    if len(likely) > 1:
        return CrawlPair(likely[1].commit_tag, likely[0].commit_tag, likely[0].commit_tag, DIFFERENT, links)
    if not likely:
        return CrawlPair(tags[1], tags[0], tags[0], GUESTS, links)
    only = likely[0].commit_tag
    return CrawlPair(next((tag for tag in tags if tag < only), only), only, only, SINGLE, links)


def _alike(crawls: Iterable[CrawlRow]) -> tuple[str, str] | None:
    """The newest crawl that has an earlier one of the same definition, behind that one; crawls come newest first."""
    last: dict[str, str] = {}
    pairs: list[tuple[str, str]] = []
    for crawl in crawls:
        if newer := last.get(crawl.definition):
            pairs.append((crawl.commit_tag, newer))
        last[crawl.definition] = crawl.commit_tag
    return max(pairs, key=lambda pair: pair[1], default=None)


def _found_something(crawl: CrawlRow) -> bool:
    return any(crawl.counts.get(name) for name in _FOUND)
