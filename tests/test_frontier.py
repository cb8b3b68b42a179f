"""The queue of a crawl: every key once, nearest first, small in memory."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from tests.crawls import environment
from webarc.crawler.frontier import Frontier
from webarc.sql.statements import statement


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


def test_a_url_that_gave_no_page_is_asked_anew_when_its_cookies_changed(frontier: Frontier) -> None:
    for name in "ab":
        frontier.add(f"http://h/{name}", 1, "link")
    a, b = frontier.take(10, None)
    a.cookies = 3
    frontier.finish(a, "redirect", 302, target="http://h/b")
    frontier.finish(b, "stored", 200)
    assert not frontier.ask_anew("http://h/a", b, 3), "the same cookies"
    assert not frontier.ask_anew("http://h/b", a, 4), "it gave a page"
    assert frontier.ask_anew("http://h/a", b, 4)
    assert not frontier.ask_anew("http://h/a", b, 5), "it waits already"
    (again,) = frontier.take(10, None)
    assert (again.id, again.url, again.redirects) == (a.id, "http://h/a", 1)


def test_after_an_interruption_cookies_are_gone_and_start_urls_are_asked_again(tmp_path: Path) -> None:
    frontier = Frontier(tmp_path / "frontier.db")
    frontier.add("http://h/s", 0, "start")
    frontier.add("http://h/a", 1, "link")
    start, a = frontier.take(10, None)
    for item in (start, a):
        frontier.finish(item, "redirect", 302, target="http://h/b")
    frontier.put_aside("http://h/c", 1, "link")
    assert not frontier.ask_anew("http://h/a", start, 0)
    frontier.flush()
    frontier.close()
    frontier = Frontier(tmp_path / "frontier.db")
    frontier.restore(committed=False)
    assert frontier.holds_aside and list(frontier.unfinished()) == ["http://h/s", "http://h/c"]
    assert (frontier.starts, frontier.waiting) == (1, 1), "so that the host that it leads to joins"
    assert frontier.ask_anew("http://h/a", frontier.take(1, None)[0], 0)


def test_the_list_of_an_older_version_can_be_gone_on_with(tmp_path: Path) -> None:
    file = tmp_path / "frontier.db"
    with sqlite3.connect(file) as old:
        old.executescript(statement("frontier_create").partition("CREATE TABLE IF NOT EXISTS aside")[0])
        old.execute("INSERT INTO asked (url, depth, kind, redirects, plain) VALUES ('http://h/a', 0, 'start', 0, 0)")
        old.execute("INSERT INTO skipped (url, reason) VALUES ('http://h/b', 'scope')")
    frontier = Frontier(file)
    frontier.restore(committed=False)
    assert [item.url for item in frontier.take(10, None)] == ["http://h/a"]
    assert list(frontier.skips()) == [("http://h/b", "scope")]


def test_circles_and_what_leads_into_them(frontier: Frontier) -> None:
    ways = {"a": "b", "b": "c", "c": "b", "d": "e", "e": "x", "self": "self"}
    for name in (*ways, "x"):
        frontier.add(f"http://h/{name}", 0, "link")
    for item in frontier.take(10, None):
        target = ways.get(item.url.rpartition("/")[2])
        if target:
            frontier.finish(item, "redirect", 301, target=f"https://h/{target}")
        else:
            frontier.finish(item, "missing", 404)
    frontier.mark_loops()
    failed = {row.url.rpartition("/")[2] for row in frontier.rows() if row.error == "redirect-loop"}
    assert failed == {"a", "b", "c", "self"}


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
