"""What people paste: a URL or a domain with or without a scheme, in any case, with blanks or quotes around it."""

from __future__ import annotations

import re

from webarc.archive.layout import domain_of
from webarc.archive.urls import canonical, host_of
from webarc.errors import BadURL

_SCHEME = re.compile(r"https?:", re.IGNORECASE)
_OTHER_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_AROUND = " \t\r\n<>\"'`\u200b\ufeff"
_WWW = "www."


def spellings(text: str) -> list[str]:
    """The canonical URLs that a text may mean, the likeliest first; raises BadURL if there is none."""
    text = text.strip(_AROUND)
    if not text:
        raise BadURL("an empty text is no URL; name a page, as in https://example.org/docs/.")
    if _SCHEME.match(text) or _OTHER_SCHEME.match(text):
        return [canonical(text)]
    # Without a scheme a port 80 or 443 may be the usual one of either.
    both = [canonical(f"{scheme}://{text.lstrip('/')}") for scheme in ("https", "http")]
    return both if host_of(both[0]) != host_of(both[1]) else both[:1]


def lookups(text: str) -> list[str]:
    """Where to look for what a text names: its spellings, and without a scheme also those with or without `www.`.

    Not for what is to be deleted: that must be named as it is.
    """
    found = spellings(text)
    if _SCHEME.match(text.strip(_AROUND)):
        return found
    return [*found, *map(_with_or_without_www, found)]


def domain_spellings(text: str) -> list[str]:
    """The domains that a URL, a host or a domain's folder may mean, the likeliest first."""
    return [host_of(url) for url in spellings(_unfolded(text))]


def domain_lookups(text: str) -> list[str]:
    """Where to look for a domain: see `lookups`."""
    return [host_of(url) for url in lookups(_unfolded(text))]


def beyond_domain(text: str) -> str:
    """The path and the query of a text that was to name a domain; empty if it names nothing beyond that."""
    text = text.strip(_AROUND)
    if "%_" in text:
        return ""  # a domain's folder
    return spellings(text)[0].partition("://")[2].partition("/")[2]


def is_bare_host(text: str) -> bool:
    """Whether a text names a host alone: no scheme, no path, no query."""
    text = text.strip(_AROUND)
    return bool(text) and not _SCHEME.match(text) and not any(mark in text for mark in "/?#")


def _with_or_without_www(url: str) -> str:
    scheme, _, rest = url.partition("//")
    return f"{scheme}//{rest.removeprefix(_WWW) if rest.startswith(_WWW) else _WWW + rest}"


def _unfolded(text: str) -> str:
    """The domain, if a text is the name of its folder."""
    text = text.strip(_AROUND)
    return domain_of(text.strip("/")) if "%_" in text else text
