"""What the `Link:` headers of an answer name (RFC 8288)."""

from __future__ import annotations

import re
from typing import NamedTuple

from webarc.crawler.elements import REQUISITES
from webarc.crawler.joins import Joiner
from webarc.crawler.srcset import read_srcset

# Any other relation, such as a short link or the address of an API, is not what a reader would go to.
_TO_FOLLOW = {"alternate", "next", "prev", "previous"}
_MOST_LINKS = 1_000
_LINK = re.compile(r"""<([^<>]*+)>((?:[^,<"]++|"(?:[^"\\]++|\\.)*"?+)*)""", re.DOTALL)
_PARAMETER = re.compile(r""";\s*+([^\s=;]++)(?:\s*+=\s*+(?:"((?:[^"\\]++|\\.)*)"?+|([^\s;]*+)))?""", re.DOTALL)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)


class LinkHeader(NamedTuple):
    """URLs of other documents, of which some are not to be followed, and those of the document's own parts."""

    links: list[str]
    requisites: list[str]
    unfollowed: list[str]


def read_link_header(value: str, url: str) -> LinkHeader:
    """What these headers, joined by commas, say of the document at `url`."""
    found, joiner = LinkHeader([], [], []), Joiner(url)
    for number, link in enumerate(_LINK.finditer(_as_utf8(value))):
        if number >= _MOST_LINKS:
            break
        parameters = _parameters(link[2])
        rel = set(parameters.get("rel", "").lower().split())
        if "anchor" in parameters:
            continue  # it speaks of another document
        if rel & REQUISITES:
            found.requisites.extend(_joined(joiner, [link[1], *read_srcset(parameters.get("imagesrcset", ""))]))
        elif rel & _TO_FOLLOW:
            (found.unfollowed if "nofollow" in rel else found.links).extend(_joined(joiner, [link[1]]))
    return found


def _joined(joiner: Joiner, references: list[str]) -> list[str]:
    return list(filter(None, joiner.urls(references)))


def _parameters(written: str) -> dict[str, str]:
    """The parameters of a link; of two with one name, the first counts."""
    found: dict[str, str] = {}
    for name, quoted, bare in _PARAMETER.findall(written):
        found.setdefault(name.lower(), _ESCAPE.sub(r"\1", quoted) if quoted else bare)
    return found


def _as_utf8(value: str) -> str:
    """Header text is read as Latin-1; raw UTF-8 in it means the characters that browsers see."""
    try:
        return value.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return value
