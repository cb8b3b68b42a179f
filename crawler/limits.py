"""What the fetcher may spend on one answer, and what it tells servers about itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import webarc

MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """Bounds on time, bytes and patience; every answer is held to them."""

    timeout: float = 30.0
    """Seconds to connect, and seconds of silence after that."""
    deadline: float = 300.0
    """Seconds from start to end of one transfer."""
    max_size: int = 100 * MIB
    """Bytes of a body, counted after decoding."""
    max_header_bytes: int = 256 * 1024
    max_headers: int = 500
    rate: int | None = None
    """Bytes a second, of all transfers together."""
    max_redirect: int = 20
    tries: int = 3
    backoff: float = 1.0
    """Seconds before the first repeat; each further one waits twice as long."""
    parallel: int = 64
    """Transfers at one time; further requests wait in line."""


@dataclass(frozen=True, slots=True)
class FetchOptions:
    """How the fetcher presents itself, and which secrets it may show to whom."""

    user_agent: str = f"webarc/{webarc.__version__}"
    headers: tuple[tuple[str, str], ...] = ()
    """Sent to every server, but Authorization, Cookie and Proxy-Authorization only to `origins`."""
    origins: frozenset[str] = frozenset()
    """Origins that may see secrets, as origin_of() spells them; those of the start URLs."""
    credentials: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """User and password by origin."""
    cookie_file: Path | None = None
    proxy: str | None = None
    ca_file: Path | None = None


def origin_of(url: str) -> str:
    """Scheme, host and port of a canonical URL: `http://example.org:8080`."""
    return url[: url.index("/", url.index("//") + 2)]
