"""Which URLs belong to a crawl."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from webarc.archive.urls import host_of, key_of
from webarc.crawler.joins import folder_of
from webarc.crawler.patterns import Patterns
from webarc.errors import UsageProblem

KINDS = ("page", "prefix", "host", "domain", "any")
_MOST_HOSTS = 10_000


class Scope:
    """The start URLs, how far around them a crawl goes, and what the user takes in or out.

    The `domain` of a start URL is its host without a leading `www.`, and all hosts below that; no list of public
    suffixes is asked, so the domain of `a.example.org` does not include `b.example.org`. Scheme and, for a domain, port
    do not matter. Parts of a page may come from the start hosts in every scope.
    """

    def __init__(
        self,
        kind: str,
        starts: Iterable[str],
        no_parent: bool = False,
        include: Iterable[str] = (),
        exclude: Iterable[str] = (),
        requisites_from_anywhere: bool = False,
    ) -> None:
        if kind not in KINDS:
            raise UsageProblem(f"there is no scope {kind!r}; use one of {', '.join(KINDS)}.")
        self._kind = kind
        self._no_parent = no_parent
        self._include = Patterns(include)
        self._exclude = Patterns(exclude)
        self._anywhere = requisites_from_anywhere or kind == "any"
        self._whole_hosts = kind not in ("page", "prefix") and not (no_parent or self._include or self._exclude)
        self._pages: set[str] = set()
        self._folders: dict[str, set[str]] = {}
        self._domains: set[str] = set()
        self._verdicts: dict[str, bool] = {}
        for start in starts:
            self.join(start)
        self._given = frozenset(self._folders)
        self._above: set[str] | None = None

    @property
    def problems(self) -> list[str]:
        """What went wrong with the user's expressions so far."""
        return self._include.problems + self._exclude.problems

    def join(self, place: str) -> None:
        """Take in where a start URL redirects to: a canonical URL, or a host, on which the same folders count."""
        if "//" in place:
            self._join_page(place)
        else:
            self._join_host(place)
        self._verdicts.clear()

    def land(self, url: str) -> None:
        """A start URL redirects to this page of its own host: it belongs to the crawl, and so does its folder.

        Unless a start URL lies below that folder: a login page at the root must not turn a folder into a whole host.
        """
        host, folder = host_of(url), key_of(folder_of(url))
        self._pages.add(key_of(url))
        if self._above is None:
            self._above = {above for folders in self._folders.values() for each in folders for above in _parents(each)}
        if host not in self._given or folder not in self._above:
            self._folders.setdefault(host, set()).add(folder)

    def verdict(self, url: str, kind: str = "link") -> str | None:
        """None if a `link` or `requisite` belongs to the crawl, else why not."""
        # Most links lead to pages of the same host: they are told at once.
        if self._whole_hosts and host_of(url) in self._folders:
            return None
        key = key_of(url)
        if key in self._pages:
            return None
        if self._exclude and self._exclude.found_in(url):
            return "excluded"
        if kind == "requisite":
            return None if self._anywhere or self._is_near(host_of(url)) else "scope"
        return self._link_verdict(url, key)

    def _link_verdict(self, url: str, key: str) -> str | None:
        host = host_of(url)
        if self._kind == "page" or not (self._kind == "any" or self._is_near(host)):
            return "scope"
        if self._kind == "prefix" and not self._is_below(host, key):
            return "scope"
        if self._no_parent and host in self._folders and not self._is_below(host, key):
            return "parent"
        if self._include and not self._include.found_in(url):
            return "not-included"
        return None

    def _join_page(self, url: str) -> None:
        self._pages.add(key_of(url))
        host = host_of(url)
        self._folders.setdefault(host, set()).add(key_of(folder_of(url)))
        self._domains.add(_domain(host))

    def _join_host(self, host: str) -> None:
        paths = {folder[folder.index("/", 2) :] for folders in self._folders.values() for folder in folders}
        self._folders.setdefault(host, {f"//{host}{path}" for path in paths})
        self._domains.add(_domain(host))

    def _is_below(self, host: str, key: str) -> bool:
        folders = self._folders.get(host, set())
        path = key.partition("?")[0]
        end = path.rfind("/")
        while end > 1:
            if path[: end + 1] in folders:
                return True
            end = path.rfind("/", 0, end)
        return False

    def _is_near(self, host: str) -> bool:
        """Whether a host is one of the start hosts or, in scope `domain`, belongs to one."""
        if host in self._folders:
            return True
        if self._kind != "domain":
            return False
        known = self._verdicts.get(host)
        if known is None:
            if len(self._verdicts) >= _MOST_HOSTS:
                self._verdicts.clear()
            known = self._verdicts[host] = self._in_domains(_name(host))
        return known

    def _in_domains(self, name: str) -> bool:
        labels = name.split(".")
        return any(".".join(labels[skip:]) in self._domains for skip in range(len(labels)))


def _parents(folder: str) -> Iterator[str]:
    """The folders in which a folder lies."""
    end = folder.rfind("/", 0, len(folder) - 1)
    while end > 1:
        yield folder[: end + 1]
        end = folder.rfind("/", 0, end)


def _domain(host: str) -> str:
    name = _name(host)
    shorter = name.removeprefix("www.")
    return shorter if "." in shorter else name


def _name(host: str) -> str:
    """A host without its port."""
    name, _, port = host.rpartition(":")
    return name if name and port.isdigit() else host
