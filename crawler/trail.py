"""Where a crawl may go: which links and redirects are followed, and why the others are not."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from webarc.archive.urls import host_of, key_of
from webarc.crawler.frontier import Frontier, Item
from webarc.crawler.options import CrawlOptions
from webarc.crawler.reading import Reading
from webarc.crawler.scope import Scope


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
        self.open = True

    def follow(self, item: Item, reading: Reading) -> None:
        """Queue what a page names."""
        if not self.open:
            return
        for url in reading.links:
            if not self._frontier.knows(url):
                self._consider(url, item.depth + 1, False)
        for url in reading.requisites:
            if self._frontier.knows(url):
                continue
            if self._options.page_requisites:
                self._consider(url, item.depth, True)
            else:
                self._frontier.skip(url, "requisite")
        for url in reading.unfollowed:
            self._frontier.skip(url, "nofollow")

    def follow_sitemap(self, urls: Iterable[str]) -> None:
        """Queue what a sitemap lists, as if the start page linked to it."""
        for url in urls:
            if not self._frontier.knows(url):
                self._consider(url, 1, False)

    def remark(self, url: str, reason: str) -> None:
        """Let the report say what became of a URL that is none of the crawl's pages."""
        self._frontier.skip(url, reason)

    def keep_robots(self, url: str) -> None:
        """A site's robots.txt is a part of its record, as with `wget -r`."""
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
        reason: str | None = "depth"
        if self._options.depth is None or depth <= self._options.depth:
            reason = self.refusal(url, requisite)
        if reason:
            self._frontier.skip(url, reason)
            return
        kind = "requisite" if requisite else "link"
        if url.startswith("http:") and self._owned.get(host_of(url)) == "https":
            self._frontier.add(f"https:{key_of(url)}", depth, kind, plain=True)
        else:
            self._frontier.add(url, depth, kind)
