"""What a host's robots.txt (RFC 9309) and the X-Robots-Tag header allow."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from urllib.parse import quote

from protego import Protego

LARGEST = 500 * 1024
_PRODUCT = re.compile(r"(?:.*?compatible;\s*)?([^\s/;()]+)", re.IGNORECASE)
# The records that count, with the misspellings that Google forgives; a missing colon is forgiven before a single word.
_RECORD = re.compile(
    r"(?:(user[- ]?agent)|(allow)|(di[as]+l+[ao]w)|(site-?maps?)|(crawl[- ]delay))(?:\s*:(.*)|\s+(\S+))",
    re.IGNORECASE,
)
_FIELDS = ("User-agent", "Allow", "Disallow", "Sitemap", "Crawl-delay")
_NAME = re.compile(r"[^\s/]*")
# What Python's splitlines() takes for the end of a line, but RFC 9309 does not.
_NO_LINE_ENDS = re.compile("[\v\f\x1c-\x1e\x85\u2028\u2029]")
_OURS, _OTHERS, _EVERYONE = "ours", "theirs", "*"
_VALUED_RULES = ("unavailable_after", "max-snippet", "max-image-preview", "max-video-preview")


def product_token(user_agent: str) -> str:
    """The name in a User-Agent header that rules go by: `webarc/1.0 (...)` is `webarc`."""
    found = _PRODUCT.match(user_agent.strip())
    return found.group(1).lower() if found else ""


class Robots:
    """The rules of one host for one user agent."""

    def __init__(self, rules: Protego | None, delay: float | None = None, *, allowed: bool = True) -> None:
        self._rules = rules
        self._allowed = allowed
        self.crawl_delay = delay
        self.sitemaps: list[str] = list(rules.sitemaps) if rules else []

    @classmethod
    def from_answer(cls, status: int | None, body: bytes, user_agent: str) -> Robots:
        """Rules from an answer to /robots.txt (None: there was none), after the caller followed its redirects.

        No such file (3xx, 4xx): all is allowed. A server that fails or cannot be reached: nothing is.
        """
        if status is not None and 200 <= status < 300:
            records = list(_records(_text(body), product_token(user_agent)))
            rules = Protego.parse(_lines(record for record in records if record[0] != "Crawl-delay"))
            return cls(rules, _delay(records))
        return cls(None, allowed=status is not None and 300 <= status < 500)

    def ignored(self) -> Robots:
        """The same file for a crawl that does not obey it: everything is allowed, its sitemaps are still named."""
        anything = Robots(None)
        anything.sitemaps = self.sitemaps
        return anything

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
    return body.decode("utf-8", "replace").lstrip("\ufeff\ufffd").replace("\r\n", "\n").replace("\r", "\n")


def _records(text: str, token: str) -> Iterator[tuple[str, str]]:
    """The records of the file, others left out: to protego those would end a group, to RFC 9309 they mean nothing.

    Groups are for us, for everyone and for others: protego alone would let `web` stand for `webarc`.
    """
    for line in text.split("\n"):
        record = _RECORD.fullmatch(line.partition("#")[0].strip())
        if record is None:
            continue
        *names, value, word = record.groups()
        field = _FIELDS[next(place for place, name in enumerate(names) if name)]
        value = (value if value is not None else word).strip()
        yield field, _group(value, token) if field == "User-agent" else value


def _lines(records: Iterable[tuple[str, str]]) -> str:
    """The records as protego reads them."""
    return "\n".join(f"{field}: {_NO_LINE_ENDS.sub(_escaped, value)}" for field, value in records)


def _escaped(found: re.Match[str]) -> str:
    return quote(found.group())


def _delay(records: list[tuple[str, str]]) -> float | None:
    """What is asked of us by Crawl-delay, which counts for the agents that are named right before it.

    It is no part of RFC 9309 and does not end a group there; before the RFC it did, and people write it so: several
    agents, each with a delay of its own, and then rules for all of them.
    """
    if not any(field == "Crawl-delay" for field, _ in records):
        return None
    return _sane(Protego.parse(_lines(records)).crawl_delay(_OURS))


def _group(written: str, token: str) -> str:
    if written.split(None, 1)[:1] == ["*"]:
        return _EVERYONE
    found = _NAME.match(written.replace("*", ""))
    return _OURS if found and token and found.group().lower() == token else _OTHERS


def _sane(delay: float | None) -> float | None:
    return delay if delay is not None and math.isfinite(delay) and delay > 0 else None
