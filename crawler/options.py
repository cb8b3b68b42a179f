"""What a crawl was asked to do: every option, as one value that travels to the instances."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from hashlib import sha256

import webarc
from webarc.crawler.limits import FetchLimits

# What decides which URLs a crawl reaches; two crawls that agree on these can be compared URL by URL (rule 3).
_DEFINING = (
    "depth",
    "page_requisites",
    "requisites_from_anywhere",
    "sitemaps",
    "scope",
    "no_parent",
    "include",
    "exclude",
    "accept_type",
    "reject_type",
    "robots",
    "filters",
    "max_pages",
    "max_size",
    "quota",
    "max_time",
    "engine",
)
SECRET = ("http_password", "headers", "proxy", "http_user", "credentials")


@dataclass(frozen=True, slots=True)
class CrawlOptions:
    """Every option of `webarc crawl`, with the built-in values of the settings; None means no limit."""

    depth: int | None = 5
    page_requisites: bool = True
    requisites_from_anywhere: bool = False
    sitemaps: bool = False
    scope: str = "host"
    no_parent: bool = False
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    accept_type: tuple[str, ...] = ()
    reject_type: tuple[str, ...] = ()
    robots: bool = True
    wait: float = 0.0
    random_wait: bool = False
    connections: int = 4
    user_agent: str = f"webarc/{webarc.__version__}"
    headers: tuple[tuple[str, str], ...] = ()
    load_cookies: str | None = None
    http_user: str | None = None
    http_password: str | None = None
    proxy: str | None = None
    max_pages: int | None = 1_000_000
    quota: int | None = None
    max_time: float | None = None
    limits: FetchLimits = field(default_factory=FetchLimits)
    allow_private: bool = False
    allowed_hosts: tuple[str, ...] = ()
    filters: tuple[str, ...] = ("mime",)
    filter_modules: tuple[tuple[str, str], ...] = ()
    filter_settings: str | None = None
    filter_time_limit: float = 10.0
    prune: str = "gone"
    allow_removals: bool = False
    drop_query: tuple[str, ...] = ()
    trap_detection: bool = True
    recheck_resting: bool = False
    engine: str = "webarc"

    def definition(self, starts: list[str]) -> str:
        """A name for "the same crawl again": a hash of the start URLs and of all that decides what is reached."""
        parts: dict[str, object] = {name: getattr(self, name, None) for name in _DEFINING}
        later = {"drop_query": tuple(sorted(set(self.drop_query))), "trap_detection": self.trap_detection}
        # These came later: they count only where they are set, so that crawls from before can still be compared with.
        parts |= {name: value for name, value in later.items() if value != getattr(_BUILT_IN, name)}
        parts["max_size"] = self.limits.max_size
        parts["starts"] = sorted(starts)
        return sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]

    def shown(self) -> dict[str, str]:
        """The options that differ from the built-in values, for the crawl's report; secrets are left out."""
        built_in, mine = asdict(_BUILT_IN), asdict(self)
        different = {name: value for name, value in mine.items() if value != built_in[name] and name not in SECRET}
        return {name: json.dumps(value, default=str) for name, value in sorted(different.items())}


_BUILT_IN = CrawlOptions()
