"""What is asked of the fetcher, and what it says came of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from webarc.archive.urls import canonical
from webarc.crawler.limits import MIB

ERRORS = (
    "timeout",
    "refused",
    "dns",
    "tls",
    "truncated",
    "too-large",
    "bad-encoding",
    "bad-response",
    "header-too-large",
    "address-refused",
    "scheme",
    "connection",
)
_REDIRECTS = frozenset((301, 302, 303, 307, 308))


@dataclass(slots=True)
class Request:
    """One URL to ask for.

    A body of at most `keep` bytes comes back in `Answer.body`; a longer one goes to `target` alone. Without a target
    the first `keep` bytes come back, and more than that is the error `too-large`.
    """

    url: str
    target: Path | str | None = None
    headers: tuple[tuple[str, str], ...] = ()
    tag: Any = None
    not_before: float = 0.0
    """The earliest start, on the clock of time.monotonic()."""
    keep: int = MIB
    method: str = "GET"
    canonical: bool = False
    """The URL is in its canonical form already."""
    lazy: bool = False
    """Write the target only when the body is longer than `keep`; the caller writes a shorter one if it wants it."""


@dataclass(slots=True)
class Answer:
    """What came of a request; `error` is empty or one of ERRORS, and then no target file is left."""

    request: Request
    url: str
    status: int
    http_version: str
    headers: list[tuple[str, str]]
    fields: dict[str, str]
    """The same headers by lower-case name, several lines joined by commas."""
    body: bytes | None
    length: int
    sha256: str
    error: str
    detail: str
    seconds: float
    received: datetime
    address: str
    retry_after: float | None
    stored: bool
    """Whether the target file is there."""

    def header(self, name: str) -> str:
        """The value of a header, or an empty text."""
        return self.fields.get(name.lower(), "")

    def redirect(self) -> str | None:
        """Where a redirect leads, None if this is none; raises BadURL for what cannot be followed."""
        values = [value for key, value in self.headers if key.lower() == "location"]
        if self.status not in _REDIRECTS or not values:
            return None
        return canonical(_as_utf8(values[0]), self.url)


def _as_utf8(value: str) -> str:
    """Header text is read as Latin-1; a Location in raw UTF-8 means the characters that browsers see in it."""
    try:
        return value.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return value
