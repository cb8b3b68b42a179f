"""The same index on a real PostgreSQL server."""

from __future__ import annotations

from collections.abc import Iterator
from multiprocessing import get_context
from pathlib import Path

import pytest
from sqlalchemy import text

from tests.histories import History, eventful, rows_of
from tests.index_rows import DOMAIN, batch, columns, store, tag
from tests.postgres import server
from webarc import heartbeat, waiting
from webarc.archive.indexing import catch_up
from webarc.archive.recovery import recover
from webarc.archive.store import Archive
from webarc.errors import DatabaseProblem, Locked
from webarc.sql.database import run, run_all
from webarc.sql.index import Index


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with server() as url:
        yield url


@pytest.fixture
def index(url: str) -> Iterator[Index]:
    index = Index(url)
    with index.transaction() as connection:
        run_all(connection, "postgresql_reset")
    index.close()
    yield index
    index.close()


def test_versions_are_written_and_found(index: Index) -> None:
    store(index, ["a", "b", "c"], 1)
    rows = batch("commit-1")
    rows.version("a", tag(2), columns("a", title="x\x00\ud800é", data_blob=None))
    rows.removed("b", tag(2))
    rows.touched("c", tag(1), "e" * 40, tag(1))
    rows.end("commit-2")
    assert index.write(rows)
    found = {(row.arc, row.number): row for row in index.versions(DOMAIN)}
    assert [row.is_current for row in found.values()] == [0, 1, 0, 1]
    assert found["a", 2].title == "x\\x00\\ud800é" and found["a", 2].data_blob == "b" * 40
    assert found["b", 1].removed_tag == tag(2) and found["c", 1].document_blob == "e" * 40
    assert found["a", 1].length == 2**40 and found["a", 1].path == "example.org/a"
    assert sorted(index.current(DOMAIN, ["a", "b", "c"])) == ["a", "c"]
    assert index.current_count(DOMAIN) == 2 and index.version_count(DOMAIN) == 4
    assert (index.newest_change(DOMAIN), index.newest_change("other"), index.has_gaps(DOMAIN)) == (tag(2), None, False)
    rows = batch("commit-2")
    rows.version("a", tag(4), columns("a"), 4)
    rows.end("commit-3")
    assert index.write(rows) and index.newest_change(DOMAIN) == tag(4) and index.has_gaps(DOMAIN)


def test_validators_and_sightings(index: Index) -> None:
    store(index, ["a"], 1)
    index.remember_validators(DOMAIN, [("a", '"2"', "x")])
    index.remember_validators(DOMAIN, [("a", '"3"', "x")])
    assert index.current(DOMAIN, ["a"])["a"].etag == '"3"'
    rows = batch("commit-1")
    rows.opened("d", tag(1), ("u", 200, "", "", ""))
    rows.moved_on("d", tag(1), "x")
    rows.end("commit-2")
    rows.closed("d", tag(2), "u", tag(1))
    rows.opened("d", tag(2), ("u", 0, "timeout", "", ""))
    rows.moved_on("d", tag(2), "y")
    rows.end("commit-3")
    assert index.write(rows)
    assert [(row.status, row.first_tag, row.last_tag) for row in index.sightings(DOMAIN)] == [
        (200, tag(1), tag(1)),
        (0, tag(2), tag(2)),
    ]
    assert index.sightings_of(DOMAIN, "u") == list(index.sightings(DOMAIN))


def test_many_rows_come_in_pages(index: Index) -> None:
    arcs = [f"page-{number:05}" for number in range(2_500)]
    store(index, arcs, 1)
    assert [row.arc for row in index.current_arcs(DOMAIN)] == arcs
    assert list(index.current(DOMAIN, arcs[:700])) == arcs[:700]


def test_a_rebuilt_index_replaces_the_old_one_at_once(index: Index, url: str) -> None:
    reader = Index(url)
    store(index, ["old"], 1)
    with index.rebuilt() as fresh:
        store(fresh, ["new-1", "new-2"], 1)
        assert [row.arc for row in reader.current_arcs(DOMAIN)] == ["old"]
        with pytest.raises(Locked), Index(url).rebuilt():
            pass
    assert [row.arc for row in reader.current_arcs(DOMAIN)] == ["new-1", "new-2"]
    with pytest.raises(ZeroDivisionError), index.rebuilt() as fresh:
        raise ZeroDivisionError
    assert reader.current_count(DOMAIN) == 2
    reader.close()


def test_an_index_of_another_schema_version_is_begun_anew(index: Index, url: str) -> None:
    store(index, ["a"], 1)
    with index.transaction() as connection:
        run(connection, "schema_version_clear")
        run(connection, "schema_version_set", version=999)
    other = Index(url)
    assert other.indexed_commit(DOMAIN) is None
    store(other, ["b"], 1)
    assert index.current_count(DOMAIN) == 1
    other.close()


def test_many_processes_write_at_once(index: Index, url: str) -> None:
    def work(number: int) -> None:
        own = Index(url)
        for day in range(1, 6):
            store(own, [f"a{part}" for part in range(20)], day, f"h{number}.org")
            shared = own.indexed_commit(DOMAIN)
            rows = batch(shared)
            rows.version("a", tag(int((shared or "0").split("-")[-1]) + 1), columns("a"))
            rows.end(f"commit-{int((shared or '0').split('-')[-1]) + 1}")
            own.write(rows)
        own.close()

    index.close()
    fork = get_context("fork")
    processes = [fork.Process(target=work, args=(number,)) for number in range(6)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
    assert [process.exitcode for process in processes] == [0] * 6
    assert [index.version_count(f"h{number}.org") for number in range(6)] == [100] * 6
    numbers = [row.number for row in index.history(DOMAIN, "a")]
    assert numbers == list(range(1, len(numbers) + 1)) and len(numbers) >= 5


def test_rows_are_those_of_sqlite_and_of_a_recovery(index: Index, tmp_path: Path) -> None:
    archive = Archive.create(tmp_path / "archive")
    site = History(archive)
    local = Index.at(archive.index_file)
    for _ in eventful(site):
        catch_up(site.repo, local)
        catch_up(site.repo, index)
    assert rows_of(index, DOMAIN) == rows_of(local, DOMAIN)
    assert recover(archive, index).versions == local.version_count(DOMAIN)
    assert rows_of(index, DOMAIN) == rows_of(local, DOMAIN)


def test_a_server_that_is_not_there_is_named_without_the_password() -> None:
    with pytest.raises(DatabaseProblem) as caught:
        Index("postgresql+psycopg://webarc:secret@127.0.0.1:1/x").domains()
    assert "127.0.0.1" in str(caught.value) and "secret" not in str(caught.value)
    # A new index would be no help.
    assert "see whether the server runs" in str(caught.value) and "db-recover" not in str(caught.value)


def test_a_schema_that_somebody_keeps_locked_is_waited_for_with_signs_of_life(
    index: Index, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store(index, ["a"], 1)
    said: list[str] = []
    monkeypatch.setattr(waiting, "_manner", waiting.Manner(1.2, say=said.append))
    monkeypatch.setattr(heartbeat, "_mine", None)
    beats = heartbeat.Heartbeats()
    beats.use(0)
    other = Index(url)
    with other.transaction() as connection:
        connection.execute(text("SELECT pg_advisory_xact_lock(1001925120)"))
        for refused in (index, Index(url)):
            before = beats.counts()[0]
            with pytest.raises(Locked, match="using or rebuilding the index"):
                refused.forget(DOMAIN)
            assert beats.counts()[0] - before >= 2 and said.pop()
    other.close()
    index.forget(DOMAIN)
    assert index.version_count(DOMAIN) == 0
