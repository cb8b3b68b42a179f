"""Where a crawl may go: which links and redirects are followed, and why the others are not."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from urllib.parse import unquote

from webarc.archive.query_parameters import DroppedParameters
from webarc.archive.urls import host_of, key_of
from webarc.crawler.addresses import hostname
from webarc.crawler.frontier import HOP, Frontier, Item
from webarc.crawler.options import CrawlOptions
from webarc.crawler.reading import Reading
from webarc.crawler.scope import Scope
from webarc.crawler.soft404 import Soft404
from webarc.crawler.traps import Traps
from webarc.crawler.walled_pages import WalledPages

# Why a URL is no part of the crawl, though a redirect may lead through it and come back.
_OUTSIDE = ("owned-elsewhere", "scope", "parent", "not-included")


class Trail:
    """Turns what pages name into URLs to ask for, or into a remark on why not.

    What is kept does not depend on which answer comes first: while start URLs may still bring hosts along, everything
    that pages name is put aside, and what is named again is heeded once its level is done.
    """

    def __init__(
        self,
        options: CrawlOptions,
        frontier: Frontier,
        scope: Scope,
        owned: dict[str, str],
        owned_elsewhere: frozenset[str],
        adopt: Callable[[str, str], bool],
        cookies: Callable[[str], int],
    ) -> None:
        self._options = options
        self._frontier = frontier
        self._scope = scope
        self._owned = owned
        self._owned_elsewhere = owned_elsewhere
        self._adopt = adopt
        self._cookies = cookies
        self._walled = WalledPages(frontier, cookies)
        self._judged_aside = 0
        self._dropped = DroppedParameters(options.drop_query)
        self.traps = Traps(on=options.trap_detection)
        self.soft404 = Soft404(on=options.trap_detection and options.depth != 0)
        self.open = True

    def cleaned(self, url: str) -> str:
        """A URL without the parameters that are taken out of every URL of this crawl."""
        return self._dropped.cleaned(url)

    def follow(self, item: Item, reading: Reading) -> None:
        """Queue what a page names; what is a part and a link is a part, which may come from elsewhere."""
        nothing = not (reading.links or reading.requisites or reading.unfollowed or reading.words)
        if not self.open or nothing:
            return
        certain = self._frontier.starts <= (item.kind == "start")
        links, requisites = reading.links, reading.requisites
        if self._dropped:
            links, requisites = self._dropped.cleaned_all(links), self._dropped.cleaned_all(requisites)
        if reading.words:
            self._look(item, reading, links, requisites)
        for url in requisites:
            if not self._options.page_requisites:
                self._frontier.skip(url, "requisite")
            elif self._frontier.knows(url):
                self._frontier.name_again(url, item.depth, "requisite")
            else:
                self._consider((url,), item.depth, True, certain)
        news = [url for url in links if not self._frontier.knows(url)]
        self._consider(news, item.depth + 1, False, certain)
        for url in self._dropped.cleaned_all(reading.unfollowed):
            self._frontier.skip(url, "nofollow")

    def compares(self, item: Item) -> bool:
        """Whether it matters what this page says, as well as what it names."""
        return self.open and (self.traps.samples(item.url) | self.soft404.compares(item))

    def _look(self, item: Item, reading: Reading, links: Sequence[str], requisites: Sequence[str]) -> None:
        """Look at what a page says before what it names is queued."""
        self.soft404.look(item, reading)
        if reading.words and self.traps.watches(item.url):
            parts = requisites if self._options.page_requisites else ()
            named = [url for url in links if self._is_news(url, item.depth + 1, False)]
            named += [url for url in parts if self._is_news(url, item.depth, True)]
            said, _, leads = reading.words
            self.traps.look(item.url, said and f"{said} {leads}", named)

    def _is_news(self, url: str, depth: int, requisite: bool) -> bool:
        known = self._frontier.knows(url) or self._is_too_deep(depth)
        return not known and self.refusal(url, requisite) is None

    def follow_sitemap(self, urls: Iterable[str]) -> None:
        """Queue what a sitemap lists, as if the start page linked to it."""
        news = [url for url in map(self.cleaned, urls) if not self._frontier.knows(url)]
        self._consider(news, 1, False, not self._frontier.starts)

    def remark(self, url: str, reason: str) -> None:
        """Let the report say what became of a URL that is none of the crawl's pages."""
        self._frontier.skip(url, reason)

    def keep_robots(self, url: str) -> None:
        """A site's robots.txt is a part of its record, as with `wget -r`."""
        url = self.cleaned(url)
        if self.open and self.refusal(url, True) is None:
            self._frontier.add(url, 0, "requisite")

    def pursue(self, item: Item, target: str, *, cookie: bool = False) -> None:
        """Follow a redirect, perhaps one with a new cookie; the host that a start URL redirects to joins the crawl."""
        if not self.open:
            return
        role = item.kind.removeprefix(HOP)
        reason = None if role == "start" and self._lands(target) else self.refusal(target, role == "requisite")
        if reason is None and role == "link" and self.traps.refuses(target):
            reason = "trap"
        if self._frontier.knows(target):
            self._return_to(item, target)
        elif reason is None:
            self._frontier.add(target, item.depth, role, item.redirects + 1)
        elif reason in _OUTSIDE and (cookie or role == "start" or role != item.kind or _may_return(item.url, target)):
            self._frontier.add(target, item.depth, HOP + role, item.redirects + 1)
        else:
            self._frontier.skip(target, reason)

    def settle(self) -> bool:
        """Decide on some of what was put aside, once it is certain which hosts belong; whether there was anything."""
        frontier = self._frontier
        if not frontier.holds_aside or frontier.starts:
            return False
        page = frontier.aside_page(self._judged_aside)
        for row, url, depth, kind in page:
            self._judged_aside = row
            if not frontier.knows(url):
                self._consider((url,), depth, kind == "requisite")
            elif kind == "requisite":
                frontier.name_again(url, depth, kind)
        if not page:
            frontier.clear_aside()
            self._judged_aside = 0
        return True

    def end_level(self) -> None:
        """A level is done: time for what may come out another way now than when it was asked for.

        What was found from nearer is near, what turned out to be a part may lead elsewhere, and what a wall sent away
        may be a page for somebody who has passed it.
        """
        for item in self._walled.due() if self.open else ():
            self._frontier.reopen(item)
        while self.open and self._frontier.holds_names:
            for item, outcome, target in self._frontier.heed_names():
                if outcome == "redirect":
                    self.pursue(item, target)
                elif outcome == "skipped" and self.refusal(item.url, True) is None:
                    self._frontier.reopen(item)

    def _lands(self, target: str) -> bool:
        """Whether a start URL's redirect is followed wherever it leads: its page is what was asked for.

        A host that somebody else has at the moment does not join, but the page is fetched, so that it does not depend
        on who came first.
        """
        domain = host_of(target)
        if domain in self._owned_elsewhere:
            return False
        if domain in self._owned:
            if self._scope.verdict(target) in _OUTSIDE:
                self._scope.land(target)
            return self._scope.verdict(target) is None
        if self._adopt(domain, target.partition(":")[0]):
            self._scope.join(target)
        return self._scope.verdict(target) != "excluded"

    def _return_to(self, item: Item, target: str) -> None:
        """A redirect to a URL that is known: if it gave no page and its cookies have changed since, ask it again."""
        self._frontier.name_again(target, item.depth, item.kind.removeprefix(HOP))
        under_way = self._frontier.under_way(target)
        if under_way is not None:
            under_way.returned = item.redirects + 1
        else:
            self._frontier.ask_anew(target, item, self._cookies(target))

    def refusal(self, url: str, requisite: bool) -> str | None:
        """Why a URL is not asked for, or None."""
        if self._owned_elsewhere and host_of(url) in self._owned_elsewhere:
            return "owned-elsewhere"
        return self._scope.verdict(url, "requisite" if requisite else "link")

    def _consider(self, urls: Sequence[str], depth: int, requisite: bool, certain: bool = True) -> None:
        """Queue what belongs to the crawl; most pages name many links, so each costs as little as may be."""
        if self._is_too_deep(depth):
            for url in urls:
                self._frontier.skip(url, "depth")
            return
        kind = "requisite" if requisite else "link"
        if not certain:
            for url in urls:
                self._frontier.put_aside(url, depth, kind)
            return
        new = [url for url in urls if self._queue(url, depth, kind)]
        if new and not requisite:
            self.traps.follow(new)

    def _queue(self, url: str, depth: int, kind: str) -> bool:
        """Ask for a URL, unless there is a reason not to; says whether it is new."""
        reason = self.refusal(url, kind == "requisite")
        if reason is None and kind == "link" and self.traps.refuses(url):
            reason = "trap"
        if reason:
            self._frontier.skip(url, reason)
            return False
        if url.startswith("http:") and self._owned.get(host_of(url)) == "https":
            return self._frontier.add(f"https:{key_of(url)}", depth, kind, plain=True)
        return self._frontier.add(url, depth, kind)

    def _is_too_deep(self, depth: int) -> bool:
        return self._options.depth is not None and depth > self._options.depth


def _may_return(source: str, target: str) -> bool:
    """Whether a redirect out of the crawl is likely to come back: it says where to, or the cookies are the same."""
    if hostname(source) == hostname(target):
        return True
    where = key_of(source)
    path = where[where.index("/", 2) :]
    said = unquote(unquote(target.partition("?")[2]))
    return f"//{host_of(source)}/" in said or (len(path) > 1 and path in said)
