"""The queue of a crawl: every key once, nearest first, small in memory."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.crawls import environment
from webarc.crawler.frontier import Frontier


@pytest.fixture
def frontier(tmp_path: Path) -> Frontier:
    """An empty frontier."""
    return Frontier(tmp_path / "frontier.db")


def test_a_key_is_asked_for_once_whatever_its_scheme(frontier: Frontier) -> None:
    assert frontier.add("http://h/a", 0, "start")
    assert not frontier.add("https://h/a", 1, "link")
    assert [item.url for item in frontier.take(10, None)] == ["http://h/a"]
    assert frontier.take(10, None) == []


def test_nearer_urls_come_first_and_deeper_ones_wait(frontier: Frontier) -> None:
    for url, depth in (("http://h/2", 2), ("http://h/1", 1), ("http://h/0", 0), ("http://h/1b", 1)):
        frontier.add(url, depth, "link")
    assert [item.url for item in frontier.take(10, 1)] == ["http://h/0", "http://h/1", "http://h/1b"]
    assert (frontier.lowest(), frontier.waiting) == (2, 1)


def test_what_was_skipped_in_one_role_can_be_asked_for_in_another(frontier: Frontier) -> None:
    frontier.skip("http://h/i.png", "depth")
    assert frontier.add("http://h/i.png", 0, "requisite")
    frontier.skip("http://h/x", "scope")
    frontier.skip("http://h/x", "depth")
    assert list(frontier.skips()) == [("http://h/x", "scope")]


def test_rows_are_sorted_and_say_what_happened(frontier: Frontier) -> None:
    for name in "cab":
        frontier.add(f"http://h/{name}", 0, "link")
    for item in frontier.take(3, None):
        frontier.finish(item, "stored", 200, size=3)
    frontier.refuse([("filter:mime", 1)])
    assert [(row.url, row.outcome, row.error) for row in frontier.rows()] == [
        ("http://h/a", "stored", ""),
        ("http://h/b", "stored", ""),
        ("http://h/c", "filtered", "filter:mime"),
    ]


def test_moved_needs_a_target_that_answered(frontier: Frontier) -> None:
    for name in ("a", "b", "c"):
        frontier.add(f"http://h/{name}", 0, "link")
    a, b, c = frontier.take(3, None)
    frontier.finish(a, "redirect", 301, target="http://h/c")
    frontier.finish(b, "redirect", 308, target="http://h/elsewhere")
    frontier.finish(c, "unchanged", 200)
    assert list(frontier.moved()) == [("http://h/a", "http://h/c")]


def test_two_hundred_thousand_urls_take_less_than_200_bytes_each(tmp_path: Path) -> None:
    script = """
import resource, sys
from pathlib import Path
from webarc.crawler.frontier import Frontier
frontier = Frontier(Path(sys.argv[1]))
for number in range(5000):
    frontier.add(f"http://example.org/warm/{number}.html", 1, "link")
frontier.take(256, None)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for number in range(200_000):
    frontier.add(f"http://example.org/some/folder/page-{number}.html", 1, "link")
frontier.flush()
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 / 200_000)
"""
    command = [sys.executable, "-c", script, str(tmp_path / "f.db")]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment())
    assert float(done.stdout) < 200


def test_a_crawl_that_met_a_trap_before_it_was_interrupted_still_counts_as_limited(tmp_path: Path) -> None:
    for reason in ("depth", "trap"):
        first = Frontier(tmp_path / f"{reason}.db")
        first.skip("http://h/?a=1", reason)
        first.flush()
        first.close()
        again = Frontier(tmp_path / f"{reason}.db")
        again.restore(committed=False)
        assert again.trapped == (reason == "trap")
        again.close()
