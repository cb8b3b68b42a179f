"""Cookies: libcurl keeps them, with its public suffix list, so that no site sets one for another."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pycurl

from webarc.errors import StorageProblem, UsageProblem

_BOOLEAN = re.compile(r"TRUE|FALSE", re.IGNORECASE)
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
# Bounds what a server can make us remember, at 50 cookies an answer.
MOST = 3000
_LOOK_EVERY = 200
_DOMAIN = re.compile(r";\s*domain\s*=\s*\.?([^;\s]+)", re.IGNORECASE)


class CookieJar:
    """The cookies of one crawl, shared by all its connections."""

    def __init__(self, file: Path | None = None) -> None:
        self._lines = read_netscape(file) if file else []
        self._loaded = False
        self._seen = 0
        self._said: dict[tuple[str, str], str] = {}
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

    def count(self, curl: Any, host: str, cookies: Iterable[str]) -> None:
        """A host set cookies; now and then look how many there are, and start afresh when a server floods us."""
        self._seen += 1
        if self._share is None:
            return
        self._note(host, cookies)
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

    def _note(self, host: str, cookies: Iterable[str]) -> None:
        """Remember which domains' cookies have changed: a value that is set again and again is no news."""
        for cookie in cookies:
            pair = cookie.partition(";")[0].strip()
            found = _DOMAIN.search(cookie)
            domain = found.group(1).lower() if found else host
            key = (domain, pair.partition("=")[0])
            if f".{host}".endswith(f".{domain}") and self._said.get(key) != pair:
                if len(self._said) >= MOST:
                    self._said.clear()
                self._said[key] = pair
                self._changed[domain] = self._seen

    def close(self) -> None:
        """Forget everything; the handles must be closed first."""
        if self._share is not None:
            self._share.close()
            self._share = None

    def _load(self, curl: Any) -> None:
        self._loaded = True
        for line in self._lines:
            curl.setopt(pycurl.COOKIELIST, line)


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
