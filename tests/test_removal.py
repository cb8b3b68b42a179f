"""How many removals are usual, and what happens to the unusual."""

from __future__ import annotations

from webarc.crawler.removal import Removals, decide

URLS = [f"http://h/{number:03}" for number in range(100)]


def test_up_to_ten_are_usual_in_a_small_domain() -> None:
    assert decide(URLS[:10], (), 12, allow=False) == Removals(tuple(URLS[:10]), ())
    assert decide(URLS[:11], (), 12, allow=False) == Removals((), tuple(URLS[:11]))


def test_a_fifth_is_usual_in_a_large_domain() -> None:
    assert decide(URLS[:20], (), 100, allow=False).now == tuple(URLS[:20])
    assert decide(URLS[:21], (), 100, allow=False).held == tuple(URLS[:21])


def test_what_was_held_and_is_found_again_goes_and_only_that() -> None:
    decided = decide(URLS[:60], URLS[:30], 100, allow=False)
    assert decided == Removals(tuple(URLS[:30]), tuple(URLS[30:60]))


def test_allowed_removals_all_go() -> None:
    assert decide(URLS, (), 100, allow=True) == Removals(tuple(URLS), ())
