"""How gently a host is treated."""

from __future__ import annotations

import math

from webarc.crawler.manners import LONGEST_CRAWL_DELAY, Manners


def test_connections_are_counted_per_host() -> None:
    manners = Manners(connections=2)
    assert manners.may_start("a", 0.0) == 0
    manners.started("a", 0.0)
    assert manners.may_start("a", 0.0) == 0
    manners.started("a", 0.0)
    assert manners.may_start("a", 0.0) == math.inf
    assert manners.may_start("b", 0.0) == 0
    manners.finished("a")
    assert manners.may_start("a", 0.0) == 0


def test_a_wait_lies_between_two_starts() -> None:
    manners = Manners(wait=2.0)
    manners.started("a", 100.0)
    assert manners.may_start("a", 100.5) == 1.5
    assert manners.may_start("a", 102.0) == 0
    assert manners.may_start("b", 100.5) == 0


def test_a_random_wait_is_between_half_and_one_and_a_half() -> None:
    waits = set()
    for _ in range(100):
        manners = Manners(wait=2.0, random_wait=True)
        manners.started("a", 0.0)
        waits.add(manners.may_start("a", 0.0))
    assert min(waits) >= 1.0 and max(waits) <= 3.0 and len(waits) > 50


def test_a_crawl_delay_means_one_at_a_time_and_is_bounded() -> None:
    manners = Manners(connections=8)
    manners.crawl_delay("a", 3.0)
    manners.started("a", 10.0)
    assert manners.may_start("a", 20.0) == math.inf
    manners.finished("a")
    assert manners.may_start("a", 11.0) == 2.0
    manners.crawl_delay("b", 86400.0)
    manners.started("b", 0.0)
    manners.finished("b")
    assert manners.may_start("b", 0.0) == LONGEST_CRAWL_DELAY
    assert manners.may_start("c", 0.0) == 0


def test_the_longer_of_wait_and_crawl_delay_counts() -> None:
    manners = Manners(wait=5.0)
    manners.crawl_delay("a", 1.0)
    manners.started("a", 0.0)
    manners.finished("a")
    assert manners.may_start("a", 0.0) == 5.0


def test_a_pause_holds_until_its_end_and_is_never_shortened() -> None:
    manners = Manners()
    manners.pause("a", 50.0)
    manners.pause("a", 20.0)
    assert manners.may_start("a", 10.0) == 40.0
    assert manners.may_start("a", 50.0) == 0


def test_finishing_what_was_never_started_is_harmless() -> None:
    manners = Manners(connections=1)
    manners.finished("a")
    manners.started("a")
    assert manners.may_start("a", 0.0) == math.inf
