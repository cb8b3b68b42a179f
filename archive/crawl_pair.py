"""Which two states of a domain are compared when nobody names them: those after two crawls that are alike.

A crawl of single pages in between is no crawl of the site, and a guest leaves no report; what they changed counts, but
that they were there does not.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from webarc.archive.catalog import Catalog
from webarc.sql.rows import CrawlRow


class CrawlPair(NamedTuple):
    """Two commitTags, the older one first.

    `crawl` is the newer one of the two crawls that are alike, empty if there are no such; what came after it and
    changed something is in, up to `new`; `passed_over` is how many crawls came later still and changed nothing.
    """

    old: str
    new: str
    crawl: str
    passed_over: int


def last_pair(catalog: Catalog, domain: str) -> CrawlPair | None:
    """The pair to compare; None if there is only one crawl."""
    catalog.catch_up(domain)
    crawls = list(catalog.index.crawls_between(domain))
    visits = (visit.commit_tag for visit in catalog.index.guest_visits(domain))
    tags = sorted({*visits, *(crawl.commit_tag for crawl in crawls)}, reverse=True)
    if len(tags) < 2:
        return None
    site = next(_of_sites(crawls), None) or next(iter(crawls), None)
    if site is None:
        return CrawlPair(tags[1], tags[0], "", 0)
    end = max(site.commit_tag, catalog.index.newest_change(domain) or "")
    earlier = [crawl for crawl in crawls if crawl.commit_tag < site.commit_tag]
    same = next((crawl.commit_tag for crawl in earlier if crawl.definition == site.definition), "")
    old = same or next((crawl.commit_tag for crawl in _of_sites(earlier)), "")
    old = old or next((tag for tag in tags if tag < site.commit_tag), site.commit_tag)
    # There may be nothing but one crawl of the site, and single pages behind it that did not change.
    end = end if end > old else tags[0]
    return CrawlPair(old, end, site.commit_tag if same else "", sum(tag > end for tag in tags))


def newest_tag(catalog: Catalog, domain: str) -> str:
    """The commitTag of the newest state: that of the last crawl, or of a guest that changed something since."""
    last = next(catalog.crawl_tags(domain), "")
    return max(last, catalog.index.newest_change(domain) or "")


def _of_sites(crawls: list[CrawlRow]) -> Iterator[CrawlRow]:
    """The crawls that followed links."""
    return (crawl for crawl in crawls if crawl.options.get("depth") != "0")
