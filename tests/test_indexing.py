"""From git to the index: read commit by commit or all at once, the rows are the same, and damage is named."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from multiprocessing import get_context
from pathlib import Path

import pytest

from tests.histories import History, Page, eventful, rows_of
from webarc.archive.indexing import catch_up
from webarc.archive.recovery import catch_up_all, recover
from webarc.archive.store import Archive
from webarc.sql.index import Index
from webarc.sql.rows import VersionRow

HOST = "example.org"


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    return Archive.create(tmp_path / "archive")


@pytest.fixture
def index(archive: Archive) -> Iterator[Index]:
    index = Index.at(archive.index_file)
    yield index
    index.close()


@pytest.fixture
def site(archive: Archive) -> History:
    return History(archive)


def test_commit_by_commit_or_all_at_once_the_rows_are_the_same(archive: Archive, index: Index, site: History) -> None:
    other = History(archive, "other.org")
    for _ in eventful(site):
        catch_up(site.repo, index)
        other.crawl({"x": str(other.hours)})
        if other.hours % 3 == 0:
            catch_up(other.repo, index)
    catch_up(other.repo, index)
    step_by_step = rows_of(index, HOST, "other.org")
    at_once = Index.at(archive.internal / "second.db")
    assert catch_up_all(archive, at_once) == index.version_count(HOST) + index.version_count("other.org")
    assert rows_of(at_once, HOST, "other.org") == step_by_step
    index.close()
    archive.index_file.unlink()
    summary = recover(archive, index)
    assert rows_of(index, HOST, "other.org") == step_by_step
    assert (summary.domains, summary.exit_code, summary.problems) == (2, 0, ())
    assert summary.versions == index.version_count(HOST) + index.version_count("other.org")


def test_what_an_eventful_history_leaves(index: Index, site: History) -> None:
    tags = list(eventful(site))
    catch_up(site.repo, index)

    def story(arc: str) -> list[tuple[int, str, str | None]]:
        return [(row.number, row.commit_tag, row.removed_tag) for row in index.history(HOST, arc)]

    assert story("a") == [
        (1, tags[0], None),
        (2, tags[2], None),
        (3, tags[6], None),
        (4, tags[7], tags[8]),
        (5, tags[9], "back to the first"),
        (6, tags[12], None),
    ]
    assert story("a/b") == [(1, tags[0], tags[2]), (2, tags[7], None)]
    assert story("c%_3Fx=1") == [(1, tags[0], None), (2, tags[3], "back to the first")]
    assert story("guest") == [(1, tags[3], tags[8])]
    assert [row.arc for row in index.current_arcs(HOST)] == ["%_", "a", "a/b"]
    assert [(row.commit_tag, row.definition) for row in index.crawls(HOST)][:3] == [
        (tags[0], "d1"),
        (tags[1], "d1"),
        (tags[2], "d1"),
    ]
    assert index.crawls(HOST)[0].counts == {"fetched": 1} and index.crawls(HOST)[0].complete is True


def test_outcomes_become_ranges_of_crawls(index: Index, site: History) -> None:
    tags = list(eventful(site))
    catch_up(site.repo, index)

    def ranges(path: str, definition: str = "d1") -> list[tuple[int, str, str]]:
        rows = [row for row in index.sightings_of(HOST, site.url(path)) if row.definition == definition]
        return [(row.status, row.first_tag, row.last_tag) for row in rows]

    assert ranges("") == [(200, tags[0], tags[7]), (500, tags[8], tags[8]), (200, tags[9], tags[9])]
    assert ranges("a") == [(200, tags[0], tags[2]), (404, tags[8], tags[8]), (200, tags[9], tags[9])]
    assert ranges("a/b")[:2] == [(200, tags[0], tags[1]), (404, tags[2], tags[2])]
    assert ranges("new") == [(0, tags[2], tags[2])]
    assert ranges("a", "d2") == [(200, tags[6], tags[12])]


def test_blob_ids_lead_to_the_bytes(index: Index, site: History) -> None:
    list(eventful(site))
    catch_up(site.repo, index)
    with site.repo.reader() as reader:
        bodies = [reader.read(row.data_blob or "") for row in index.history(HOST, "a")]
        assert bodies == [b"1", b"2", b"2", b"2", b"3", b"4"]
        assert b"<words>7</words>" in (reader.read(index.history(HOST, "a")[1].document_blob) or b"")


def test_the_row_says_what_the_document_says(index: Index, site: History) -> None:
    tag = site.crawl({"q?x=ä": Page("<p>", "text/html; charset=x", "A \x01 title", "data.html")})
    catch_up(site.repo, index)
    (row,) = index.versions(HOST)
    assert row == VersionRow(
        domain=HOST,
        arc=row.arc,
        number=1,
        commit_tag=tag,
        url=site.url("q?x=ä"),
        mime_type="text/html; charset=x",
        title="A \x01 title",
        path=f"{HOST}/{row.arc}",
        crawl_time="2026-01-01 01:00:00",
        create_time="2026-01-01 01:00:00",
        status=200,
        final_url=site.url("q?x=ä"),
        http_version="1.1",
        declared_type="text/html; charset=x",
        charset="utf-8",
        etag=row.etag,
        last_modified="",
        file="data.html",
        length=3,
        sha256=row.sha256,
        document_blob=row.document_blob,
        data_blob=row.data_blob,
        is_current=1,
        removed_tag=None,
    )


def test_nothing_new_costs_nothing(index: Index, site: History) -> None:
    assert catch_up(site.repo, index) == 0
    site.crawl({"a": "1"})
    assert catch_up(site.repo, index) == 1
    assert catch_up(site.repo, index) == 0


@pytest.mark.parametrize("limit", [1, 3, 7])
def test_small_transactions_leave_the_same_rows(archive: Archive, index: Index, site: History, limit: int) -> None:
    list(eventful(site))
    catch_up(site.repo, index)
    other = Index.at(archive.internal / "second.db")
    catch_up(site.repo, other, rows_at_a_time=limit)
    assert rows_of(other, HOST) == rows_of(index, HOST)


def test_eight_processes_that_find_it_behind_write_it_once(archive: Archive, index: Index, site: History) -> None:
    list(eventful(site))
    catch_up(site.repo, index)
    shared = archive.internal / "shared.db"

    def work() -> None:
        catch_up(archive.repository(HOST), Index.at(shared))

    processes = [get_context("fork").Process(target=work) for _ in range(8)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
    assert [process.exitcode for process in processes] == [0] * 8
    assert rows_of(Index.at(shared), HOST) == rows_of(index, HOST)


def git(site: History, *words: str) -> str:
    command = ["git", "-C", str(site.repo.folder), "-c", "user.name=x", "-c", "user.email=x@x", *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@pytest.mark.parametrize("where", ["main~2", "main~5"])
def test_history_that_was_cut_off_is_forgotten(index: Index, site: History, where: str) -> None:
    tags = list(eventful(site))
    catch_up(site.repo, index)
    git(site, "update-ref", "refs/heads/main", where)
    catch_up(site.repo, index)
    assert tags[-1] not in {row.commit_tag for row in index.versions(HOST)}
    assert index.indexed_commit(HOST) == site.repo.tip()


def test_history_that_was_rewritten_is_read_anew(archive: Archive, index: Index, site: History) -> None:
    list(eventful(site))
    catch_up(site.repo, index)
    git(site, "update-ref", "refs/heads/main", "main~3")
    site.crawl({"z": "1"})
    catch_up(site.repo, index)
    fresh = Index.at(archive.internal / "second.db")
    catch_up(site.repo, fresh)
    assert rows_of(index, HOST) == rows_of(fresh, HOST)


BOMB = b'<!DOCTYPE arc [<!ENTITY a "aaa">]><arc version="1"/>'


@pytest.mark.parametrize(("damage", "reason"), [(BOMB, "DOCTYPE"), (b"<arc", "well-formed"), (b"", "empty")])
def test_a_damaged_document_is_skipped_and_named(
    archive: Archive, index: Index, site: History, damage: bytes, reason: str
) -> None:
    site.crawl({"a": "1", "b": "1"})
    site.crawl({"b": "2"})
    tag = "2026-01-02T00:00:00@example.org"
    site.commit({"a/data.xml": damage, "a/data.html": b"2"}, tag, "crawl")
    problems: list[str] = []
    assert catch_up(site.repo, index, problems.append) == 3
    assert len(problems) == 1
    assert f"example.org/a/data.xml of {tag}" in problems[0] and reason in problems[0]
    assert [row.arc for row in index.current_arcs(HOST)] == ["b"]
    before = rows_of(index, HOST)
    summary = recover(archive, index)
    assert (summary.exit_code, summary.versions, summary.problems) == (11, 3, tuple(problems))
    assert rows_of(index, HOST) == before
    site.hours = 30
    site.crawl({"a": "3"})
    catch_up(site.repo, index)
    assert [row.number for row in index.history(HOST, "a")] == [1, 2]


def test_damaged_reports_are_named_and_the_next_ones_read(archive: Archive, index: Index, site: History) -> None:
    problems: list[str] = []
    site.crawl({"a": "1"}, urls=[site.outcome("a"), site.outcome("b")])
    site.commit(
        {".webarc/crawls/d1/crawl.xml": b"<crawl", ".webarc/crawls/d1/urls.xml": b"<urls version='1'><url"},
        "2026-01-01T01:30:00@example.org",
        "crawl",
    )
    last = site.crawl({}, urls=[site.outcome("a")])
    catch_up(site.repo, index, problems.append)
    assert [problem.split(" ")[0].rsplit("/", 1)[1] for problem in problems] == ["crawl.xml", "urls.xml"]
    assert [(row.first_tag, row.last_tag) for row in index.sightings_of(HOST, site.url("a"))] == [
        ("2026-01-01T01:00:00@example.org", "2026-01-01T01:00:00@example.org"),
        (last, last),
    ]
    assert len(index.crawls(HOST)) == 2
    fresh = Index.at(archive.internal / "second.db")
    catch_up(site.repo, fresh)
    assert rows_of(index, HOST) == rows_of(fresh, HOST)


def test_a_broken_repository_is_named_and_the_others_are_read(archive: Archive, index: Index, site: History) -> None:
    site.crawl({"a": "1"})
    broken = History(archive, "broken.org")
    broken.crawl({"a": "1"})
    for pack in broken.repo.git_dir.glob("objects/pack/*.pack"):
        pack.chmod(0o644)
        pack.write_bytes(b"PACK")
    summary = recover(archive, index)
    assert summary.exit_code == 11 and summary.problem_count == 1 and "broken.org" in summary.problems[0]
    assert index.current_count(HOST) == 1


def zero(file: Path) -> None:
    file.write_bytes(b"\0" * file.stat().st_size)


@pytest.mark.parametrize("harm", [zero, Path.unlink, lambda file: os.truncate(file, 5000)])
def test_an_index_that_was_destroyed_is_rebuilt_by_whoever_needs_it(
    archive: Archive, index: Index, site: History, harm: object
) -> None:
    list(eventful(site))
    catch_up(site.repo, index)
    before = rows_of(index, HOST)
    index.close()
    harm(archive.index_file)  # type: ignore[operator]
    again = Index.at(archive.index_file)
    catch_up(site.repo, again)
    assert rows_of(again, HOST) == before


def test_only_some_domains_can_be_recovered(archive: Archive, index: Index, site: History) -> None:
    other = History(archive, "other.org")
    for history in (site, other):
        history.crawl({"a": "1"})
        catch_up(history.repo, index)
    index.remember_validators("other.org", [("a", "kept", "")])
    seen: list[tuple[str, int]] = []
    summary = recover(archive, index, lambda *progress: seen.append(progress), domains=[HOST])
    assert (summary.domains, summary.versions) == (1, 1) and seen == [(HOST, 1)]
    assert index.current("other.org", ["a"])["a"].etag == "kept"
