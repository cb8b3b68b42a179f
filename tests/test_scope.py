"""Which URLs belong to a crawl, and the expressions that users write."""

from __future__ import annotations

from time import perf_counter

import pytest

from webarc.crawler.patterns import Patterns
from webarc.crawler.scope import Scope
from webarc.errors import UsageProblem

START = "https://www.example.org/docs/v1/index.html"
URLS = {
    "start": START,
    "start without tls": "http://www.example.org/docs/v1/index.html",
    "beside": "https://www.example.org/docs/v1/a?x=/y/",
    "below": "https://www.example.org/docs/v1/sub/b",
    "above": "https://www.example.org/docs/",
    "elsewhere": "https://www.example.org/docs/v10/x",
    "port": "https://www.example.org:8080/docs/v1/x",
    "bare": "https://example.org/x",
    "sister": "https://img.example.org/x",
    "pretender": "https://evilexample.org/",
    "other": "https://example.com/docs/v1/",
}
IN_SCOPE = {
    "page": {"start", "start without tls"},
    "prefix": {"start", "start without tls", "beside", "below"},
    "host": {"start", "start without tls", "beside", "below", "above", "elsewhere"},
    "domain": set(URLS) - {"pretender", "other"},
    "any": set(URLS),
}


@pytest.mark.parametrize("kind", IN_SCOPE)
def test_scopes(kind: str) -> None:
    scope = Scope(kind, [START])
    verdicts = {name: scope.verdict(url, "link") for name, url in URLS.items()}
    assert {name for name, verdict in verdicts.items() if verdict is None} == IN_SCOPE[kind]
    assert set(verdicts.values()) <= {None, "scope"}


@pytest.mark.parametrize("kind", IN_SCOPE)
def test_requisites_come_from_the_host_at_least(kind: str) -> None:
    scope = Scope(kind, [START])
    assert scope.verdict(URLS["above"], "requisite") is None
    assert (scope.verdict(URLS["sister"], "requisite") is None) is (kind in ("domain", "any"))
    assert (scope.verdict(URLS["other"], "requisite") is None) is (kind == "any")
    assert Scope(kind, [START], requisites_from_anywhere=True).verdict(URLS["other"], "requisite") is None


def test_no_parent() -> None:
    scope = Scope("domain", [START, "https://www.example.org/blog/"], no_parent=True)
    assert scope.verdict(URLS["below"], "link") is None
    assert scope.verdict("https://www.example.org/blog/1", "link") is None
    assert scope.verdict(URLS["above"], "link") == "parent"
    assert scope.verdict(URLS["elsewhere"], "link") == "parent"
    assert scope.verdict(URLS["sister"], "link") is None
    assert scope.verdict(URLS["above"], "requisite") is None


def test_include_and_exclude() -> None:
    scope = Scope("host", [START], include=["/docs/", r"\.html$"], exclude=[r"[?]", "/v10/"])
    assert scope.verdict(URLS["below"], "link") is None
    assert scope.verdict("https://www.example.org/x.html", "link") is None
    assert scope.verdict("https://www.example.org/x", "link") == "not-included"
    assert scope.verdict(URLS["beside"], "link") == "excluded"
    assert scope.verdict(URLS["elsewhere"], "requisite") == "excluded"
    assert scope.verdict("https://www.example.org/x.css", "requisite") is None
    assert Scope("host", [START], include=["no"], exclude=["docs"]).verdict(START, "link") is None


@pytest.mark.parametrize("kind", ["prefix", "host"])
def test_the_host_of_a_redirect_joins(kind: str) -> None:
    scope = Scope(kind, [START])
    assert scope.verdict("https://example.com/docs/v1/x", "link") == "scope"
    scope.join("example.com")
    assert scope.verdict("https://example.com/docs/v1/x", "link") is None
    assert (scope.verdict("https://example.com/x", "link") is None) is (kind == "host")
    assert scope.verdict("https://example.com/x.css", "requisite") is None


def test_the_page_of_a_redirect_joins() -> None:
    scope = Scope("page", [START])
    scope.join("https://example.com/manual/start")
    assert scope.verdict("https://example.com/manual/start", "link") is None
    assert scope.verdict("https://example.com/manual/next", "link") == "scope"
    scope = Scope("prefix", [START])
    scope.join("https://example.com/manual/start")
    assert scope.verdict("https://example.com/manual/next", "link") is None


def test_addresses_and_short_names_are_domains_of_their_own() -> None:
    scope = Scope("domain", ["http://127.0.0.1:8080/", "http://[::1]/", "http://www.test/"])
    assert scope.verdict("http://127.0.0.1:9090/", "link") is None
    assert scope.verdict("http://127.0.0.2:8080/", "link") == "scope"
    assert scope.verdict("http://[::1]:81/", "link") is None
    assert scope.verdict("http://other.test/", "link") == "scope"


def test_a_million_starts_do_not_slow_a_verdict() -> None:
    scope = Scope("prefix", (f"http://h.test/{number}/" for number in range(100_000)))
    began = perf_counter()
    assert scope.verdict("http://h.test/99999/a/b", "link") is None
    assert scope.verdict("http://h.test/x/", "link") == "scope"
    assert perf_counter() - began < 0.01


def test_an_unknown_scope_is_refused() -> None:
    with pytest.raises(UsageProblem, match="'planet'"):
        Scope("planet", [START])


@pytest.mark.parametrize("bad", ["(", "*x", "(?P<a", "[z-a]"])
def test_a_bad_expression_is_named(bad: str) -> None:
    with pytest.raises(UsageProblem) as caught:
        Scope("host", [START], exclude=["fine", bad])
    assert repr(bad) in str(caught.value)


@pytest.mark.parametrize("bad", ["(a+)+$", "(a|aa)+$", "(.*a){30}x"])
def test_an_expression_that_takes_too_long_is_not_found(bad: str) -> None:
    patterns = Patterns([bad, "http://h"])
    text = "http://h.test/" + "a" * 5_000 + "b"
    began = perf_counter()
    assert patterns.found_in(text)
    assert not Patterns([bad]).found_in(text)
    assert perf_counter() - began < 2
    assert len(patterns.problems) == 1
    assert repr(bad) in patterns.problems[0]


def test_a_slow_expression_is_given_up_in_the_end() -> None:
    patterns = Patterns(["(a+)+$"], limit=0.01)
    text = "a" * 5_000 + "b"
    began = perf_counter()
    assert not any(patterns.found_in(text) for _ in range(1_000))
    assert perf_counter() - began < 5
    assert len(patterns.problems) == 2
    scope = Scope("host", [START], exclude=["(a+)+$"])
    assert scope.verdict(f"https://www.example.org/{text}", "link") is None
    assert len(scope.problems) == 1
