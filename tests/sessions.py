"""A site that writes a session id nobody has seen before into one link of every page."""

from __future__ import annotations

import itertools

from tests.crawls import Webarc
from tests.servers import Page, Request, Site


def session_site(pages: int) -> Site:
    """So many pages that link to all others, and a page of news that is linked with a session id."""
    number = itertools.count(0xABCDEF)
    links = "".join(f"<a href=/p{each}>{each}</a>" for each in range(1, pages))

    def page(request: Request) -> Page:
        return Page(f"<title>{request.path}</title>{links}<a href='/news?sid={next(number):x}&b=1'>news</a>")

    return Site(dict.fromkeys(("/", "/news", *(f"/p{each}" for each in range(1, pages))), page))


def requests_of(webarc: Webarc, site: Site, crawls: int, *options: str) -> list[int]:
    """How many requests each of so many crawls makes."""
    asked = []
    for _ in range(crawls):
        before = len(site.requests)
        webarc.crawl(*options, site.url("/?sid=start" if "--drop-query" in options else "/"))
        asked.append(len(site.requests) - before)
    return asked
