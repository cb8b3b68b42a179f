"""The headers of a request: what every server gets, and what only the origins of the start URLs may see."""

from __future__ import annotations

import re
from base64 import b64encode

from webarc.crawler.decoding import ACCEPTED
from webarc.crawler.limits import FetchOptions, origin_of
from webarc.errors import UsageProblem

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_AUTHORIZATION = b"Authorization: "
_SECRET = frozenset(("authorization", "cookie", "proxy-authorization"))


class RequestHeaders:
    """Ready-made header lines by origin; no value can ever begin a line of its own."""

    def __init__(self, options: FetchOptions) -> None:
        given = [(name.strip(), value.strip()) for name, value in options.headers]
        named = {name.lower() for name, _ in given}
        usual = [("User-Agent", options.user_agent), ("Accept", "*/*"), ("Accept-Encoding", ACCEPTED)]
        everyone = [pair for pair in usual if pair[0].lower() not in named]
        everyone += [pair for pair in given if pair[0].lower() not in _SECRET]
        self._everyone = [_checked(name, value) for name, value in everyone]
        self._by_origin: dict[str, list[bytes]] = {}
        self._cookies: dict[str, bytes] = {}
        self._has_login = options.origins if "authorization" in named else frozenset()
        for origin in options.origins:
            self._confide(origin, given)

    def has_login(self, origin: str) -> bool:
        """Whether the user has written the Authorization header for an origin."""
        return origin in self._has_login

    def send_basic(self, origin: str, credentials: tuple[str, str] | None) -> None:
        """Send user name and password to an origin from now on, or no longer."""
        lines = [line for line in self._by_origin.get(origin, self._everyone) if not line.startswith(_AUTHORIZATION)]
        login = [_checked("Authorization", _basic(*credentials))] if credentials else []
        self._by_origin[origin] = lines + login

    def _confide(self, origin: str, given: list[tuple[str, str]]) -> None:
        secret = [pair for pair in given if pair[0].lower() in _SECRET - {"cookie"}]
        if secret:
            self._by_origin[origin] = self._everyone + [_checked(name, value) for name, value in secret]
        # A request has one Cookie header: libcurl joins these with the ones that servers set.
        cookies = [_checked(name, value) for name, value in given if name.lower() == "cookie"]
        if cookies:
            self._cookies[origin] = b"; ".join(line.partition(b": ")[2] for line in cookies)

    def lines(self, url: str, extra: tuple[tuple[str, str], ...]) -> list[bytes]:
        """The header lines for a request; the same list object each time when nothing is extra."""
        lines = self._by_origin.get(origin_of(url), self._everyone) if self._by_origin else self._everyone
        if not extra:
            return lines
        # These values come from servers (validators); one that is no header is left out.
        return lines + [line for line in (_line(name, value) for name, value in extra) if line]

    def cookie(self, url: str) -> bytes:
        """The cookies that the user wants sent to the origin of a URL."""
        return self._cookies.get(origin_of(url), b"") if self._cookies else b""


def _basic(user: str, password: str) -> str:
    return "Basic " + b64encode(f"{user}:{password}".encode()).decode()


def _line(name: str, value: str) -> bytes | None:
    if not _NAME.fullmatch(name) or _CONTROL.search(value):
        return None
    try:
        # libcurl sends `Name;` as a header without a value and would drop `Name:`.
        return (f"{name}: {value}" if value else f"{name};").encode("latin-1")
    except UnicodeEncodeError:
        return None


def _checked(name: str, value: str) -> bytes:
    line = _line(name, value)
    if line is None:
        # The value may be a password and is not shown.
        raise UsageProblem(f"The header {name[:100]!r} has characters that no header may have; remove them.")
    return line
