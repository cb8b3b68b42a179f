"""Where a crawl may go: which links and redirects are followed, and why the others are not."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from webarc.archive.urls import host_of, key_of
from webarc.crawler.frontier import Frontier, Item
from webarc.crawler.options import CrawlOptions
from webarc.crawler.query_parameters import DroppedParameters
from webarc.crawler.reading import Reading
from webarc.crawler.scope import Scope
from webarc.crawler.soft404 import Soft404
from webarc.crawler.traps import Traps


class Trail:
    """Turns what pages name into URLs to ask for, or into a remark on why not."""

    def __init__(
        self,
        options: CrawlOptions,
        frontier: Frontier,
        scope: Scope,
        owned: dict[str, str],
        owned_elsewhere: frozenset[str],
        adopt: Callable[[str, str], bool],
        on_wider: Callable[[], None],
    ) -> None:
        self._options = options
        self._frontier = frontier
        self._scope = scope
        self._owned = owned
        self._owned_elsewhere = owned_elsewhere
        self._adopt = adopt
        self._on_wider = on_wider
        self._dropped = DroppedParameters(options.drop_query)
        self.traps = Traps(on=options.trap_detection)
        self.soft404 = Soft404(on=options.trap_detection and options.depth != 0)
        self.open = True

    def cleaned(self, url: str) -> str:
        """A URL without the parameters that are taken out of every URL of this crawl."""
        return self._dropped.cleaned(url)

    def follow(self, item: Item, reading: Reading) -> None:
        """Queue what a page names."""
        if not self.open:
            return
        links = self._dropped.cleaned_all(reading.links)
        requisites = self._dropped.cleaned_all(reading.requisites)
        if reading.words:
            self._look(item, reading, links, requisites)
        for url in links:
            if not self._frontier.knows(url):
                self._consider(url, item.depth + 1, False)
        for url in requisites:
            if self._frontier.knows(url):
                continue
            if self._options.page_requisites:
                self._consider(url, item.depth, True)
            else:
                self._frontier.skip(url, "requisite")
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
        return not self._frontier.knows(url) and self._reason(url, depth, requisite) is None

    def follow_sitemap(self, urls: Iterable[str]) -> None:
        """Queue what a sitemap lists, as if the start page linked to it."""
        for url in map(self.cleaned, urls):
            if not self._frontier.knows(url):
                self._consider(url, 1, False)

    def keep_robots(self, url: str) -> None:
        """A site's robots.txt is a part of its record, as with `wget -r`."""
        url = self.cleaned(url)
        if self.open and self.refusal(url, True) is None:
            self._frontier.add(url, 0, "requisite")

    def pursue(self, item: Item, target: str) -> None:
        """Follow a redirect; the host that a start URL redirects to joins the crawl."""
        if not self.open:
            return
        domain = host_of(target)
        if item.kind == "start" and domain not in self._owned and domain not in self._owned_elsewhere:
            scheme = target.partition(":")[0]
            if self._adopt(domain, scheme):
                self._scope.join(target)
                self._on_wider()
        reason = self.refusal(target, item.kind == "requisite")
        if reason is None and item.kind == "link" and self.traps.refuses(target):
            reason = "trap"
        if reason:
            self._frontier.skip(target, reason)
        else:
            self._frontier.add(target, item.depth, item.kind, item.redirects + 1)

    def refusal(self, url: str, requisite: bool) -> str | None:
        """Why a URL is not asked for, or None."""
        if host_of(url) in self._owned_elsewhere:
            return "owned-elsewhere"
        return self._scope.verdict(url, "requisite" if requisite else "link")

    def _consider(self, url: str, depth: int, requisite: bool) -> None:
        reason = self._reason(url, depth, requisite)
        if reason is None and not requisite and self.traps.refuses(url):
            reason = "trap"
        if reason:
            self._frontier.skip(url, reason)
            return
        kind = "requisite" if requisite else "link"
        if url.startswith("http:") and self._owned.get(host_of(url)) == "https":
            new = self._frontier.add(f"https:{key_of(url)}", depth, kind, plain=True)
        else:
            new = self._frontier.add(url, depth, kind)
        if new and not requisite:
            self.traps.follow(url)

    def _reason(self, url: str, depth: int, requisite: bool) -> str | None:
        if self._options.depth is None or depth <= self._options.depth:
            return self.refusal(url, requisite)
        return "depth"
