"""What pages named is remembered, so that an unchanged page need not be read again; the memory may vanish."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from tests.crawls import Webarc
from tests.servers import Site
from webarc.crawler.reading import Reading
from webarc.crawler.recollection import Recollection

READING = Reading(None, "", ["http://h/a", "http://h/b"], ["http://h/s.css"], ["http://h/n"])
PAGES = {"/": "<a href=/a>a</a>", "/a": "<a href=/b>b</a>", "/b": "<title>b</title>"}


def test_a_reading_comes_back_until_a_whole_crawl_did_not_need_it(tmp_path: Path) -> None:
    for crawl, expected in (("1", None), ("2", READING), ("3", READING)):
        memory = Recollection(tmp_path / "c" / "links.db", crawl)
        key = memory.key("http://h/", "0" * 64, "text/html;utf-8", "webarc True")
        assert memory.get(key) == expected
        memory.put(key, READING)
        memory.close(sweep=True)
    unused = Recollection(tmp_path / "c" / "links.db", "4")
    unused.close(sweep=True)
    assert Recollection(tmp_path / "c" / "links.db", "5").get(key) is None


def test_a_damaged_memory_is_thrown_away(tmp_path: Path) -> None:
    file = tmp_path / "links.db"
    file.write_bytes(b"this is no database" * 1000)
    memory = Recollection(file, "1")
    key = memory.key("http://h/", "0" * 64, "text/html;utf-8", "")
    memory.put(key, READING)
    memory.close(sweep=False)
    assert Recollection(file, "2").get(key) is None


def test_crawls_find_the_same_with_and_without_it(webarc: Webarc) -> None:
    with Site(PAGES, etags=True) as site:
        webarc.crawl(site.url())
        for step in range(3):
            for file in (webarc.archive / ".webarc" / "cache").iterdir():
                if step == 1:
                    file.write_bytes(b"damaged")
                elif step == 2:
                    file.unlink()
            counts = webarc.crawl(site.url())["counts"]
            assert (counts["unchanged"], counts["new"], counts["gone"]) == (3, 0, 0)


def test_a_memory_that_somebody_else_has_locked_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "links.db"
    memory = Recollection(file, "1")
    key = memory.key("http://h/", "0" * 64, "text/html;utf-8", "")
    memory.put(key, READING)
    memory.close(sweep=True)
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        # Nobody else may write, and then, as where there is no memory to share, not even read.
        for mode in ("WAL", "DELETE"):
            other.execute(f"PRAGMA journal_mode = {mode}")
            other.execute("BEGIN EXCLUSIVE")
            locked = Recollection(file, "2")
            locked.put(locked.key("http://h/2", "0" * 64, "text/html;utf-8", ""), READING)
            locked.close(sweep=True)
            other.execute("ROLLBACK")
    assert Recollection(file, "3").get(key) == READING


def test_a_file_with_other_tables_is_thrown_away(tmp_path: Path) -> None:
    file = tmp_path / "links.db"
    with closing(sqlite3.connect(file)) as other:
        other.execute("CREATE TABLE links (other)")
    memory = Recollection(file, "1")
    assert memory.get(memory.key("http://h/", "0" * 64, "text/html;utf-8", "")) is None
    memory.close(sweep=True)
    Recollection(file, "2").close(sweep=True)
    again = Recollection(file, "3")
    key = again.key("http://h/", "0" * 64, "text/html;utf-8", "")
    again.put(key, READING)
    again.close(sweep=False)
    assert Recollection(file, "4").get(key) == READING
