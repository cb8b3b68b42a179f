"""Which addresses may be connected to: public ones, and private ones that the user has named."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from webarc.archive.urls import canonical, host_of
from webarc.errors import BadURL, UsageProblem

Network = IPv4Network | IPv6Network
# IANA's registries of special-purpose addresses, as of 2025: what Python calls global depends on its version. Parts of
# these networks that are reachable, but serve relays and the like instead of the web, are refused with the rest.
_PRIVATE_IPV4 = tuple(
    map(
        IPv4Network,
        (
            "0.0.0.0/8",
            "10.0.0.0/8",
            "100.64.0.0/10",
            "127.0.0.0/8",
            "169.254.0.0/16",
            "172.16.0.0/12",
            "192.0.0.0/24",
            "192.0.2.0/24",
            "192.88.99.0/24",
            "192.168.0.0/16",
            "198.18.0.0/15",
            "198.51.100.0/24",
            "203.0.113.0/24",
            "224.0.0.0/4",
            "240.0.0.0/4",
            # Metadata of a cloud on an address that looks public.
            "168.63.129.16/32",
        ),
    )
)
# Everything else in IPv6 is local, reserved, or stands for an IPv4 address.
_PUBLIC_IPV6 = IPv6Network("2000::/3")
_PRIVATE_IPV6 = tuple(map(IPv6Network, ("2001::/23", "2001:db8::/32", "3fff::/20")))
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
    if isinstance(ip, IPv4Address):
        return any(ip in network for network in _PRIVATE_IPV4)
    hidden = _hidden(ip)
    if hidden is not None:
        return is_private(str(hidden))
    return ip not in _PUBLIC_IPV6 or any(ip in network for network in _PRIVATE_IPV6)


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
    """The IPv4 address that a translator or a 6to4 relay would connect to."""
    return IPv4Address(int(ip) & 0xFFFFFFFF) if ip in _NAT64 else ip.sixtofour


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
