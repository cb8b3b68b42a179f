"""User name and password: sent to the origins of the start URLs only, and only in the way in which these ask for them.

An origin is asked without them until it refuses. One that offers Digest (RFC 7616) gets Digest from then on, from
libcurl, and never sees Basic; any other gets Basic (RFC 7617) with every request, as do servers that refuse without
saying what they want.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from webarc.crawler.exchange import Answer
from webarc.crawler.expressions import many
from webarc.crawler.headers import RequestHeaders
from webarc.crawler.limits import origin_of

Credentials = tuple[str, str]
_REFUSALS = (401, 403)
_QUOTED = re.compile(r'"[^"\\]*+' + many(r'\\.[^"\\]*+', "escapes") + '"?')
_SCHEME = re.compile(r"(?:^|,)\s*+(basic|digest)(?=[\s,]|$)", re.IGNORECASE)


class Authentication:
    """What each origin is known to want."""

    def __init__(self, headers: RequestHeaders, credentials: Mapping[str, Credentials]) -> None:
        self._headers = headers
        self._credentials = {origin: given for origin, given in credentials.items() if not headers.has_login(origin)}
        self._ways: dict[str, str] = {}
        self._unasked: set[str] = set()

    def __bool__(self) -> bool:
        return bool(self._credentials)

    @property
    def problems(self) -> list[str]:
        """What the user should know, each in a sentence."""
        return [
            f"{origin} never asked for the user name and password, so they were not sent; "
            "--header 'Authorization: ...' sends them unasked."
            for origin in sorted(self._unasked - self._ways.keys())
        ]

    def login(self, url: str) -> Credentials:
        """User name and password for an origin that wants them."""
        return self._credentials[origin_of(url)]

    def is_wanted(self, answer: Answer, sent: str) -> bool:
        """Whether an answer is a demand that can be met by asking again; `sent` is the way of that request."""
        origin = origin_of(answer.url)
        if answer.error or origin not in self._credentials:
            return False
        if answer.status not in _REFUSALS:
            self._unasked.add(origin)
            return False
        offered = offers(answer.header("www-authenticate"))
        if "digest" in offered and (not sent or "basic" not in offered):
            self._headers.send_basic(origin, None)
            self._ways[origin] = "digest"
        elif not sent and origin not in self._ways:
            self._headers.send_basic(origin, self._credentials[origin])
            self._ways[origin] = "basic"
        return self.way(answer.url) != sent

    def way(self, url: str) -> str:
        """How user name and password go with a request: `basic`, `digest`, or empty for not at all."""
        return self._ways.get(origin_of(url), "")


def offers(challenge: str) -> set[str]:
    """The schemes that a WWW-Authenticate header offers, of those that are known here."""
    return {name.lower() for name in _SCHEME.findall(_QUOTED.sub('""', challenge))}
