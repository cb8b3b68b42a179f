"""User name and password: who gets to see them, and in which way."""

from __future__ import annotations

from base64 import b64decode
from collections import Counter

import pytest

from tests.crawls import Webarc
from tests.digest import PASSWORD, USER, Guard
from tests.servers import Page, Request, Route, Site, redirect
from webarc.crawler.addresses import AddressPolicy
from webarc.crawler.authentication import offers
from webarc.crawler.fetcher import Answer, Fetcher, FetchLimits, FetchOptions
from webarc.crawler.fetcher import Request as Asked
from webarc.crawler.limits import origin_of

LOGIN = ("--http-user", USER, "--http-password", PASSWORD)
NAMES = [f"/{number}" for number in range(30)]


def pages() -> dict[str, Route]:
    """A start page that links to 30 others."""
    links = "".join(f"<a href={name}>x</a>" for name in NAMES)
    return {"/": f"<title>in</title>{links}", **{name: Page(f"<title>{name}</title>", etag='"1"') for name in NAMES}}


def ask(
    site: Site,
    targets: list[str],
    *,
    parallel: int = 1,
    password: str = PASSWORD,
    headers: tuple[tuple[str, str], ...] = (),
) -> list[Answer]:
    origin = origin_of(site.url())
    options = FetchOptions(headers=headers, origins=frozenset([origin]), credentials={origin: (USER, password)})
    answers: list[Answer] = []
    with Fetcher(FetchLimits(parallel=parallel), options, AddressPolicy(allow_private=True)) as fetcher:
        for target in targets:
            fetcher.submit(Asked(site.url(target)))
        while fetcher.active:
            answers += fetcher.collect(5)
    return answers


def test_a_site_under_digest_is_crawled(webarc: Webarc) -> None:
    guard = Guard(pages(), also_basic=True)
    with Site({}, otherwise=guard) as site:
        result = webarc.crawl(*LOGIN, site.url())
        assert (result["counts"]["new"], result["counts"]["failed"], result["warnings"]) == (31, 0, [])
        assert webarc.stored(site.url()) == {"%_", *(name[1:] for name in NAMES)}
        assert webarc.document(site.url("/7")) == b"<title>/7</title>"
        # A refusal for each connection at most, and one before the way is known; never the password itself.
        assert len(site.requests) <= 2 * 4 + 2 + 32
        assert guard.proofs.count("") <= 6
        assert "Basic" not in guard.proofs
        assert site.connections <= 5
        again = webarc.crawl(*LOGIN, site.url())
        assert (again["counts"]["new"], again["counts"]["unchanged"]) == (0, 31)
        assert all("if-none-match" in request.headers for request in site.asked("/7")[-1:])


def test_a_page_behind_digest_on_a_site_that_is_open_otherwise(webarc: Webarc) -> None:
    guard = Guard({"/secret": "<title>secret</title>"})
    with Site({"/": "<a href=/secret>s</a><a href=/missing>m</a>", "/secret": guard}) as site:
        rows = webarc.report(*LOGIN, site.url())
        assert rows[site.url("/secret")]["outcome"] == "stored"
        assert not any(request.headers.get("authorization", "").startswith("Basic") for request in site.requests)


def test_credentials_stay_at_home(webarc: Webarc) -> None:
    inner: dict[str, Route] = {}
    stranger = Guard({})
    with Site({}, otherwise=Guard(inner)) as site, Site({}, otherwise=stranger) as other:
        inner["/"] = f"<img src={other.url('/i.png')}><a href=/away>a</a><a href={other.url('/x')}>x</a>"
        inner["/away"] = redirect(other.url("/y"))
        webarc.crawl(*LOGIN, "--scope", "any", "--requisites-from-anywhere", site.url())
        assert {"/i.png", "/x", "/y"} <= set(other.targets())
        assert set(stranger.proofs) == {""}
        assert site.asked("/away")


def test_a_wrong_password_is_said_to_be_one(webarc: Webarc) -> None:
    with Site({}, otherwise=Guard(pages())) as site:
        rows = webarc.report("--http-user", USER, "--http-password", "guess", site.url(), code=6)
        assert rows[site.url()]["reason"] == "http-401"
        assert len(site.asked("/")) <= 4
        assert "/trap" not in site.targets()


@pytest.mark.parametrize("says_stale", [True, False])
def test_a_server_that_forgets_its_nonces(says_stale: bool) -> None:
    guard = Guard(pages(), lasts=3, says_stale=says_stale)
    with Site({}, otherwise=guard) as site:
        answers = ask(site, NAMES, parallel=4)
        assert [answer.status for answer in answers] == [200] * 30
        assert {answer.body for answer in answers} == {f"<title>{name}</title>".encode() for name in NAMES}


def test_what_the_refusal_said_is_not_part_of_the_answer() -> None:
    with Site({}, otherwise=Guard({"/a": Page("a", type="text/plain")})) as site:
        (answer,) = ask(site, ["/a"])
        assert (answer.status, answer.body, answer.length) == (200, b"a", 1)
        assert answer.header("www-authenticate") == ""
        assert [name for name, _ in answer.headers] == ["Content-Type", "Content-Length"]


def basic(request: Request, inner: dict[str, Route]) -> Route:
    """A guard that asks for Basic."""
    given = request.headers.get("authorization", "").removeprefix("Basic ")
    if b64decode(given).decode() != f"{USER}:{PASSWORD}":
        return Page("no", 401, {"WWW-Authenticate": 'Basic realm="x", charset="UTF-8"'})
    route = inner.get(request.target, Page("not here", 404))
    return route(request) if callable(route) else route


def test_basic_costs_one_request_a_page(webarc: Webarc) -> None:
    inner = pages()
    with Site({}, otherwise=lambda request: basic(request, inner)) as site:
        result = webarc.crawl(*LOGIN, site.url())
        assert (result["counts"]["new"], result["warnings"]) == (31, [])
        asked = Counter(site.targets())
    # robots.txt is asked for twice: that is where the way becomes known. One name is made up, to see a soft 404.
    assert asked.pop("/robots.txt") == 2
    assert {target: asked[target] for target in inner} == dict.fromkeys(inner, 1)
    assert asked.total() == len(inner) + 1


@pytest.mark.parametrize("status", [401, 403])
def test_a_server_that_refuses_without_saying_what_it_wants(status: int) -> None:
    def guard(request: Request) -> Route:
        return "in" if request.headers.get("authorization", "").startswith("Basic ") else Page("no", status)

    with Site({}, otherwise=guard) as site:
        assert [answer.status for answer in ask(site, ["/a", "/b"])] == [200, 200]
        assert site.targets() == ["/a", "/a", "/b"]


def test_credentials_that_nobody_asks_for(webarc: Webarc) -> None:
    with Site({"/": "open"}) as site:
        (warning,) = webarc.crawl(*LOGIN, site.url())["warnings"]
        assert warning.startswith(f"{site.url()[:-1]} never asked for the user name and password")
        assert not any("authorization" in request.headers for request in site.requests)


def test_a_login_that_the_user_has_written_goes_first() -> None:
    with Site({}, otherwise=Page("no", 401)) as site:
        assert [answer.status for answer in ask(site, ["/a"], headers=(("authorization", "Bearer me"),))] == [401]
        assert [request.headers["authorization"] for request in site.requests] == ["Bearer me"]


@pytest.mark.parametrize("way", ["basic", "digest"])
def test_wrong_passwords_are_not_tried_for_ever(way: str) -> None:
    guard: Route = Guard(pages()) if way == "digest" else lambda request: basic(request, {})
    with Site({}, otherwise=guard) as site:
        answers = ask(site, NAMES, parallel=4, password="guess")
        assert {answer.status for answer in answers} == {401}
        assert len(site.requests) <= 3 * len(NAMES)


def test_wget_is_asked_for_digest_too(webarc: Webarc) -> None:
    guard = Guard({"/": "<title>in</title>"}, algorithm="MD5")
    with Site({}, otherwise=guard) as site:
        rows = webarc.report("--engine", "wget", *LOGIN, "--depth", "0", site.url())
        assert rows[site.url()]["outcome"] == "stored"
        assert "Basic" not in guard.proofs


@pytest.mark.parametrize(
    ("challenge", "schemes"),
    [
        ("", set()),
        ('Basic realm="x"', {"basic"}),
        ('DIGEST realm="a, basic b", nonce="\\", Basic "', {"digest"}),
        ('Negotiate, Digest realm="x", basic', {"digest", "basic"}),
        ('Bearer realm="x", error="basic ", Digestive x=1', set()),
        ('"' * 100_000, set()),
    ],
)
def test_what_a_challenge_offers(challenge: str, schemes: set[str]) -> None:
    assert offers(challenge) == schemes
