"""References made absolute: as `canonical` says, whatever was asked before."""

from __future__ import annotations

from hypothesis import example, given, settings
from hypothesis import strategies as st

from webarc.archive.urls import canonical
from webarc.crawler.joins import Joiner, memory
from webarc.errors import BadURL

PIECES = st.sampled_from(
    [
        *"ab.-_~:?#%@ \t\n\\",
        "/",
        "//",
        "../",
        "./",
        "..",
        "%2e",
        "http:",
        "https:",
        "HTTP:",
        "http://h.test",
        "\u00e9",
        "x.html",
        "?q=/",
    ]
)
BASES = [
    "http://h.test/",
    "http://h.test/a/b/c.html?q=/d/e",
    "https://h.test:8080//a//",
    "http://[::1]/x",
    "http://h.test/a/?",
]


@settings(max_examples=500, deadline=None)
@given(st.sampled_from(BASES), st.lists(PIECES, max_size=8).map("".join))
@example("http://h.test/a/b/c.html?q=/d/e", "http:?x")
@example("http://h.test/a/b/c.html?q=/d/e", "../../../../x")
@example("http://h.test/a/b/c.html?q=/d/e", "../..")
@example("https://h.test:8080//a//", "../x")
def test_joining_is_what_canonical_says(base: str, reference: str) -> None:
    elsewhere = reference.strip("".join(map(chr, range(33)))).partition("#")[0]
    try:
        expected = canonical(reference, base) if elsewhere else None
    except BadURL:
        expected = None
    sibling = base.partition("?")[0] + "other"
    for page in (sibling, base, base):
        joined = Joiner(page).url(reference)
    assert joined == expected


def test_what_is_remembered_is_bounded() -> None:
    for number in range(100_000):
        assert Joiner(f"http://h.test/{number % 7}/").url(f"page{number}") == f"http://h.test/{number % 7}/page{number}"
        if number % 5_000 == 0:
            assert len(memory) <= 80_100
    for number in range(100_000):
        Joiner(f"http://h.test/{number}/")
    assert len(memory) <= 80_100
