"""Finding things in an archive: domains, pages, crawls, and the bytes of any version.

Every look-up first brings the index of its domain up to date, and completes what a killed process left undone there.
Nothing here waits for a lock of a domain, and one catalog serves one thread at a time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from itertools import chain
from types import TracebackType
from typing import TYPE_CHECKING, BinaryIO

from webarc.archive import times, zones
from webarc.archive.ailments import ailment
from webarc.archive.clone import is_clone
from webarc.archive.contents import Contents
from webarc.archive.dropped import Dropped
from webarc.archive.gaps import Gaps
from webarc.archive.indexing import Progress, catch_up
from webarc.archive.instants import instant
from webarc.archive.layout import arc_of
from webarc.archive.loss import refuse_loss
from webarc.archive.nearest import nearest_arcs
from webarc.archive.pages import Page, just_after, moment_of, removed_before
from webarc.archive.repository import Repository
from webarc.archive.roster import instead_of, known_domain
from webarc.archive.settling import settle
from webarc.archive.spellings import domain_lookups, domain_spellings, is_bare_host, lookups
from webarc.archive.store import Archive
from webarc.archive.urls import canonical, host_of, key_of, shown
from webarc.errors import BadURL, Damaged, NoSuchVersion, StorageProblem, UnknownURL
from webarc.sql.index import LAST, Index
from webarc.sql.rows import SightingRow, VersionRow

if TYPE_CHECKING:
    from webarc.archive.metadata import Metadata

__all__ = ["Catalog", "Page", "just_after", "moment_of", "removed_before"]
_MOST_REDIRECTS = 30
_LONGEST_SHOWN = 300
_FROM_THE_END = re.compile(r"-\d{1,6}", re.ASCII)
_SHORT_NUMBER = re.compile(r"[+-]?\d{1,3}", re.ASCII)


class Catalog:
    """Look-ups over an archive and its index; `warn` gets a sentence for everything that is not as it should be.

    `damaged` has the domains whose repository turned out to be broken, though the index may still know them.
    """

    def __init__(
        self,
        archive: Archive,
        index: Index,
        *,
        warn: Callable[[str], None] | None = None,
        on_progress: Progress | None = None,
    ) -> None:
        self.archive, self.index = archive, index
        self._warn = warn or _unheard
        self._on_progress = on_progress
        self._warned: set[str] = set()
        self.damaged: set[str] = set()
        self._contents = Contents(archive)
        self._gaps: dict[str, Gaps] = {}

    def __enter__(self) -> Catalog:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """End the git processes that read; the index is its owner's to close."""
        self._contents.close()

    # -- domains and pages ------------------------------------------------------------------------------------

    def domains(self) -> list[str]:
        """Every domain that has a repository, sorted."""
        return self.archive.domains()

    def known_domains(self) -> list[str]:
        """Every domain that has a repository, or had one of which the index knows versions, sorted."""
        there = self.archive.domains()
        lost = set(self.index.domains()).difference(there)
        return sorted([*there, *filter(self.index.version_count, lost)])

    def domain(self, text: str, *, exact: bool = False) -> str:
        """The domain that a host or a URL means, its index up to date; raises UnknownDomain naming the nearest.

        It is `exact` where something is to be deleted: then `www.` before a host makes it another one.
        """
        found = known_domain(self.archive, domain_spellings(text) if exact else domain_lookups(text))
        self.catch_up(found)
        return found

    def is_domain(self, text: str) -> bool:
        """Whether DOMAIN|URL means a whole domain (a bare host) rather than a page."""
        return is_bare_host(text)

    def page(self, text: str) -> Page:
        """The page at a URL as people paste it, or where that redirected to; raises UnknownURL naming the nearest."""
        urls = lookups(text)
        known = [url for url in urls if self.archive.repository(host_of(url)).exists()]
        if not known:
            domain = host_of(urls[0])
            raise UnknownURL(f"the archive has nothing of {domain}; {instead_of(self.archive, domain)}")
        for follow in (self._followed, self._followed_cleaned):
            if page := next(filter(None, map(follow, known)), None):
                return page
        raise self._unknown(known[0])

    def cleaned(self, url: str) -> list[str]:
        """A canonical URL without the parameters that crawls of its domain dropped, if they dropped any of it."""
        domain = host_of(url)
        if ("?" not in url and ";" not in url) or not self.archive.repository(domain).exists():
            return []
        self.catch_up(domain)
        return Dropped(self.index.crawls(domain)).cleaned(url)

    def catch_up(self, domain: str) -> None:
        """Bring the index of a domain up to date; where that cannot be, what there is is used, with a warning."""
        try:
            self._bring(self.archive.repository(domain))
        except Damaged as problem:
            self.damaged.add(domain)
            if not self.index.knows(domain):
                raise
            self._warn_once(str(problem))
        except StorageProblem as problem:
            if not self.index.knows(domain):
                raise
            self._warn_once(f"{domain}: the index could not be brought up to date: {problem}")

    def _bring(self, repo: Repository) -> None:
        refuse_loss(repo, self.index)
        adopted = settle(repo) if not self.index.read_only and repo.exists() and is_clone(repo.git_dir) else ()
        for warning in adopted:
            self._warn_once(warning)
        wrong = ailment(repo.git_dir) if repo.exists() else ""
        if wrong:
            raise Damaged(f"{repo.domain} is damaged: {wrong}.")
        if not self.index.read_only:
            for warning in settle(repo):
                self._warn_once(warning)
            catch_up(repo, self.index, self._warn_once, self._on_progress)
        elif self.index.indexed_commit(repo.domain) != repo.tip():
            self._warn_once(f"{repo.domain}: the index may not be written to and does not have the newest crawls.")

    def _followed_cleaned(self, url: str) -> Page | None:
        """The same without the parameters that crawls dropped, here and wherever a redirect leads."""
        return self._followed(url, dropping=True)

    def _followed(self, url: str, *, dropping: bool = False) -> Page | None:
        """The page at a canonical URL, or at the end of the redirects that the reports have from there."""
        asked: set[str] = set()
        while key_of(url) not in asked and len(asked) <= _MOST_REDIRECTS:
            asked.add(key_of(url))
            domain, arc = host_of(url), arc_of(url)
            if not self.archive.repository(domain).exists():
                return None
            self.catch_up(domain)
            if versions := tuple(self.index.history(domain, arc)):
                return Page(domain, arc, versions[-1].url, versions)
            last = _newest(row for row in self.sightings(url) if row.target)
            target = _canonical(last.target) if last is not None else None
            if target is None and dropping:
                target = next((each for each in self.cleaned(url) if key_of(each) not in asked), None)
            if target is None:
                return None
            url = target
        return None

    def sightings(self, url: str) -> list[SightingRow]:
        """What came of a canonical URL, by http or https, in all crawls."""
        domain = host_of(url)
        return [row for each in _both(url) for row in self.index.sightings_of(domain, each)]

    # -- crawls -----------------------------------------------------------------------------------------------

    def crawl(self, domain: str, text: str) -> str:
        """The commitTag of a crawl by commitTag, by a time (the last one until then), or from the end (-1, -2, ...)."""
        text = text.strip()
        if _FROM_THE_END.fullmatch(text):
            return self._crawl_from_end(domain, -int(text))
        if _SHORT_NUMBER.fullmatch(text):
            raise NoSuchVersion(f"crawls have no number {text}; give a commitTag, a time, or -1 for the last crawl.")
        moment = moment_of(text) if "@" in text else times.text(instant(text, end=True))
        if moment is None or ("@" in text and text.partition("@")[2] != domain):
            raise NoSuchVersion(f"{text!r} is no crawl of {domain}; run `webarc log {domain}` to see them.")
        tag = next(self.crawl_tags(domain, moment), None)
        if "@" in text and tag != text and any(visit.commit_tag == text for visit in self.index.guest_visits(domain)):
            return text
        if tag is None:
            first = min(self.crawl_tags(domain), default=None)
            known = f"its first crawl is {first}" if first else "it has none"
            raise NoSuchVersion(f"{domain} had not been crawled by {zones.shown(moment)}; {known}.")
        if "@" in text and tag != text:
            raise NoSuchVersion(f"{domain} has no crawl {text}; the one before is {tag}.")
        return tag

    def tagged(self, page: Page, tag: str) -> VersionRow:
        """The version of a page that was current after a crawl; raises NoSuchVersion if there was no such crawl."""
        if "@" in tag and all(row.commit_tag != tag for row in page.versions):
            try:
                self.crawl(page.domain, tag)
            except NoSuchVersion:
                if all(visit.commit_tag != tag for visit in self.index.guest_visits(page.domain)):
                    raise
        return page.tagged(tag)

    def chosen(self, page: Page, text: str) -> VersionRow:
        """The version of a page that a number, a commitTag or a time means."""
        return self.tagged(page, text.strip()) if "@" in text else page.chosen(text)

    def crawl_tags(self, domain: str, moment: str | None = None) -> Iterator[str]:
        """The commitTags of the crawls of a domain until a crawl time, newest first."""
        self.catch_up(domain)
        before = LAST if moment is None else just_after(moment)
        tags = self.index.crawl_tags(domain, before)
        first = next(tags, None)
        if first is not None:
            return chain((first,), tags)
        # A domain that only guests have come to has no reports of its own.
        return (visit.commit_tag for visit in self.index.guest_visits(domain) if visit.commit_tag < before)

    def versions_at(self, domain: str, when: str) -> Iterator[VersionRow]:
        """The versions that were current at a crawl time, by ARC: the state of the whole site then."""
        self.catch_up(domain)
        return (row for row in self.index.versions_at(domain, when) if not removed_before(row, when))

    def _crawl_from_end(self, domain: str, back: int) -> str:
        count = 0
        for count, tag in enumerate(self.crawl_tags(domain), 1):
            if count == back:
                return tag
        crawls = "1 crawl" if count == 1 else f"{count} crawls"
        raise NoSuchVersion(f"{domain} has no crawl -{back}; it has {crawls}, see `webarc log {domain}`.")

    def gaps(self, domain: str) -> Gaps:
        """The versions of a domain that were thinned out or forgotten."""
        return self._gaps.setdefault(domain, Gaps(self.archive.repository(domain)))

    # -- bytes ------------------------------------------------------------------------------------------------

    def open(self, row: VersionRow) -> AbstractContextManager[Iterator[bytes]]:
        """The bytes of a version in pieces, all found to be sound before; raises Damaged if they are lost."""
        return self._contents.open(row)

    def read(self, row: VersionRow, limit: int | None = None) -> bytes:
        """The bytes of a version, or the first ones; raises Damaged if they are lost."""
        return self._contents.read(row, limit)

    def read_many(self, rows: Sequence[VersionRow]) -> Iterator[bytes | Damaged]:
        """The bytes of versions of one domain, in order, or what is wrong with one; much faster than one by one."""
        return self._contents.read_many(rows)

    def copy(self, row: VersionRow, target: BinaryIO) -> None:
        """Write the bytes of a version to a file, a piece at a time; raises Damaged if they are lost."""
        self._contents.copy(row, target)

    def metadata(self, row: VersionRow) -> Metadata:
        """All that the data.xml of a version says, with the headers of the response."""
        return self._contents.metadata(row)

    # -- what to say ------------------------------------------------------------------------------------------

    def _unknown(self, url: str) -> UnknownURL:
        domain, arc = host_of(url), arc_of(url)
        near = nearest_arcs(arc, self.index.arcs(domain))
        urls = [_short(rows[-1].url) for rows in (self.index.history(domain, each) for each in near) if rows]
        fate = self._forgotten(domain, arc) or _fate(_newest(self.sightings(url)))
        cure = f"the nearest it has: {' '.join(urls)}" if urls else f"it has no page of {domain}"
        return UnknownURL(f"the archive has no page {shown(url)}{fate}; {cure}.")

    def _forgotten(self, domain: str, arc: str) -> str:
        from webarc.archive.tombstones import tombstones

        stones = [stone for stone in tombstones(self.archive.repository(domain)) if stone.arc == arc]
        return f" any more (forgotten {zones.shown(stones[-1].time)}: {stones[-1].reason})" if stones else ""

    def _warn_once(self, text: str) -> None:
        if text not in self._warned:
            self._warned.add(text)
            self._warn(text)


def _unheard(_text: str) -> None:
    pass


def _canonical(target: str) -> str | None:
    try:
        return canonical(target) if target else None
    except BadURL:
        return None


def _both(url: str) -> tuple[str, str]:
    return f"https:{key_of(url)}", f"http:{key_of(url)}"


def _short(url: str) -> str:
    return url if len(url) <= _LONGEST_SHOWN else f"{url[:_LONGEST_SHOWN]}…"


def _newest(rows: Iterable[SightingRow]) -> SightingRow | None:
    return max(rows, key=lambda row: (row.last_tag, row.first_tag), default=None)


def _fate(last: SightingRow | None) -> str:
    """Why a URL that was asked for has no version."""
    if last is None:
        return ""
    reason = last.error or (f"it answered {last.status}" if last.status >= 400 else "")
    if last.target:
        reason = f"it redirects to {shown(last.target)}, which it does not have either"
    return f" (crawl {last.last_tag}: {reason})" if reason else ""
