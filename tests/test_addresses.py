"""Architecture rule 9: private addresses are asked only when the user named them."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, IPv6Network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.servers import Site
from webarc.archive.urls import canonical
from webarc.crawler.addresses import AddressPolicy, allowed, hostname, is_private, literal, refused_host
from webarc.crawler.fetcher import Answer, Fetcher, FetchLimits, FetchOptions, Request
from webarc.errors import UsageProblem

PRIVATE = [
    "127.0.0.1",
    "127.255.255.254",
    "0.0.0.0",
    "10.1.2.3",
    "172.16.0.1",
    "192.168.1.1",
    "100.64.0.1",
    "100.100.100.200",
    "169.254.169.254",
    "168.63.129.16",
    "192.0.0.192",
    "198.18.0.1",
    "224.0.0.1",
    "239.255.255.250",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::127.0.0.1",
    "::ffff:127.0.0.1",
    "::ffff:169.254.169.254",
    "::ffff:10.0.0.1",
    "64:ff9b::127.0.0.1",
    "64:ff9b::a9fe:a9fe",
    "64:ff9b:1::1",
    "2002:7f00:1::",
    "2002:a9fe:a9fe::",
    "fe80::1",
    "fec0::1",
    "fc00::1",
    "fd00:ec2::254",
    "ff02::1",
    "2001:db8::1",
    "192.0.2.1",
    "192.88.99.1",
    "198.19.255.255",
    "198.51.100.1",
    "203.0.113.1",
    "100::1",
    "2001::1",
    "2001:0:1:1:0:0:fefe:fefe",
    "2001:2::1",
    "2001:10::1",
    "2001:20::1",
    "2002:c0a8:101::1",
    "2002:e000:1::",
    "3fff:fff::1",
    "4000::1",
    "5f00::1",
    "64:ff9b::224.0.0.1",
    "::1.1.1.1",
    "fe80::ffff:1.1.1.1",
]
PUBLIC = [
    "1.1.1.1",
    "93.184.216.34",
    "100.63.255.255",
    "100.128.0.1",
    "172.32.0.1",
    "192.0.1.1",
    "198.20.0.1",
    "223.255.255.255",
    "2000::1",
    "2001:200::1",
    "2001:db9::1",
    "2606:4700::1111",
    "2a00:1450::1",
    "3fff:1000::1",
    "::ffff:1.1.1.1",
    "64:ff9b::1.1.1.1",
    "2002:101:101::1",
]
NAT64 = IPv6Network("64:ff9b::/96")


@pytest.mark.parametrize("address", PRIVATE)
def test_private_addresses_are_refused(address: str) -> None:
    assert is_private(address)
    assert not allowed(address, AddressPolicy(), "evil.example")
    assert allowed(address, AddressPolicy(allow_private=True))
    assert allowed(address, AddressPolicy(hosts=frozenset(["intranet.example"])), "intranet.example")


@pytest.mark.parametrize("address", PUBLIC)
def test_public_addresses_pass(address: str) -> None:
    assert not is_private(address)
    assert allowed(address, AddressPolicy())


@given(st.ip_addresses())
def test_nothing_passes_that_python_calls_private_by_any_name(ip: IPv4Address | IPv6Address) -> None:
    doubts = (ip.is_private, ip.is_loopback, ip.is_link_local, ip.is_multicast, ip.is_reserved, ip.is_unspecified)
    # Of these Python's versions think differently; what they hide counts.
    if any(doubts) and not (isinstance(ip, IPv6Address) and (ip.sixtofour or ip.ipv4_mapped or ip in NAT64)):
        assert is_private(str(ip))


def test_start_urls_and_config_name_what_is_allowed() -> None:
    policy = AddressPolicy.build(
        ["http://127.0.0.1:8080/x", "https://Intranet.example/", "http://[::1]/"],
        ["10.0.0.0/8", "192.168.1.7", "wiki.lan:8080", "fd00::/8"],
    )
    assert allowed("127.0.0.1", policy)
    assert allowed("::ffff:127.0.0.1", policy)
    assert allowed("10.9.8.7", policy)
    assert allowed("192.168.1.7", policy)
    assert allowed("fd00::5", policy)
    assert allowed("::1", policy)
    assert allowed("192.168.1.8", policy, "wiki.lan")
    assert allowed("172.16.0.1", policy, "intranet.example")
    assert not allowed("127.0.0.2", policy)
    assert not allowed("192.168.1.8", policy, "other.lan")
    assert not allowed("169.254.169.254", policy, "evil.example")
    assert not allowed("fe80::1%eth0", policy)
    with pytest.raises(UsageProblem, match="no host"):
        AddressPolicy.build([], ["not a host"])


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("http://2130706433/", "127.0.0.1"),
        ("http://0x7f.1/", "127.0.0.1"),
        ("http://0177.0.0.1:81/", "127.0.0.1"),
        ("http://127.1/", "127.0.0.1"),
        ("http://①②⑦.0.0.1/", "127.0.0.1"),
        ("http://[::ffff:7f00:1]:80/", "::ffff:7f00:1"),
        ("http://[::1]/", "::1"),
        ("http://169.254.169.254/latest/meta-data/", "169.254.169.254"),
    ],
)
def test_no_spelling_of_an_address_gets_through(url: str, host: str) -> None:
    assert hostname(canonical(url)) == host
    assert refused_host(host, AddressPolicy())
    assert ask(url).error == "address-refused"


def test_names_are_no_addresses() -> None:
    assert literal("example.org") is None
    assert literal("host7") is None
    assert not refused_host("example.org", AddressPolicy())


def ask(url: str, policy: AddressPolicy | None = None, proxy: str | None = None) -> Answer:
    with Fetcher(FetchLimits(timeout=5), FetchOptions(proxy=proxy), policy) as fetcher:
        fetcher.submit(Request(url))
        return fetcher.collect(10)[0]


def test_loopback_is_asked_only_when_named() -> None:
    with Site({"/": "secret"}) as site:
        answer = ask(site.url())
        assert (answer.error, answer.status, answer.body) == ("address-refused", 0, None)
        assert "127.0.0.1" in answer.detail
        assert ask(site.url(), AddressPolicy.build([site.url()])).body == b"secret"
        assert ask(site.url(), AddressPolicy.build([], ["127.0.0.0/8"])).body == b"secret"
        assert ask(site.url(), AddressPolicy(allow_private=True)).body == b"secret"
        assert ask(site.url(), AddressPolicy.build(["http://127.0.0.2/"])).error == "address-refused"


def test_a_name_that_leads_to_loopback_is_found_out_when_connecting() -> None:
    with Site({"/": "secret"}) as site:
        url = f"http://localhost:{site.port}/"
        answer = ask(url)
        assert (answer.error, answer.status) == ("address-refused", 0)
        assert not site.requests
        assert ask(url, AddressPolicy.build([url])).body == b"secret"


def test_a_named_host_opens_no_door_for_others() -> None:
    with Site({"/": "named"}) as site, Site({"/": "secret"}, host="127.0.0.2") as other:
        policy = AddressPolicy.build([site.url()])
        with Fetcher(policy=policy) as fetcher:
            for url in (site.url(), other.url(), site.url()):
                fetcher.submit(Request(url))
            answers = []
            while fetcher.active:
                answers += fetcher.collect(5)
        assert sorted(answer.error for answer in answers) == ["", "", "address-refused"]
        assert not other.requests


def test_through_a_proxy_literal_addresses_are_still_refused() -> None:
    with Site({}, otherwise="from the proxy") as proxy:
        assert ask("http://public.example/", proxy=proxy.url("")).body == b"from the proxy"
        assert ask("http://169.254.169.254/", proxy=proxy.url("")).error == "address-refused"
        assert proxy.targets() == ["http://public.example/"]
