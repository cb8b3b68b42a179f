"""The index is disposable: after any history of crawls a rebuilt one has the same rows."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from tests import postgres
from tests.crawls import Webarc
from tests.histories import History
from tests.servers import Page, Site
from webarc.archive.crew import Crew, Line
from webarc.archive.recovery import catch_up_all
from webarc.archive.store import Archive
from webarc.errors import Locked, WebarcError
from webarc.sql.index import Index

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


# The tree that is damaged, what is named, and the versions (page and number of the crawl) that are lost with it.
TREES = {
    "main~2:img/a": ("img/a/ of", {("img/a", 1)}),
    "main~1:img/a": ("img/a/ of", {("img/a", 2)}),
    "main:img/a": ("img/a/ of", {("img/a", 3)}),
    "main~2:img": ("img/ of", {("img/a", 1)}),
    "main~2^{tree}": ("example.org/ of", {("img/a", 1), ("z", 1)}),
    "main~1^{tree}": ("example.org/ of", {("img/a", 2)}),
}


@pytest.mark.parametrize("tree", TREES)
def test_a_damaged_folder_costs_only_the_versions_in_it(webarc: Webarc, tree: str) -> None:
    site = History(Archive.create(webarc.archive))
    tags = [
        site.crawl({"img/a": "1", "b": "1", "z": "1", "img/z": "1"}),
        site.crawl({"img/a": "2", "z": "2"}),
        site.crawl({"img/a": "3", "b": "3"}),
    ]
    webarc.run("list")
    file = webarc.archive / ".webarc" / "index.db"
    before = versions(file)
    assert len(before) == 8
    harm(site.repo.folder, git(site.repo.folder, "rev-parse", tree))
    ran = webarc.run("db-recover")
    assert ran.code == 11
    named, lost = TREES[tree]
    assert named in ran.err and "mend the cause" not in ran.err, ran.err
    assert before - versions(file) == {(arc, tags[number - 1]) for arc, number in lost}


def versions(file: Path) -> set[tuple[str, str]]:
    """ARC and commitTag of all versions in an index."""
    with sqlite3.connect(file) as index:
        found = index.execute("SELECT arc, commit_tag FROM version").fetchall()
    index.close()
    assert len(found) == len(set(found))
    return set(found)


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
        assert webarc.run("--database", database, "verify").out.startswith("Sound: 3 versions")
        with engine.begin() as connection:
            connection.execute(text("UPDATE webarc.version SET title = 'x' WHERE number = 2"))
        ran = webarc.run("--database", database, "verify", "--repair")
        assert ran.code == 10 and "title 'x' where git has 'A2'" in ran.out, ran.out
        assert webarc.run("--database", database, "db-recover", "--verify").code == 0
        engine.dispose()


@pytest.fixture
def domains(webarc: Webarc) -> list[str]:
    """Seven domains of different sizes, in the index as commands write it one by one."""
    archive = Archive.create(webarc.archive)
    names = [f"d{number}.example" for number in range(7)]
    for number, name in enumerate(names):
        site = History(archive, name)
        for step in range(number + 1):
            site.crawl({f"p{page}": f"{step} {page}" for page in range(3)}, urls=[site.outcome(f"p{step}")])
    index = Index.at(archive.index_file)
    catch_up_all(archive, index)
    index.close()
    return names


def test_many_domains_are_read_at_once_into_the_same_rows(webarc: Webarc, domains: list[str]) -> None:
    file = webarc.archive / ".webarc" / "index.db"
    before = rows_of(file)
    assert len(before["version"]) == 3 * (1 + 2 + 3 + 4 + 5 + 6 + 7)
    file.write_bytes(b"")
    ran = webarc.run("db-recover", "--json")
    assert (ran.code, ran.result()["domains"], ran.result()["versions"]) == (0, 7, 84), ran.err
    assert rows_of(file) == before
    # A repository that cannot be read at all costs its own rows only.
    (webarc.archive / domains[3] / ".git" / "config").write_text("[nonsense")
    ran = webarc.run("db-recover")
    assert ran.code == 11 and f"the repository of {domains[3]} was left out" in ran.err
    assert {row[0] for row in rows_of(file)["version"]} == set(domains) - {domains[3]}


def test_some_domains_are_renewed_in_place(webarc: Webarc, domains: list[str]) -> None:
    file = webarc.archive / ".webarc" / "index.db"
    before = rows_of(file)
    with sqlite3.connect(file) as index:
        index.execute("UPDATE version SET title = 'wrong'")
    index.close()
    ran = webarc.run("db-recover", domains[1], f"https://{domains[2]}/p1")
    assert ran.code == 0 and "15 versions of 2 domains" in ran.out
    right = {row[0] for row in rows_of(file)["version"] if row in before["version"]}
    assert right == {domains[1], domains[2]}
    ran = webarc.run("db-recover", "--verify", domains[1], domains[2])
    assert ran.code == 0 and ran.out.startswith("Sound: 15 versions of 2 domains"), ran.out
    ran = webarc.run("db-recover", "--verify")
    assert ran.code == 11 and ran.out.count("title 'wrong' where git has None") == 69
    ran = webarc.run("db-recover", "d9.example")
    assert ran.code == 2 and "did you mean d" in ran.err


def test_git_that_cannot_be_read_is_no_difference_but_is_told(webarc: Webarc, domains: list[str]) -> None:
    folder = webarc.archive / domains[0]
    harm(folder, git(folder, "rev-parse", "main:p1/data.xml"))
    ran = webarc.run("db-recover", "--verify", domains[0])
    assert ran.code == 11 and "cannot be compared with git" in ran.out and "p1/data.xml" in ran.out


def work(task: str, line: Line) -> None:
    """What the processes of a crew do in the test below."""
    if task == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    if task == "fail":
        raise Locked("somebody has it.")
    if task == "stumble":
        raise ZeroDivisionError
    line.tell(task)
    assert line.ask(len(task)) == 2 * len(task)


def test_a_process_that_dies_costs_its_own_task_only() -> None:
    heard: list[object] = []
    ended: dict[str, WebarcError | None] = {}

    def hear(_task: str, message: object) -> object:
        heard.append(message)
        return 2 * message if isinstance(message, int) else None

    def end(task: str, error: WebarcError | None) -> list[str]:
        ended[task] = error
        return ["more"] if task == "first" else []

    with Crew(work, 2) as crew:
        crew.run(["die", "first", "fail", "stumble", "last"], hear, end)
    assert {"first", "more", "last", 5, 4} <= set(heard)
    assert ended["first"] is ended["more"] is ended["last"] is None
    assert isinstance(ended["fail"], Locked) and "was killed" in str(ended["die"])
    assert "ZeroDivisionError" in str(ended["stumble"])
