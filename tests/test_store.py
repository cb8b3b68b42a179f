"""The archive folder: making it, opening it, its temp dirs and its crawl times."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tests.archives import DOMAIN, PROJECT, START, crawl, finish, killed, next_second, running, start
from webarc.archive import times
from webarc.archive.staging import remove_tree
from webarc.archive.store import Archive
from webarc.errors import NotAnArchive, UsageProblem, WebarcError


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    return Archive.create(tmp_path / "archive")


def test_creating_twice_changes_nothing(tmp_path: Path) -> None:
    root = tmp_path / "a" / "b"
    first, second = Archive.create(root), Archive.create(root)
    assert first.root == second.root == root
    assert stat.S_IMODE(root.stat().st_mode) == 0o755
    assert sorted(path.name for path in (root / ".webarc").iterdir()) == ["journal", "locks", "log", "staging"]
    assert Archive.open(root).domains() == []


def test_a_folder_without_an_archive_is_named(archive: Archive, tmp_path: Path) -> None:
    with pytest.raises(NotAnArchive, match="webarc init"):
        Archive.open(tmp_path / "nowhere")
    crawl(archive, {".webarc/crawls/d/crawl.xml": b"x"})
    with pytest.raises(NotAnArchive):
        Archive.open(archive.root / DOMAIN)


def test_a_file_in_place_of_the_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageProblem, match="not a folder"):
        Archive.create(tmp_path / "file")


@pytest.mark.parametrize("missing", ["git", "rsync"])
def test_a_missing_tool_is_named(tmp_path: Path, missing: str) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in {"git", "rsync"} - {missing}:
        (tools / name).symlink_to(shutil.which(name) or "")
    code = (
        f"from pathlib import Path; from webarc.archive.store import Archive; Archive.create(Path({str(tmp_path)!r}))"
    )
    environment = {"PATH": str(tools), "PYTHONPATH": str(PROJECT)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert f"UsageProblem: {missing} was not found; install it" in done.stderr


def test_an_archive_that_cannot_be_written_is_one_of_our_errors(tmp_path: Path) -> None:
    with pytest.raises(WebarcError):
        Archive.create(tmp_path / ("x" * 300))


def test_domains_are_told_by_their_folders(archive: Archive) -> None:
    domains = ["example.org", "example.org:8080", "[2001:db8::1]", "..", "con", ".".join(["a" * 60] * 4)]
    for domain in domains:
        archive.repository(domain).create()
    (archive.root / "not a repository").mkdir()
    assert archive.domains() == sorted(domains)
    for domain in domains:
        assert archive.repository(domain).folder.parent == archive.root


def test_opening_an_archive_loads_nothing_heavy() -> None:
    code = "import sys, webarc.archive.store, webarc.archive.worktree; print(*sys.modules)"
    loaded = finish(start(code)).split()
    assert not {"git", "lxml", "sqlalchemy", "xmlschema", "requests"} & set(loaded)


def test_a_temp_dir_is_private_and_goes_away(archive: Archive) -> None:
    with archive.new_staging("example.org:8080") as staging:
        assert staging.path.parent == archive.staging
        assert stat.S_IMODE(staging.path.stat().st_mode) == 0o700
        (staging.path / "a" / "b").mkdir(parents=True)
        (staging.path / "a" / "b" / "data.html").write_text("x")
    assert list(archive.staging.iterdir()) == []


def test_only_temp_dirs_of_the_dead_are_cleared(archive: Archive) -> None:
    code = """
import os, sys, time
from pathlib import Path
from webarc.archive.staging import remove_tree
from webarc.archive.store import Archive
staging = Archive.open(Path(sys.argv[1])).new_staging("x")
child = os.fork()
if not child:
    time.sleep(60)
    os._exit(0)
print(child, staging.path, flush=True)
time.sleep(60)
"""
    process = start(code, archive.root)
    assert process.stdout is not None
    child, path = process.stdout.readline().split()
    with archive.new_staging("mine") as mine:
        try:
            assert archive.clear_stale_staging() == []
            killed(process)
            assert archive.clear_stale_staging() == []
        finally:
            os.kill(int(child), 9)
            process.communicate()
        assert archive.clear_stale_staging() == [Path(path)]
        assert [found.name for found in archive.staging.iterdir()] == [mine.path.name]


def test_a_crawl_time_is_the_start_or_a_second_behind_the_last(archive: Archive) -> None:
    first = archive.reserve(DOMAIN, START)
    assert first == times.text(START)
    assert archive.reserve(DOMAIN, START) == next_second(first)
    assert archive.reserve("example.com", START) == first


def test_a_clock_that_goes_back_repeats_no_crawl_time(archive: Archive) -> None:
    first = archive.reserve(DOMAIN, START)
    assert archive.reserve(DOMAIN, START.replace(year=1999)) == next_second(first)


def test_committed_crawl_times_count_when_reservations_are_lost(archive: Archive) -> None:
    tag, _ = crawl(archive, {"a/data.html": b"1"})
    crawl(archive, {"a/data.files/x": b"1"}, kind="add")
    for reservation in archive.locks.glob("*.reserved"):
        reservation.write_text("garbage")
    assert archive.reserve(DOMAIN, START.replace(year=1999)) == next_second(tag.partition("@")[0])


def test_processes_never_share_a_crawl_time(archive: Archive) -> None:
    code = """
import sys
from pathlib import Path
from webarc.archive import times
from webarc.archive.staging import remove_tree
from webarc.archive.store import Archive
archive = Archive.open(Path(sys.argv[1]))
for _ in range(40):
    print(archive.reserve("example.org", times.parse("2026-01-01 00:00:00")))
"""
    reserved = [
        line for process in [start(code, archive.root) for _ in range(3)] for line in finish(process).splitlines()
    ]
    assert len(reserved) == len(set(reserved)) == 120


def test_a_reservation_is_durable_before_it_is_told(archive: Archive, tmp_path: Path) -> None:
    code = """
import sys
from pathlib import Path
from webarc.archive import times
from webarc.archive.staging import remove_tree
from webarc.archive.store import Archive
print(Archive.open(Path(sys.argv[1])).reserve("example.org", times.parse("2026-01-01 00:00:00")), flush=True)
"""
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed, so nobody can see whether the reservation reaches the disk")
    trace = tmp_path / "trace"
    prefix = ["strace", "-y", "-o", str(trace), "-e", "trace=fsync,write,pwrite64"]
    finish(start(code, archive.root, prefix=prefix))
    calls = trace.read_text().splitlines()
    told = next(number for number, call in enumerate(calls) if call.startswith("write(1"))
    synced = [call for call in calls[:told] if call.startswith("fsync(")]
    assert "example.org.reserved>" in synced[0]
    assert synced[1].split("<")[1].startswith(str(archive.locks))


def test_a_killed_reserver_leaves_the_reservation(archive: Archive) -> None:
    code = """
import sys, time
from pathlib import Path
from webarc.archive import times
from webarc.archive.staging import remove_tree
from webarc.archive.store import Archive
print(Archive.open(Path(sys.argv[1])).reserve("example.org", times.parse("2026-11-15 12:00:00")), flush=True)
time.sleep(60)
"""
    with running(code, archive.root) as process:
        killed(process)
    assert archive.reserve(DOMAIN, START) == next_second(times.text(START))


@pytest.mark.parametrize("folders", [0, 3, 200])
def test_a_large_folder_is_removed_and_nothing_beside_it(tmp_path: Path, folders: int) -> None:
    beside = tmp_path / "beside"
    beside.mkdir()
    (beside / "kept").write_text("kept")
    tree = tmp_path / "tree"
    tree.mkdir()
    for number in range(folders):
        (tree / f"a/{number % 7}/{number}").mkdir(parents=True)
        (tree / f"a/{number % 7}/{number}/data.html").write_text("x")
        (tree / f"a/{number % 7}/{number}/link").symlink_to(beside)
    remove_tree(tree)
    assert not tree.exists()
    assert (beside / "kept").read_text() == "kept"
    remove_tree(tree)
