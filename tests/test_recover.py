"""The index is disposable: after any history of crawls a rebuilt one has the same rows."""

from __future__ import annotations

import sqlite3
import subprocess
from pathlib import Path

from sqlalchemy import create_engine, text

from tests import postgres
from tests.crawls import Webarc
from tests.servers import Page, Site

# `validator` is a cache by name: newer ETags of unchanged bytes, which only save a download.
TABLES = ("domain", "version", "crawl", "sighting", "definition")


def rows_of(file: Path) -> dict[str, list[tuple[object, ...]]]:
    """Every row of every table that tells what the archive holds."""
    index = sqlite3.connect(file)
    return {table: sorted(index.execute(f"SELECT * FROM {table}").fetchall(), key=repr) for table in TABLES}


def change(site: Site, step: int) -> None:
    """What happens to the site before a crawl: pages change, come, go, come back, break and turn into another type."""
    site.pages[f"/p{step}"] = f"<title>changed in {step}</title>"
    site.pages[f"/p{(step + 3) % 12}"] = (404, {}, "gone")
    site.pages[f"/p{(step + 6) % 12}"] = f"<title>back in {step}</title>"
    site.pages["/weak"] = (500, {}, "broken") if step % 3 == 0 else f"<title>well in {step}</title>"
    site.pages[f"/new{step}"] = f"<title>new in {step}</title>"
    site.pages["/thing"] = Page("x", type=("text/plain", "application/json")[step % 2])
    hub = (
        [f"/p{number}" for number in range(12)]
        + [f"/new{number}" for number in range(step + 1)]
        + ["/thing", "/weak", "/nowhere"]
    )
    site.pages["/"] = "".join(f"<a href={path}>x</a>" for path in hub if path != f"/new{step - 2}")


def test_the_same_rows_after_ten_crawls_with_changes_and_deletions(webarc: Webarc) -> None:
    with Site({f"/p{number}": f"<title>{number}</title>" for number in range(12)}, etags=True) as site:
        for step in range(10):
            change(site, step)
            more = ("--depth", "1") if step == 4 else ("--prune", "unreached") if step == 7 else ()
            ran = webarc.run("crawl", "--json", "--tries", "1", *more, site.url())
            assert ran.code in (0, 8, 13), (ran.out, ran.err)
    file = webarc.archive / ".webarc" / "index.db"
    before = rows_of(file)
    assert len(before["crawl"]) == 10 and len(before["version"]) > 30
    assert any(row for row in before["sighting"] if "unlinked" in row)
    file.unlink()
    ran = webarc.run("db-recover")
    assert ran.code == 0, ran.err
    assert rows_of(file) == before


def test_a_zeroed_index_is_noticed_and_the_next_crawl_goes_on(webarc: Webarc) -> None:
    with Site({"/": "<title>1</title>"}, etags=True) as site:
        webarc.crawl(site.url())
        file = webarc.archive / ".webarc" / "index.db"
        before = rows_of(file)
        file.write_bytes(bytes(file.stat().st_size))
        counts = webarc.crawl(site.url())["counts"]
        assert (counts["new"], counts["unchanged"]) == (0, 1)
        assert rows_of(file)["version"] == before["version"]


def test_one_damaged_object_costs_one_version_and_no_crawl(webarc: Webarc) -> None:
    with Site({"/": "<a href=/p>x</a>", "/p": "p1"}) as site:
        webarc.crawl(site.url())
        for body in ("p2", "p3"):
            site.pages["/p"] = body
            webarc.crawl(site.url())
        folder = next(path.parent for path in webarc.archive.glob("*/.git"))
        first = git(folder, "rev-list", "--max-parents=0", "main")
        harm(folder, git(folder, "rev-parse", f"{first}:p/data.xml"))
        ran = webarc.run("db-recover")
        assert ran.code == 11, ran.err
        tag = git(folder, "log", "--format=%s", "-1", first)
        assert f"{folder.name}/p/data.xml of {tag} was left out" in ran.err
        file = webarc.archive / ".webarc" / "index.db"
        assert len(rows_of(file)["version"]) == 3 and len(rows_of(file)["crawl"]) == 3
        site.pages["/p"] = "p4"
        assert webarc.crawl(site.url())["counts"]["changed"] == 1
        file.unlink()
        assert webarc.crawl(site.url())["counts"]["unchanged"] == 2
        assert len(rows_of(file)["version"]) == 4


def git(folder: Path, *words: str) -> str:
    return subprocess.run(["git", "-C", folder, *words], check=True, capture_output=True, text=True).stdout.strip()


def harm(folder: Path, blob: str) -> None:
    """Make all objects files of their own, and flip one bit of one of them."""
    for pack in folder.glob(".git/objects/pack/*.pack"):
        with pack.rename(folder.parent / pack.name).open("rb") as source:
            pack.with_suffix(".idx").unlink()
            subprocess.run(["git", "-C", folder, "unpack-objects", "-q"], stdin=source, check=True)
    file = folder / ".git" / "objects" / blob[:2] / blob[2:]
    file.chmod(0o644)
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)


def test_a_file_that_is_no_index_is_set_aside(webarc: Webarc) -> None:
    with Site({"/": "<title>1</title>"}) as site:
        webarc.crawl(site.url())
        file = webarc.archive / ".webarc" / "index.db"
        before = rows_of(file)
        file.write_text("garbage\n")
        ran = webarc.run("crawl", site.url())
        assert ran.code == 3 and "webarc db-recover" in ran.out + ran.err
        ran = webarc.run("db-recover")
        aside = min(file.parent.glob("index.db.replaced-*"))
        assert ran.code == 0 and str(aside) in ran.err
        assert aside.read_text() == "garbage\n" and rows_of(file) == before
        file.write_text("garbage\n")
        ran = webarc.run("db-recover", "--json")
        assert Path(ran.objects()[0]["setAside"]).read_text() == "garbage\n"
        assert webarc.crawl(site.url())["counts"]["unchanged"] == 1


def test_recover_before_a_crawl(webarc: Webarc) -> None:
    with Site({"/": "<title>1</title>"}) as site:
        webarc.crawl(site.url())
        (webarc.archive / ".webarc" / "index.db").unlink()
        ran = webarc.run("crawl", "--recover-db", "--json", site.url())
        assert ran.code == 0, ran.err
        assert ran.objects()[-1]["counts"]["unchanged"] == 1


def test_a_crawl_and_a_recovery_with_postgresql(webarc: Webarc) -> None:
    with postgres.server() as database, Site({"/": "<a href=/a>a</a>", "/a": "<title>A</title>"}) as site:
        for title in ("A2", "A3"):
            ran = webarc.run("--database", database, "crawl", "--json", site.url())
            assert ran.code == 0, ran.err
            site.pages["/a"] = f"<title>{title}</title>"
        assert not (webarc.archive / ".webarc" / "index.db").exists()
        assert "secret" not in ran.out + ran.err
        engine = create_engine(database)
        with engine.connect() as connection:
            columns = connection.execute(text("SELECT * FROM webarc.version")).keys()
            query = text("SELECT number, title FROM webarc.version ORDER BY number, title")
            before = connection.execute(query).fetchall()
        assert "url" in columns and len(before) == 3
        assert webarc.run("--database", database, "db-recover").code == 0
        with engine.connect() as connection:
            assert connection.execute(query).fetchall() == before
        engine.dispose()
