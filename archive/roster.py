"""The domains of an archive that somebody names, damaged ones included."""

from __future__ import annotations

from webarc.archive.hindrance import hindrance
from webarc.archive.nearest import nearest_domains
from webarc.archive.spellings import domain_lookups
from webarc.archive.store import Archive
from webarc.errors import UnknownDomain


def named_domain(archive: Archive, text: str) -> str:
    """The domain that a host or a URL means; raises UnknownDomain naming the nearest."""
    return known_domain(archive, domain_lookups(text))


def known_domain(archive: Archive, names: list[str]) -> str:
    """The first of these domains that the archive has; raises UnknownDomain naming what is nearest to them."""
    found = next((name for name in names if archive.repository(name).exists()), None)
    if found is None:
        raise UnknownDomain(f"the archive has no domain {names[0]}; {instead_of(archive, names[0])}")
    return found


def instead_of(archive: Archive, domain: str) -> str:
    """What to do about a domain that the archive does not have: the end of a sentence."""
    repo = archive.repository(domain)
    if repo.exists():
        return f"its repository cannot be read, run `webarc verify {domain}` to see what can be mended."
    if wrong := hindrance(repo.folder):
        return wrong
    if repo.folder.is_dir():
        return f"its folder {repo.folder} is no git repository any more, restore that from a backup or a clone."
    domains = archive.domains()
    if near := nearest_domains(domain, domains):
        return f"did you mean {' or '.join(near)}?"
    return "run `webarc list` to see what it has." if domains else "it is empty, run `webarc crawl` first."
