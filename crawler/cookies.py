"""Cookies: libcurl keeps them, with its public suffix list, so that no site sets one for another."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from email.utils import parsedate_to_datetime
from math import inf
from pathlib import Path
from time import time
from typing import Any, NamedTuple, Self
from urllib.parse import urlsplit

import pycurl

from webarc.crawler.addresses import hostname
from webarc.errors import StorageProblem, UsageProblem

_BOOLEAN = re.compile(r"TRUE|FALSE", re.IGNORECASE)
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
# Bounds what a server can make us remember, at 50 cookies an answer.
MOST = 3000
_LOOK_EVERY = 200
_DOMAIN = re.compile(r";\s*domain\s*=\s*\.?([^;\s]+)", re.IGNORECASE)
_PATH = re.compile(r";\s*path\s*=\s*(/[^;]*)", re.IGNORECASE)
_MAX_AGE = re.compile(r";\s*max-age\s*=\s*(-?\d{1,12})", re.IGNORECASE)
_EXPIRES = re.compile(r";\s*expires\s*=\s*([^;]+)", re.IGNORECASE)


class _Said(NamedTuple):
    """What a server said of a cookie: its value, and until when it lasts."""

    name: str
    value: str
    until: float

    @classmethod
    def of(cls, cookie: str) -> Self:
        name, _, value = cookie.partition(";")[0].partition("=")
        return cls(name.strip(), f"={value.strip()}", _until(cookie))

    def value_at(self, moment: float) -> str:
        """The value; empty when the cookie is gone."""
        return self.value if moment < self.until else ""


_NOTHING = _Said("", "", inf)


class CookieJar:
    """The cookies of one crawl, shared by all its connections."""

    def __init__(self, file: Path | None = None) -> None:
        self._lines = read_netscape(file) if file else []
        self._loaded = False
        self._seen = 0
        self._said: dict[tuple[str, str, str], _Said] = {}
        self._changed: dict[str, int] = {}
        self._share: Any = None
        # Without the list a site could set a cookie for all of `.com`: then there are no cookies at all.
        if pycurl.version_info()[4] & pycurl.VERSION_PSL:
            self._share = pycurl.CurlShare()
            self._share.setopt(pycurl.SH_SHARE, pycurl.LOCK_DATA_COOKIE)
        elif file:
            raise UsageProblem("This libcurl has no public suffix list, so cookies are not safe; use pycurl's wheel.")

    def join(self, curl: Any) -> None:
        """Let a handle use the jar."""
        if self._share is None:
            return
        curl.setopt(pycurl.SHARE, self._share)
        curl.setopt(pycurl.COOKIEFILE, "")
        if not self._loaded:
            self._load(curl)

    def count(self, curl: Any, url: str, cookies: Iterable[str]) -> None:
        """A page set cookies; now and then look how many there are, and start afresh when a server floods us."""
        self._seen += 1
        if self._share is None:
            return
        self._note(url, cookies)
        if self._seen % _LOOK_EVERY:
            return
        if len(curl.getinfo(pycurl.INFO_COOKIELIST)) > MOST:
            curl.setopt(pycurl.COOKIELIST, "ALL")
            self._load(curl)

    def __bool__(self) -> bool:
        """Whether a server has set a cookie."""
        return bool(self._changed)

    def state(self, host: str) -> int:
        """A number that is another one once a cookie that this host may get has changed; 0 while there is none."""
        labels = host.split(".")
        return max(self._changed.get(".".join(labels[skip:]), 0) for skip in range(len(labels)))

    def _note(self, url: str, cookies: Iterable[str]) -> None:
        """Remember which domains' cookies have changed: a value that is set again while it lasts is no news."""
        host, folder = hostname(url), urlsplit(url).path.rpartition("/")[0] or "/"
        for cookie in cookies:
            said, now = _Said.of(cookie), time()
            domain = _attribute(_DOMAIN, cookie, host).lower()
            key = (domain, _attribute(_PATH, cookie, folder).rstrip(), said.name)
            before = self._said.get(key, _NOTHING)
            if f".{host}".endswith(f".{domain}") and said.value_at(now) != before.value_at(now):
                self._changed[domain] = self._seen
            if len(self._said) >= MOST:
                self._said.clear()
            self._said[key] = said

    def close(self) -> None:
        """Forget everything; the handles must be closed first."""
        if self._share is not None:
            self._share.close()
            self._share = None

    def _load(self, curl: Any) -> None:
        self._loaded = True
        for line in self._lines:
            curl.setopt(pycurl.COOKIELIST, line)


def _attribute(pattern: re.Pattern[str], cookie: str, default: str) -> str:
    found = pattern.search(cookie)
    return found.group(1) if found else default


def _until(cookie: str) -> float:
    """When a cookie ends, in seconds since 1970; one that does not say so lasts as long as the crawl."""
    if age := _attribute(_MAX_AGE, cookie, ""):
        return time() + int(age)
    if expires := _attribute(_EXPIRES, cookie, ""):
        # A date that nobody understands counts for nothing, as in browsers.
        with suppress(ValueError, OverflowError):
            return parsedate_to_datetime(expires.strip()).timestamp()
    return inf


def read_netscape(file: Path) -> list[str]:
    """The cookies of a Netscape cookie file, one line each; a line that is none is named."""
    try:
        text = file.read_text("utf-8", "surrogateescape")
    except OSError as error:
        raise StorageProblem(f"The cookie file {file} cannot be read ({error.strerror}); check its name.") from None
    lines = []
    for number, line in enumerate(text.removeprefix("\ufeff").splitlines(), 1):
        if not line.strip() or (line.startswith("#") and not line.startswith("#HttpOnly_")):
            continue
        if not _is_cookie(line):
            raise UsageProblem(f"{file}, line {number} is no cookie in Netscape format (7 fields with tabs between).")
        lines.append(line if line.count("\t") == 6 else line + "\t")
    return lines


def _is_cookie(line: str) -> bool:
    fields = line.split("\t")
    if len(fields) not in (6, 7) or _CONTROL.search(line):
        return False
    domain, tail, path, secure, expires, name = fields[:6]
    flags = _BOOLEAN.fullmatch(tail) and _BOOLEAN.fullmatch(secure)
    return bool(flags and domain and path.startswith("/") and expires.isdigit() and name)
