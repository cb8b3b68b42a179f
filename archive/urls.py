"""The canonical form of a URL: WHATWG parsing, no fragment, no userinfo, upper-case escapes.

One parser (ada) serves the whole project, so that what is checked is also what is asked for.
"""

from __future__ import annotations

import re

import ada_url

from webarc.errors import BadURL

_ESCAPE = re.compile(r"%[0-9a-fA-F]{2}")
# Greedy up to the last @, since what a hasty typist takes for a password may hold any character.
_CREDENTIALS = re.compile(r"^([a-zA-Z][a-zA-Z0-9+.-]*:)?[/\\]*.*@", re.DOTALL)
_SCHEMES = ("http://", "https://")
LONGEST = 16_384


def canonical(reference: str, base: str | None = None) -> str:
    """The one spelling under which a page is known; raises BadURL for what is not http or https."""
    href = _absolute(reference, base)
    if not href.startswith(_SCHEMES):
        raise BadURL(f"{shown(reference)} is not an http or https URL; only those can be archived.")
    if len(href) > LONGEST:
        raise BadURL(f"{shown(reference)} is longer than {LONGEST} characters; it was not asked for.")
    return _tidy(href)


def _absolute(reference: str, base: str | None) -> str:
    try:
        return str(ada_url.join_url(base, reference) if base else ada_url.normalize_url(reference))
    except (ValueError, UnicodeEncodeError):
        raise BadURL(f"{shown(reference)} is not a valid URL; check its spelling.") from None


def _tidy(href: str) -> str:
    mark = href.find("#")
    if mark >= 0:
        href = href[:mark]
    start = href.index("//") + 2
    slash = href.index("/", start)
    authority = href[start:slash]
    host = authority.rsplit("@", 1)[-1]
    name, colon, port = host.rpartition(":") if host[-1] != "]" and ":" in host else (host, "", "")
    if name.endswith(".") and not name.endswith("..") and name != ".":
        name = name[:-1]
    if name + colon + port != authority:
        href = f"{href[:start]}{name}{colon}{port}{href[slash:]}"
    if "%" in href:
        href = _ESCAPE.sub(lambda match: match.group().upper(), href)
    return href


def host_of(url: str) -> str:
    """Host and port of a canonical URL, as in `example.org` or `example.org:8080`: the domain it belongs to."""
    start = url.index("//") + 2
    return url[start : url.index("/", start)]


def key_of(url: str) -> str:
    """What identifies a page in the archive: the canonical URL without its scheme."""
    return url[url.index("//") :]


def credentials_in(text: str) -> tuple[str, str] | None:
    """User name and password written into a URL, which canonical() drops."""
    try:
        parsed = ada_url.parse_url(text, ("username", "password"))
    except (ValueError, UnicodeEncodeError):
        return None
    user, password = str(parsed["username"]), str(parsed["password"])
    return (user, password) if user or password else None


def shown(reference: str) -> str:
    """A URL as messages may show it: short, printable and without credentials."""
    safe = _CREDENTIALS.sub(lambda match: f"{match.group(1) or ''}//", reference)
    safe = safe.encode("utf-8", "backslashreplace").decode("utf-8")
    safe = "".join(char if char.isprintable() else f"\\x{ord(char):02x}" for char in safe)
    return f"'{safe}'" if len(safe) <= 200 else f"'{safe[:197]}...'"
