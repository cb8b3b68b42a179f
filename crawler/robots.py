"""What a host's robots.txt (RFC 9309) and the X-Robots-Tag header allow."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

from protego import Protego

LARGEST = 500 * 1024
_PRODUCT = re.compile(r"(?:.*?compatible;\s*)?([^\s/;()]+)", re.IGNORECASE)
_AGENT_LINE = re.compile(r"^[ \t]*user[- ]?agent[ \t]*(?::|[ \t])[ \t]*([^\n#]*).*$", re.IGNORECASE | re.MULTILINE)
_NAME = re.compile(r"[^\s/]*")
_OURS, _OTHERS, _EVERYONE = "ours", "theirs", "*"
_VALUED_RULES = ("unavailable_after", "max-snippet", "max-image-preview", "max-video-preview")


def product_token(user_agent: str) -> str:
    """The name in a User-Agent header that rules go by: `webarc/1.0 (...)` is `webarc`."""
    found = _PRODUCT.match(user_agent.strip())
    return found.group(1).lower() if found else ""


class Robots:
    """The rules of one host for one user agent."""

    def __init__(self, rules: Protego | None, *, allowed: bool = True) -> None:
        self._rules = rules
        self._allowed = allowed
        self.crawl_delay = _sane(rules.crawl_delay(_OURS)) if rules else None
        self.sitemaps: list[str] = list(rules.sitemaps) if rules else []

    @classmethod
    def from_answer(cls, status: int | None, body: bytes, user_agent: str) -> Robots:
        """Rules from an answer to /robots.txt (None: there was none), after the caller followed its redirects.

        No such file (3xx, 4xx): all is allowed. A server that fails or cannot be reached: nothing is.
        """
        if status is not None and 200 <= status < 300:
            return cls(Protego.parse(_normalised(_text(body), product_token(user_agent))))
        return cls(None, allowed=status is not None and 300 <= status < 500)

    def allows(self, url: str) -> bool:
        """Whether a URL of this host may be asked for."""
        return self._allowed if self._rules is None else bool(self._rules.can_fetch(url, _OURS))


def nofollow_header(values: Iterable[str], agent: str) -> bool:
    """Whether X-Robots-Tag headers, each perhaps for one agent only, say not to follow links."""
    token = product_token(agent)
    return any(_says_nofollow(value.lower(), token) for value in values)


def _says_nofollow(value: str, token: str) -> bool:
    meant = True
    for rule in value.split(","):
        name, colon, rest = rule.partition(":")
        if colon and name.strip() not in _VALUED_RULES:
            meant = name.strip() == token
            rule = rest
        if meant and rule.strip() in ("nofollow", "none"):
            return True
    return False


def _text(body: bytes) -> str:
    """The part of the file that counts; a line that the limit cuts in two could say anything, so it goes."""
    if len(body) > LARGEST:
        body = body[:LARGEST]
        body = body[: max(body.rfind(b"\n"), body.rfind(b"\r")) + 1]
    return body.decode("utf-8-sig", "replace").replace("\r\n", "\n").replace("\r", "\n")


def _normalised(text: str, token: str) -> str:
    """Groups for us, for everyone and for others: protego alone would let `web` stand for `webarc`."""
    return _AGENT_LINE.sub(lambda line: f"User-agent: {_group(line.group(1), token)}", text)


def _group(written: str, token: str) -> str:
    if written.strip() == "*":
        return _EVERYONE
    found = _NAME.match(written.strip().replace("*", ""))
    return _OURS if found and token and found.group().lower() == token else _OTHERS


def _sane(delay: float | None) -> float | None:
    return delay if delay is not None and math.isfinite(delay) and delay > 0 else None
