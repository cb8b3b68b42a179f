"""Which addresses may be connected to: public ones, and private ones that the user has named."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from webarc.archive.urls import canonical, host_of
from webarc.errors import BadURL, UsageProblem

Network = IPv4Network | IPv6Network
# Beyond what Python's registry calls not global: metadata services of clouds on addresses that look public, deprecated
# site-local addresses, NAT64 for local use, and IPv4-compatible addresses, which can stand for any IPv4 one.
_MORE_PRIVATE: tuple[Network, ...] = (
    IPv4Network("168.63.129.16/32"),
    IPv4Network("192.0.0.0/24"),
    IPv6Network("fec0::/10"),
    IPv6Network("64:ff9b:1::/48"),
    IPv6Network("::/96"),
)
_NAT64 = IPv6Network("64:ff9b::/96")


@dataclass(frozen=True, slots=True)
class AddressPolicy:
    """What the user allowed beyond public addresses."""

    allow_private: bool = False
    hosts: frozenset[str] = frozenset()
    networks: tuple[Network, ...] = ()

    @classmethod
    def build(
        cls, start_urls: Iterable[str] = (), named: Iterable[str] = (), *, allow_private: bool = False
    ) -> AddressPolicy:
        """The policy for start URLs and for the hosts, addresses and networks that the config names."""
        hosts: set[str] = set()
        networks: list[Network] = []
        for entry in [*(_entry(hostname(canonical(url))) for url in start_urls), *map(_entry, named)]:
            if isinstance(entry, str):
                hosts.add(entry)
            else:
                networks.append(entry)
        return cls(allow_private, frozenset(hosts), tuple(networks))


def allowed(address: str, policy: AddressPolicy, host: str = "") -> bool:
    """Whether a connection to an IP address may be opened on behalf of a host name."""
    if policy.allow_private or host in policy.hosts:
        return True
    ip = _plain(address.partition("%")[0])
    return not is_private(str(ip)) or any(ip in network for network in policy.networks)


@lru_cache(4096)
def is_private(address: str) -> bool:
    """Whether an address is private, loopback, link-local, multicast, reserved, or hides one that is."""
    ip = _plain(address)
    if not ip.is_global or ip.is_multicast or any(ip in network for network in _MORE_PRIVATE):
        return True
    hidden = _hidden(ip) if isinstance(ip, IPv6Address) else None
    return hidden is not None and is_private(str(hidden))


def refused_host(host: str, policy: AddressPolicy) -> bool:
    """Whether a host is an IP address that may not be asked, whoever opens the connection."""
    ip = literal(host)
    return ip is not None and not allowed(str(ip), policy, host)


def refusal(where: str) -> str:
    """Why an address was not asked, and what would change that."""
    return f"{where} is a private address that neither a start URL nor the config names; --allow-private lets it pass"


def hostname(url: str) -> str:
    """The host of a canonical URL without its port; an IPv6 address without brackets."""
    host = host_of(url)
    if host.startswith("["):
        return host[1 : host.index("]")]
    return host.partition(":")[0]


@lru_cache(4096)
def literal(host: str) -> IPv4Address | IPv6Address | None:
    """The address that a host spells out, if it is not a name."""
    if not host or not (host[-1].isdigit() or ":" in host):
        return None
    try:
        return _plain(host)
    except ValueError:
        return None


def _plain(address: str) -> IPv4Address | IPv6Address:
    ip = ip_address(address)
    return ip.ipv4_mapped or ip if isinstance(ip, IPv6Address) else ip


def _hidden(ip: IPv6Address) -> IPv4Address | None:
    if ip in _NAT64:
        return IPv4Address(int(ip) & 0xFFFFFFFF)
    return ip.sixtofour or (ip.teredo[1] if ip.teredo else None)


def _entry(text: str) -> str | Network:
    """A host, address or network from the config, in the spelling that URLs have."""
    try:
        return ip_network(text, strict=False)
    except ValueError:
        pass
    try:
        return hostname(canonical(f"http://{text}/"))
    except BadURL:
        raise UsageProblem(f"'{text}' is no host, address or network; allow_private takes only those.") from None
