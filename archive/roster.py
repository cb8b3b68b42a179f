"""The domains of an archive that somebody names, damaged ones included."""

from __future__ import annotations

from collections.abc import Iterable

from webarc.archive.nearest import nearest_domains
from webarc.archive.spellings import domain_spellings
from webarc.archive.store import Archive
from webarc.errors import UnknownDomain


def named_domains(archive: Archive, texts: Iterable[str]) -> list[str]:
    """The domains that these hosts or URLs mean; raises UnknownDomain naming the nearest."""
    return list(dict.fromkeys(_named_domain(archive, text) for text in texts))


def _named_domain(archive: Archive, text: str) -> str:
    names = domain_spellings(text)
    found = next((name for name in names if archive.repository(name).exists()), None)
    if found is None:
        near = nearest_domains(names[0], archive.domains())
        cure = f"did you mean {' or '.join(near)}?" if near else "run `webarc list` to see what it has."
        raise UnknownDomain(f"the archive has no domain {names[0]}; {cure}")
    return found
