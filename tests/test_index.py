"""The SQLite index: shared by many processes, replaced under their feet, and never worse than empty."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from multiprocessing import get_context
from pathlib import Path

import pytest

from tests.index_rows import DOMAIN, batch, columns, store, tag
from webarc.errors import DatabaseProblem, Locked, UsageProblem
from webarc.sql.database import run
from webarc.sql.index import Index
from webarc.sql.state import State

FORK = get_context("fork")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "index.db"


@pytest.fixture
def index(file: Path) -> Iterator[Index]:
    index = Index.at(file)
    yield index
    index.close()


def together(count: int, work: Callable[[int], None]) -> None:
    """Run the work in that many processes at once; all must end well."""
    processes = [FORK.Process(target=work, args=(number,)) for number in range(count)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
    assert [process.exitcode for process in processes] == [0] * count


def test_versions_are_numbered_per_arc_from_one(index: Index) -> None:
    store(index, ["a", "b"], 1)
    store(index, ["a"], 2)
    assert [(row.arc, row.number, row.is_current) for row in index.versions(DOMAIN)] == [
        ("a", 1, 0),
        ("a", 2, 1),
        ("b", 1, 1),
    ]
    assert [row.commit_tag for row in index.history(DOMAIN, "a")] == [tag(1), tag(2)]
    assert index.history(DOMAIN, "a")[0].path == "example.org/a"
    assert index.history(DOMAIN, "a")[0].length == 2**40


def test_only_what_stands_at_the_tip_is_current(index: Index) -> None:
    store(index, ["a", "b", "c"], 1)
    rows = batch("commit-1")
    rows.removed("a", tag(2))
    rows.version("b", tag(2), columns("b", sha256="1" * 64))
    rows.end("commit-2")
    assert index.write(rows)
    found = index.current(DOMAIN, ["a", "b", "c", "d"])
    assert sorted(found) == ["b", "c"]
    assert found["b"].sha256 == "1" * 64 and found["b"].number == 2 and found["b"].commit_tag == tag(2)
    assert index.current_count(DOMAIN) == 2
    assert [row.arc for row in index.current_arcs(DOMAIN)] == ["b", "c"]
    assert [row.removed_tag for row in index.versions(DOMAIN)] == [tag(2), None, None, None]
    assert index.current("other.org", ["b"]) == {} and index.current(DOMAIN, []) == {}


def test_many_arcs_are_found_in_one_call_and_in_pages(index: Index) -> None:
    arcs = [f"page-{number:05}" for number in range(2_500)]
    store(index, arcs, 1)
    assert list(index.current(DOMAIN, arcs)) == arcs
    assert [row.arc for row in index.current_arcs(DOMAIN)] == arcs
    assert [row.arc for row in index.versions(DOMAIN)] == arcs


def test_a_batch_for_a_domain_that_has_moved_on_is_not_written(index: Index) -> None:
    store(index, ["a"], 1)
    late = batch(None)
    late.version("b", tag(1), columns("b"))
    assert not index.write(late)
    assert index.current_count(DOMAIN) == 1


def test_a_batch_written_in_part_and_again_does_no_harm(index: Index) -> None:
    store(index, ["a", "b"], 1)

    def second_crawl() -> Iterator[None]:
        rows.version("a", tag(2), columns("a"))
        rows.opened("d", tag(2), ("http://example.org/a", 200, "", "", ""))
        yield
        rows.removed("b", tag(2))
        rows.end("commit-2")

    rows = batch("commit-1")
    next(second_crawl())
    assert index.write(rows) and index.indexed_commit(DOMAIN) == "commit-1"
    rows = batch("commit-1")
    for _ in second_crawl():
        pass
    assert index.write(rows) and index.indexed_commit(DOMAIN) == "commit-2"
    assert [(row.arc, row.number, row.is_current) for row in index.versions(DOMAIN)] == [
        ("a", 1, 0),
        ("a", 2, 1),
        ("b", 1, 0),
    ]


def test_newer_validators_are_preferred_for_the_same_version_only(index: Index) -> None:
    store(index, ["a", "b"], 1)
    index.remember_validators(DOMAIN, [("a", '"2"', "today"), ("gone", '"9"', "")])
    assert index.current(DOMAIN, ["a"])["a"].etag == '"2"'
    assert index.current(DOMAIN, ["a"])["a"].last_modified == "today"
    index.remember_validators(DOMAIN, iter([("a", "", "")]))
    assert index.current(DOMAIN, ["a"])["a"].etag == ""
    assert index.current(DOMAIN, ["b"])["b"].etag == '"1"'
    index.remember_validators(DOMAIN, [("a", '"2"', "")])
    store(index, ["a"], 2)
    assert index.current(DOMAIN, ["a"])["a"].etag == '"1"'
    assert next(index.versions(DOMAIN)).etag == '"1"'


def test_texts_that_no_database_keeps_are_shown_escaped(index: Index) -> None:
    rows = batch(None)
    rows.version("a", tag(1), columns("a", title="x\x00\ud800\x01é"))
    rows.end("commit-1")
    assert index.write(rows)
    assert next(index.versions(DOMAIN)).title == "x\\x00\\ud800\x01é"


def test_an_unchanged_site_costs_one_row(index: Index, file: Path) -> None:
    rows = batch(None)
    for number in range(10_000):
        rows.opened("d", tag(1), (f"http://example.org/{number:05}", 200, "", "", ""))
    rows.moved_on("d", tag(1), "blob")
    rows.end("commit-1")
    assert index.write(rows)
    with index.transaction() as connection:
        before = connection.connection.driver_connection.total_changes  # type: ignore[union-attr]
    rows = batch("commit-1")
    rows.moved_on("d", tag(2), "blob")
    rows.end("commit-2")
    assert index.write(rows)
    with index.transaction() as connection:
        after = connection.connection.driver_connection.total_changes  # type: ignore[union-attr]
    # The definition, and the domain twice: once to hold it, once to move it on.
    assert after - before == 3
    assert {(row.first_tag, row.last_tag) for row in index.sightings(DOMAIN)} == {(tag(1), tag(2))}
    assert sum(1 for _ in index.sightings(DOMAIN)) == 10_000


def test_outcomes_are_ranges(index: Index) -> None:
    rows = batch(None)
    for day, status in enumerate([200, 500, 200], 1):
        if day > 1:
            rows.closed("d", tag(day), "u", tag(day - 1))
        rows.opened("d", tag(day), ("u", status, "", "", ""))
        rows.moved_on("d", tag(day), f"blob-{day}")
        rows.end(f"commit-{day}")
    rows.moved_on("d", tag(9), "blob-3")
    rows.end("commit-9")
    assert index.write(rows)
    assert [(row.status, row.first_tag, row.last_tag) for row in index.sightings_of(DOMAIN, "u")] == [
        (200, tag(1), tag(1)),
        (500, tag(2), tag(2)),
        (200, tag(3), tag(9)),
    ]


def test_eight_processes_write_and_read_at_once(file: Path) -> None:
    def work(number: int) -> None:
        index = Index.at(file)
        domain = f"h{number}.org"
        for day in range(1, 16):
            store(index, [f"a{part}" for part in range(50)], day, domain)
            index.remember_validators(domain, [("a1", str(day), "")])
            assert index.current(domain, ["a1"])["a1"].number == day
            assert index.current_count(domain) == 50
            index.current_count(f"h{(number + 1) % 8}.org")
            with index.transaction() as connection:
                # Reading first is what makes a deferred transaction fail when it comes to write.
                count = run(connection, "current_count", domain=domain).scalar()
                run(connection, "domain_hold", domain=domain, folder=str(count))
            if day % 5 == 0:
                index.close()
        index.close()

    together(8, work)
    index = Index.at(file)
    assert index.domains() == [f"h{number}.org" for number in range(8)]
    assert [index.version_count(domain) for domain in index.domains()] == [750] * 8


def test_two_processes_never_write_one_commit_twice(file: Path) -> None:
    def work(_number: int) -> None:
        index = Index.at(file)
        while (done := index.indexed_commit(DOMAIN)) != "commit-20":
            day = int((done or "commit-0").split("-")[1]) + 1
            rows = batch(done)
            rows.version("a", tag(day), columns("a"))
            rows.end(f"commit-{day}")
            index.write(rows)

    together(4, work)
    assert [row.number for row in Index.at(file).history(DOMAIN, "a")] == list(range(1, 21))


def test_a_rebuilt_index_is_what_open_readers_see(index: Index, file: Path) -> None:
    reader = Index.at(file)
    store(index, ["old"], 1)
    assert reader.current_count(DOMAIN) == 1
    with index.rebuilt() as fresh:
        store(fresh, ["new-1", "new-2"], 1)
        assert [row.arc for row in reader.current_arcs(DOMAIN)] == ["old"]
    assert sorted(path.name for path in file.parent.iterdir()) == ["index.db", "index.db.locks"]
    assert [row.arc for row in reader.current_arcs(DOMAIN)] == ["new-1", "new-2"]
    store(reader, ["new-3"], 2)
    assert index.current_count(DOMAIN) == 3
    reader.close()


def test_who_still_has_the_old_file_open_does_not_harm_the_new_one(index: Index, file: Path) -> None:
    reader, writer = Index.at(file), Index.at(file)
    store(index, ["old"], 1)
    assert reader.current_count(DOMAIN) == 1
    with index.rebuilt():
        pass
    store(writer, ["new"], 1)
    assert Path(f"{file}-wal").stat().st_size > 0
    reader.close()
    assert Path(f"{file}-wal").stat().st_size > 0
    assert [row.arc for row in Index.at(file).current_arcs(DOMAIN)] == ["new"]
    writer.close()


def test_a_rebuild_that_fails_changes_nothing(index: Index, file: Path) -> None:
    store(index, ["old"], 1)
    with pytest.raises(ZeroDivisionError), index.rebuilt() as fresh:
        store(fresh, ["new"], 1)
        raise ZeroDivisionError
    assert [row.arc for row in index.current_arcs(DOMAIN)] == ["old"]
    assert not [path for path in file.parent.iterdir() if ".new" in path.name]


def test_the_remains_of_a_killed_rebuild_do_not_disturb(index: Index, file: Path) -> None:
    for name in ("index.db.new", "index.db.new-wal", "index.db.new-shm"):
        (file.parent / name).write_bytes(b"half")
    with index.rebuilt() as fresh:
        store(fresh, ["new"], 1)
    assert index.current_count(DOMAIN) == 1


def test_only_one_rebuild_at_a_time(index: Index, file: Path) -> None:
    with index.rebuilt(), pytest.raises(Locked, match="rebuilding"), Index.at(file).rebuilt():
        pass


def test_an_index_is_replaced_while_eight_processes_use_it(file: Path) -> None:
    stop = file.with_name("stop")
    store(Index.at(file), ["a"], 1)

    def work(number: int) -> None:
        index = Index.at(file)
        if number == 0:
            for generation in range(2, 12):
                with index.rebuilt() as fresh:
                    store(fresh, [f"a{part}" for part in range(generation)], 1)
                assert index.current_count(DOMAIN) == generation
            stop.touch()
        while not stop.exists():
            assert index.current_count(DOMAIN) > 0
            index.remember_validators(DOMAIN, [("a", "x", "")])

    started = time.monotonic()
    together(8, work)
    assert time.monotonic() - started < 30
    assert Index.at(file).current_count(DOMAIN) == 11
    check = sqlite3.connect(file)
    assert check.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    check.close()


def test_a_child_does_not_use_its_parents_connection(index: Index) -> None:
    store(index, ["a"], 1)

    def work(number: int) -> None:
        store(index, ["a"], 10, f"h{number}.org")

    together(3, work)
    store(index, ["a"], 2)
    assert index.domains() == [DOMAIN, "h0.org", "h1.org", "h2.org"]


def other_version(file: Path, version: int) -> None:
    database = sqlite3.connect(file)
    with database:
        database.execute("UPDATE schema_version SET version = ?", (version,))
    database.close()


def zero(file: Path) -> None:
    file.write_bytes(b"\0" * file.stat().st_size)


def truncate(file: Path) -> None:
    os.truncate(file, file.stat().st_size // 2)


@pytest.mark.parametrize(
    "harm",
    [
        zero,
        truncate,
        Path.unlink,
        lambda file: file.write_bytes(b""),
        lambda file: other_version(file, 0),
        lambda file: other_version(file, 999),
    ],
    ids=["zeroed", "truncated", "deleted", "emptied", "older", "newer"],
)
def test_an_unusable_index_is_begun_anew(file: Path, harm: Callable[[Path], None]) -> None:
    index = Index.at(file)
    store(index, [f"a{number}" for number in range(3_000)], 1)
    index.close()
    harm(file)
    index = Index.at(file)
    assert index.indexed_commit(DOMAIN) is None
    store(index, ["a"], 1)
    assert index.current_count(DOMAIN) == 1


def foreign_database(file: Path) -> None:
    database = sqlite3.connect(file)
    database.execute("CREATE TABLE precious (x)")
    database.close()


@pytest.mark.parametrize("make", [foreign_database, lambda file: file.write_text("precious")], ids=["database", "text"])
def test_a_file_that_is_not_ours_is_refused_and_set_aside_by_a_rebuild(
    file: Path, make: Callable[[Path], None]
) -> None:
    aside = set()
    for _ in range(2):
        make(file)
        before = file.read_bytes()
        with pytest.raises(DatabaseProblem, match=r"holds something else; run `webarc db-recover`"):
            Index.at(file).domains()
        index = Index.at(file)
        with index.rebuilt() as fresh:
            store(fresh, ["a"], 1)
            assert file.read_bytes() == before
        assert index.current_count(DOMAIN) == 1
        index.close()
        assert index.set_aside is not None and index.set_aside.name.startswith("index.db.replaced-2")
        assert index.set_aside.read_bytes() == before
        aside.add(index.set_aside)
        file.unlink()
    assert len(aside) == 2


def test_a_file_that_is_not_ours_stays_where_it_is_if_the_rebuild_fails(file: Path) -> None:
    file.write_text("precious")
    with pytest.raises(ZeroDivisionError), Index.at(file).rebuilt():
        raise ZeroDivisionError
    assert file.read_text() == "precious"


def test_an_index_of_ours_is_not_set_aside(index: Index, file: Path) -> None:
    store(index, ["a"], 1)
    with index.rebuilt():
        pass
    assert index.set_aside is None
    assert sorted(path.name for path in file.parent.iterdir()) == ["index.db", "index.db.locks"]


def test_the_state_is_never_taken_for_an_index(tmp_path: Path) -> None:
    file = tmp_path / "state.db"
    State.at(file).list()
    before = file.read_bytes()
    with pytest.raises(DatabaseProblem, match="holds something else"):
        Index.at(file).domains()
    with pytest.raises(DatabaseProblem, match="holds something else"), Index.at(file).rebuilt():
        pass
    assert file.read_bytes() == before


def test_an_index_deleted_under_an_open_connection_is_begun_anew(index: Index, file: Path) -> None:
    store(index, ["a", "b"], 1)
    file.unlink()
    assert index.indexed_commit(DOMAIN) is None
    store(index, ["c"], 1)
    other = Index.at(file)
    assert [row.arc for row in other.current_arcs(DOMAIN)] == ["c"]


def test_damage_deep_inside_is_an_error_that_names_the_cure(index: Index, file: Path) -> None:
    store(index, [f"a{number}" for number in range(3_000)], 1)
    index.close()
    with file.open("r+b") as target:
        target.seek(8192)
        target.write(b"\xff" * (file.stat().st_size - 8192))
    with pytest.raises(DatabaseProblem, match="db-recover"):
        list(Index.at(file).versions(DOMAIN))
    with Index.at(file).rebuilt() as fresh:
        store(fresh, ["a"], 1)
    assert Index.at(file).current_count(DOMAIN) == 1


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(DatabaseProblem, match=r"index\.db"):
        Index.at(tmp_path / "file" / "index.db").domains()


@pytest.mark.parametrize("url", ["", "nonsense", "mysql://h/x", "sqlite://", "sqlite:///"])
def test_other_databases_are_refused(url: str) -> None:
    with pytest.raises(UsageProblem):
        Index(url)


def test_a_missing_driver_is_named() -> None:
    with pytest.raises(UsageProblem, match=r"webarc\[postgres\]"):
        Index("postgresql+pg8000://h/x").domains()


@pytest.mark.parametrize("folder", ["plain", "a b", "what?x=1", "50%20", "#1", "é", "a:b@c"])
def test_a_database_url_names_the_file(tmp_path: Path, folder: str) -> None:
    file = tmp_path / folder / "index.db"
    file.parent.mkdir()
    store(Index(f"sqlite:///{file}"), ["a"], 1)
    assert Index.at(file).current_count(DOMAIN) == 1


def test_the_rooms_import_one_way() -> None:
    code = "import sys, webarc.sql.index, webarc.sql.state; print(*[m for m in sys.modules if m.startswith('webarc.')])"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert {name.split(".")[1] for name in loaded} == {"sql", "errors", "heartbeat", "waiting"}


def test_no_sql_in_python() -> None:
    words = ("SELECT ", "INSERT ", "UPDATE ", "DELETE ", "CREATE ", "PRAGMA ", "BEGIN")
    for source in (Path(__file__).parents[1] / "sql").glob("*.py"):
        assert not [word for word in words if word in source.read_text()], source
