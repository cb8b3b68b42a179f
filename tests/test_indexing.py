"""From git to the index: read commit by commit or all at once, the rows are the same, and damage is named."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from multiprocessing import get_context
from pathlib import Path

import pytest

from tests.histories import History, Page, eventful, rows_of
from webarc.archive.indexing import catch_up
from webarc.archive.recovery import catch_up_all, recover
from webarc.archive.store import Archive
from webarc.errors import Damaged, GitProblem
from webarc.sql.batch import Batch
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
    assert index.crawls(HOST)[0].counts == {"fetched": 1, "unchanged": 1} and index.crawls(HOST)[0].complete is True


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


def loose(site: History) -> None:
    """Unpack all objects, so that each is a file that can be harmed."""
    for pack in site.repo.git_dir.glob("objects/pack/*.pack"):
        away = pack.rename(site.repo.folder.parent / pack.name)
        pack.with_suffix(".idx").unlink()
        with away.open("rb") as source:
            subprocess.run(["git", "-C", site.repo.folder, "unpack-objects", "-q"], stdin=source, check=True)
        away.unlink()


def object_file(site: History, spec: str) -> Path:
    name = git(site, "rev-parse", spec)
    file = site.repo.git_dir / "objects" / name[:2] / name[2:]
    file.chmod(0o644)
    return file


def flip(file: Path, place: int) -> None:
    data = bytearray(file.read_bytes())
    data[place] ^= 1
    file.write_bytes(data)


def flip_first(file: Path) -> None:
    flip(file, 0)


def flip_middle(file: Path) -> None:
    flip(file, file.stat().st_size // 2)


def flip_last(file: Path) -> None:
    flip(file, -1)


def cut(file: Path) -> None:
    os.truncate(file, file.stat().st_size // 2)


def lie(file: Path) -> None:
    """A sound object, but another one: git itself does not notice."""
    file.write_bytes(zlib.compress(b"blob 4\0<arc"))


def nonsense(file: Path) -> None:
    """A kind of object that there is not: git ends without a word about it on its output."""
    file.write_bytes(zlib.compress(b"bolb 4\0<arc"))


HARMS = [flip_first, flip_middle, flip_last, cut, lie, nonsense, Path.unlink]


@pytest.mark.parametrize("harm", HARMS)
def test_one_damaged_document_costs_one_version(
    archive: Archive, index: Index, site: History, harm: Callable[[Path], None]
) -> None:
    big = Page("1", title=os.urandom(40_000).hex())
    first = site.crawl({"a": "1", "p": big, "z": "1"})
    for body in "23":
        site.crawl({"p": body})
    catch_up(site.repo, index)
    loose(site)
    harm(object_file(site, "main~2:p/data.xml"))
    summary = recover(archive, index)
    assert (summary.exit_code, summary.versions, summary.problem_count) == (11, 4, 1)
    assert summary.problems[0].startswith(f"example.org/p/data.xml of {first} was left out: ")
    assert [(row.arc, row.commit_tag[11:13]) for row in index.versions(HOST)] == [
        ("a", "01"),
        ("p", "02"),
        ("p", "03"),
        ("z", "01"),
    ]
    assert len(index.crawls(HOST)) == 3 and index.indexed_commit(HOST) == site.repo.tip()
    site.crawl({"p": "4"})
    assert catch_up(site.repo, index) == 1
    behind = Index.at(archive.internal / "second.db")
    assert catch_up(site.repo, behind) == 5
    assert rows_of(behind, HOST) == rows_of(index, HOST)


def test_a_damaged_pack_costs_what_was_hit(archive: Archive, index: Index, site: History) -> None:
    tag = site.crawl({f"p{number}": Page("1", title=os.urandom(60).hex()) for number in range(100)})
    pack = next(site.repo.git_dir.glob("objects/pack/*.pack"))
    listed = git(site, "verify-pack", "-v", str(pack.with_suffix(".idx"))).splitlines()
    blob = git(site, "rev-parse", "main:p50/data.xml")
    _, _, _, length, start = next(line.split() for line in listed if line.startswith(blob))[:5]
    pack.chmod(0o644)
    flip(pack, int(start) + int(length) // 2)
    summary = recover(archive, index)
    assert (summary.versions, summary.exit_code) == (99, 11)
    assert [problem.partition(" was ")[0] for problem in summary.problems] == [f"example.org/p50/data.xml of {tag}"]


def test_damaged_reports_cost_themselves(archive: Archive, index: Index, site: History) -> None:
    for number in range(3):
        last = site.crawl({"a": str(number)}, urls=[site.outcome("a"), site.outcome(f"b{number}")])
    loose(site)
    nonsense(object_file(site, "main~1:.webarc/crawls/d1/crawl.xml"))
    nonsense(object_file(site, "main~1:.webarc/crawls/d1/urls.xml"))
    summary = recover(archive, index)
    assert (summary.versions, summary.problem_count) == (3, 2)
    assert len(index.crawls(HOST)) == 2
    assert [row.url for row in index.sightings(HOST) if row.last_tag == last] == [site.url("a"), site.url("b2")]


def test_a_reader_survives_damaged_objects(site: History, tmp_path: Path) -> None:
    bodies = [f"{number} {os.urandom(9_000).hex()}" for number in range(60)]
    site.crawl({f"p{number}": body for number, body in enumerate(bodies)})
    loose(site)
    names = [git(site, "rev-parse", f"main:p{number}/data.html") for number in range(60)]
    for number, harm in {0: flip_middle, 7: cut, 8: lie, 9: nonsense, 39: nonsense, 40: flip_last, 59: cut}.items():
        harm(object_file(site, names[number]))
    with site.repo.reader() as reader:
        for _ in range(2):
            found = list(reader.read_many(names))
            damaged = {number for number, data in enumerate(found) if data is None or isinstance(data, Damaged)}
            assert damaged == {0, 7, 8, 9, 39, 40, 59}
            assert all(found[number] == body.encode() for number, body in enumerate(bodies) if number not in damaged)
        assert all(names[number] in str(found[number]) for number in (8, 9, 39))
        for number in (8, 9):
            with pytest.raises(Damaged, match=names[number]):
                reader.read(names[number])
            with pytest.raises(Damaged, match=names[number]), (tmp_path / "copy").open("wb") as target:
                reader.copy(names[number], target)
        assert reader.read(names[1]) == bodies[1].encode()
        with (tmp_path / "copy").open("wb") as target:
            assert reader.copy(names[1], target)
        assert (tmp_path / "copy").read_text() == bodies[1]


def test_a_reader_goes_on_when_its_process_is_killed_but_not_without_a_repository(site: History) -> None:
    site.crawl({"a": "1"})
    with site.repo.reader() as reader:
        for _ in range(3):
            assert reader.read("main:a/data.html") == b"1"
            children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
            (child,) = [int(child) for child in children if Path(f"/proc/{child}/comm").read_text() == "git\n"]
            os.kill(child, signal.SIGKILL)
        shutil.rmtree(site.repo.folder)
        with pytest.raises(GitProblem):
            reader.read("main:a/data.html")


def knows_nothing(index: Index) -> bool:
    return not index.knows(HOST) and index.domains() == [] and not list(index.versions(HOST))


def test_a_damaged_folder_costs_what_nothing_else_shows(archive: Archive, index: Index, site: History) -> None:
    first = site.crawl({"d/a": "1", "e/b": "1"})
    second = site.crawl({"d/a": "2", "d/new": "1"})
    third = site.crawl({"e/b": "2"})
    fourth = site.crawl({"d/a": "3"})
    loose(site)
    nonsense(object_file(site, "main~2:d"))
    summary = recover(archive, index)
    assert summary.exit_code == 11 and summary.problem_count == 1
    assert summary.problems[0].startswith(f"{HOST}/d/ of {second} was left out: git cannot read the folder")
    assert [(row.arc, row.number, row.commit_tag, row.is_current) for row in index.versions(HOST)] == [
        ("d/a", 1, first, 0),
        ("d/a", 2, fourth, 1),
        ("d/new", 1, second, 1),
        ("e/b", 1, first, 0),
        ("e/b", 2, third, 1),
    ]
    site.crawl({"d/a": "4"})
    assert catch_up(site.repo, index) == 1


def test_a_damaged_folder_in_a_long_history(archive: Archive, index: Index, site: History) -> None:
    tags = [site.crawl({"d/a": str(number), f"e/{number}": "1"}) for number in range(20)]
    loose(site)
    nonsense(object_file(site, "main~9:d"))
    summary = recover(archive, index)
    assert summary.problem_count == 1 and tags[10] in summary.problems[0]
    assert [row.commit_tag for row in index.history(HOST, "d/a")] == [*tags[:10], *tags[11:]]
    assert index.current_count(HOST) == 21 and index.version_count(HOST) == 39


@pytest.mark.parametrize("count", [4, 20])
def test_a_damaged_commit_costs_what_was_replaced_before(
    archive: Archive, index: Index, site: History, count: int
) -> None:
    first = site.crawl({"d/a": "0", "old": "1"})
    tags = [site.crawl({"d/a": str(number)}) for number in range(1, count)]
    loose(site)
    nonsense(object_file(site, f"main~{count - 2}"))
    summary = recover(archive, index)
    assert (summary.exit_code, summary.problem_count) == (11, 1)
    assert f"{HOST} before {tags[1]} was left out" in summary.problems[0]
    assert [row.commit_tag for row in index.history(HOST, "d/a")] == tags[1:]
    assert [(row.commit_tag, row.is_current) for row in index.history(HOST, "old")] == [(first, 1)]
    site.crawl({"d/a": "x"})
    assert catch_up(site.repo, index) == 1


def test_a_damaged_commit_below_the_newest(archive: Archive, index: Index, site: History) -> None:
    tags = [site.crawl({"a": str(number), f"e{number}": "1"}) for number in range(3)]
    loose(site)
    nonsense(object_file(site, "main~1"))
    assert recover(archive, index).versions == 4
    assert [row.commit_tag for row in index.versions(HOST)] == [tags[2], *tags]
    assert [row.commit_tag for row in index.crawls(HOST)] == tags[2:]


def test_a_repository_that_cannot_be_read_has_no_rows_until_it_is_restored(
    archive: Archive, index: Index, site: History
) -> None:
    list(eventful(site))
    catch_up(site.repo, index)
    before = rows_of(index, HOST)
    loose(site)
    tip = object_file(site, "main")
    sound = tip.read_bytes()
    nonsense(tip)
    with pytest.raises(Damaged, match="webarc verify --repair"):
        catch_up(site.repo, Index.at(archive.internal / "second.db"))
    summary = recover(archive, index)
    assert summary.exit_code == 11 and f"the repository of {HOST} was left out" in summary.problems[0]
    assert knows_nothing(index)
    tip.write_bytes(sound)
    catch_up(site.repo, index)
    assert rows_of(index, HOST) == before


def test_rows_of_a_repository_that_was_emptied_are_forgotten(archive: Archive, index: Index, site: History) -> None:
    other = History(archive, "other.org")
    for history in (site, other):
        history.crawl({"a": "1"})
        catch_up(history.repo, index)
    for name in git(site, "for-each-ref", "--format=%(refname)").split():
        git(site, "update-ref", "-d", name)
    assert catch_up(site.repo, index) == 0
    assert index.domains() == ["other.org"] and not index.knows(HOST)
    assert list(index.versions(HOST)) == [] and index.crawls(HOST) == []


@pytest.mark.parametrize("gone", [".git", "."])
def test_rows_of_a_repository_that_is_gone_are_the_trace_of_the_loss(index: Index, site: History, gone: str) -> None:
    site.crawl({"a": "1"})
    catch_up(site.repo, index)
    before = rows_of(index, HOST)
    shutil.rmtree(site.repo.folder / gone)
    with pytest.raises(Damaged, match=r"is gone, and with it 1 version that the index knows; restore .* db-recover"):
        catch_up(site.repo, index)
    assert rows_of(index, HOST) == before


@pytest.mark.parametrize("name", ["refs/heads/main", "refs", "HEAD"])
def test_rows_of_a_repository_that_is_only_damaged_stay(index: Index, site: History, name: str) -> None:
    site.crawl({"a": "1"})
    catch_up(site.repo, index)
    before = rows_of(index, HOST)
    place = site.repo.git_dir / name
    shutil.rmtree(place) if place.is_dir() else place.unlink()
    with suppress(Damaged):
        catch_up(site.repo, index)
    assert rows_of(index, HOST) == before


def test_rows_of_half_a_commit_are_forgotten_with_the_repository(index: Index, site: History) -> None:
    half = Batch(HOST, HOST, None)
    half.removed("a", "2026-01-01T00:00:00@example.org")
    assert index.write(half) and index.knows(HOST)
    shutil.rmtree(site.repo.folder)
    catch_up(site.repo, index)
    assert knows_nothing(index)


def test_a_rebuilt_index_has_only_domains_with_a_repository(archive: Archive, index: Index, site: History) -> None:
    site.crawl({"a": "1"})
    catch_up_all(archive, index)
    shutil.rmtree(site.repo.folder)
    assert recover(archive, index).versions == 0
    assert knows_nothing(index)


@pytest.mark.parametrize("there", [True, False])
def test_to_find_nothing_new_takes_no_time_and_no_git(
    archive: Archive, index: Index, site: History, there: bool
) -> None:
    if there:
        site.crawl({"a": "1"})
    catch_up(site.repo, index)

    def work() -> None:
        os.environ["PATH"] = "/nowhere"
        catch_up(archive.repository(HOST), index)
        times = []
        for _ in range(101):
            began = time.perf_counter()
            catch_up(archive.repository(HOST), index)
            times.append(time.perf_counter() - began)
        assert sorted(times)[50] < 0.001, sorted(times)[50]

    process = get_context("fork").Process(target=work)
    process.start()
    process.join(60)
    assert process.exitcode == 0


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
