"""The table of every setting: its name, kind, built-in value, meaning, environment variable and option."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from webarc import __version__
from webarc.config import kinds
from webarc.config.kinds import Kind

MASK = "********"


@dataclass(frozen=True, slots=True)
class Key:
    """One setting; its name is `table.key`, or just `key` at the top of the file.

    One that is `guarded` runs code or names databases, proxies or secrets: the file of an archive sets it only if the
    user trusts that archive.
    """

    name: str
    kind: Kind
    default: Any
    help: str
    flag: str = ""
    secret: bool = False
    guarded: bool = False

    @property
    def table(self) -> str:
        """The TOML table it stands in, empty at the top."""
        return self.name.rpartition(".")[0]

    @property
    def variable(self) -> str:
        """The environment variable that sets it."""
        return "WEBARC_" + self.name.replace(".", "_").upper()

    def shown(self, value: Any) -> str:
        """The value as people may see it."""
        if self.secret:
            return MASK if value else ""
        return self.kind.show(value)

    def given(self, value: Any) -> str:
        """The option as it must have been typed to give this value."""
        return f"--no-{self.flag[2:]}" if value is False and self.flag else self.flag


_TABLE = [
    Key("archive", kinds.path(), Path("archive"), "The archive folder.", "--archive"),
    Key(
        "trusted_archives",
        kinds.paths(),
        (),
        "Archives whose own webarc.toml, if it belongs to you, may also set what runs code or names databases, proxies "
        "or secrets.",
    ),
    Key(
        "database",
        kinds.text(optional=True),
        None,
        "Where the index lives, as an SQLAlchemy URL; empty: .webarc/index.db in the archive.",
        "--database",
        guarded=True,
    ),
    Key(
        "crawl.depth",
        kinds.whole(0, unlimited="inf"),
        5,
        'How many links to follow from a start URL; 0 is that page alone, "inf" no limit.',
        "--depth",
    ),
    Key("crawl.interval", kinds.duration(optional=True), None, "Crawl again after this time.", "--interval"),
    Key("crawl.jobs", kinds.whole(1), 4, "How many domains to crawl at once.", "--jobs"),
    Key("crawl.connections", kinds.whole(1), 4, "How many connections to one host at once.", "--connections"),
    Key(
        "crawl.page_requisites",
        kinds.flag(),
        True,
        "Fetch the style sheets, images, scripts and fonts of every kept page.",
        "--page-requisites",
    ),
    Key(
        "crawl.requisites_from_anywhere",
        kinds.flag(),
        False,
        "Fetch page requisites from other hosts, too.",
        "--requisites-from-anywhere",
    ),
    Key("crawl.sitemaps", kinds.flag(), False, "Read the site's sitemaps for more URLs.", "--sitemaps"),
    Key(
        "crawl.scope",
        kinds.choice("page", "prefix", "host", "domain", "any"),
        "host",
        "Where links may lead: the start page, its folder, its host, its host without www. and all below, or anywhere.",
        "--scope",
    ),
    Key("crawl.no_parent", kinds.flag(), False, "Never go above the folder of the start URL.", "--no-parent"),
    Key("crawl.include", kinds.patterns(), (), "Follow only URLs in which one of these is found.", "--include"),
    Key("crawl.exclude", kinds.patterns(), (), "Do not follow URLs in which one of these is found.", "--exclude"),
    Key("crawl.accept_type", kinds.mime_types(), (), 'Store only these MIME types, as in "text/*".', "--accept-type"),
    Key(
        "crawl.reject_type", kinds.mime_types(), (), 'Do not store these MIME types, as in "video/*".', "--reject-type"
    ),
    Key(
        "crawl.drop_query",
        kinds.names(),
        (),
        'Take these parameters out of URLs before they are asked for, as in "utm_*"; "tracking" and "session" are '
        "sets of well-known ones.",
        "--drop-query",
    ),
    Key(
        "crawl.trap_detection",
        kinds.flag(),
        True,
        "Stop following URLs that go on without end, such as those of a calendar.",
        "--trap-detection",
    ),
    Key(
        "crawl.recheck_resting",
        kinds.flag(),
        False,
        "Ask for URLs at rest, too: those with a query that nothing has linked to for two crawls.",
        "--recheck-resting",
    ),
    Key("crawl.robots", kinds.flag(), True, "Obey robots.txt and the robots marks in pages.", "--robots"),
    Key("crawl.wait", kinds.duration(), 0.0, "Pause between two requests to one host.", "--wait"),
    Key("crawl.random_wait", kinds.flag(), False, "Vary the pause between 0.5 and 1.5 times.", "--random-wait"),
    Key("crawl.limit_rate", kinds.size(optional=True), None, "Bytes a second at most, per crawl.", "--limit-rate"),
    Key("crawl.user_agent", kinds.agent(), f"webarc/{__version__}", "How the crawler names itself.", "--user-agent"),
    Key(
        "crawl.headers",
        kinds.headers(),
        (),
        'Further request headers, as in "Accept-Language: de".',
        "--header",
        guarded=True,
    ),
    Key(
        "crawl.load_cookies", kinds.readable(), None, "A Netscape cookie file to read.", "--load-cookies", guarded=True
    ),
    Key(
        "crawl.http_user",
        kinds.text(optional=True),
        None,
        "User name for the start URLs' servers.",
        "--http-user",
        guarded=True,
    ),
    Key(
        "crawl.http_password",
        kinds.text(optional=True),
        None,
        "Password for the start URLs' servers.",
        "--http-password",
        secret=True,
        guarded=True,
    ),
    Key("crawl.proxy", kinds.proxy(), None, "Proxy to go through, as in http://host:3128.", "--proxy", guarded=True),
    Key(
        "crawl.max_pages",
        kinds.whole(1, unlimited="none"),
        1_000_000,
        "URLs to fetch at most per domain and crawl.",
        "--max-pages",
    ),
    Key("crawl.max_size", kinds.size(), 100 * 1024**2, "Largest file to store, unpacked.", "--max-size"),
    Key("crawl.quota", kinds.size(optional=True), None, "Bytes to fetch at most per domain and crawl.", "--quota"),
    Key("crawl.max_time", kinds.duration(optional=True), None, "Longest time for one crawl.", "--max-time"),
    Key(
        "crawl.lock_wait",
        kinds.duration(optional=True),
        3600.0,
        "How long to wait for another command at work in the same domain; none: until it ends.",
        "--lock-wait",
    ),
    Key(
        "crawl.stall_timeout",
        kinds.duration(optional=True),
        300.0,
        "End a crawl in which nothing moves for so long; none: never.",
        "--stall-timeout",
    ),
    Key("crawl.timeout", kinds.duration(), 30.0, "Longest silence of a server.", "--timeout"),
    Key("crawl.deadline", kinds.duration(), 300.0, "Longest time for one file.", "--deadline"),
    Key("crawl.tries", kinds.whole(1), 3, "How often to try one URL.", "--tries"),
    Key("crawl.max_redirect", kinds.whole(0), 20, "How many redirects to follow in a row.", "--max-redirect"),
    Key(
        "crawl.allow_private",
        kinds.hosts(),
        False,
        'Private addresses that links may lead to: true for all, or a list as in ["10.0.0.0/8", "wiki.local"].',
        "--allow-private",
        guarded=True,
    ),
    Key(
        "crawl.prune",
        kinds.choice("gone", "unreached", "never"),
        "gone",
        "What leaves the current state: pages that are gone, all that a complete crawl did not reach, or nothing.",
        "--prune",
    ),
    Key(
        "crawl.allow_removals",
        kinds.flag(),
        False,
        "Remove even more than a fifth of a domain's pages at once.",
        "--allow-removals",
    ),
    Key("crawl.engine", kinds.choice("webarc", "wget"), "webarc", "What fetches: webarc itself or wget.", "--engine"),
    Key("filters.use", kinds.names(), ("mime",), "The filters every file passes, in this order.", "--filter"),
    Key(
        "filters.modules",
        kinds.table(),
        {},
        'Your own filters: name = "package.module:callable" or name = "file.py:callable".',
        guarded=True,
    ),
    Key("filters.time_limit", kinds.duration(), 10.0, "Longest time a filter may take for one file."),
    Key("schedule.jobs", kinds.whole(1), 2, "How many scheduled crawls to run at once.", "--jobs"),
    Key(
        "compact.every",
        kinds.whole(0),
        20,
        "Join the small packs of a domain's repository after so many crawls of it; 0 never does by itself.",
    ),
    Key(
        "times.zone",
        kinds.zone(),
        "CET",
        "The zone that times are shown in, and read in when they name none: CET (UTC+1 all year), local, or a name "
        "such as Europe/Berlin.",
        "--zone",
    ),
]

KEYS: dict[str, Key] = {key.name: key for key in _TABLE}
TABLES = frozenset(key.table for key in _TABLE if key.table)
