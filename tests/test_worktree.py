"""The work tree: shows main, loses nothing of the user's, and mends itself whatever was killed."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.archives import (
    DOMAIN,
    START,
    commit,
    committed,
    crawl,
    finish,
    message,
    rescued,
    running,
    shown,
    start,
    user_environment,
    user_git,
)
from tests.disks import small_file_system
from webarc.archive import rsync
from webarc.archive.metadata import commit_tag
from webarc.archive.repository import Repository
from webarc.archive.store import Archive
from webarc.archive.tags import tag_name
from webarc.archive.worktree import SHOWN, bring, mend
from webarc.errors import NoSpace, RsyncProblem

FIRST = {
    "a/data.html": b"a1",
    "a/data.xml": b"<a1/>",
    "a/b/data.html": b"b1",
    "c/data.html": b"c1",
    "c/data.xml": b"<c1/>",
}


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    return Archive.create(tmp_path / "archive")


@pytest.fixture
def repo(archive: Archive) -> Repository:
    """A domain after its first crawl."""
    crawl(archive, FIRST)
    return archive.repository(DOMAIN)


def assert_in_order(repo: Repository) -> None:
    """The work tree shows main, git agrees, and nothing is left over."""
    assert shown(repo) == committed(repo)
    assert user_git(repo.folder, "status", "--porcelain") == ""
    assert repo.ref(SHOWN) == repo.tip()
    assert not (repo.git_dir / "webarc-bring").exists()
    assert not list(repo.git_dir.rglob("*.lock"))


def test_the_work_tree_shows_the_crawl(repo: Repository) -> None:
    assert shown(repo) == FIRST
    assert_in_order(repo)
    for path in FIRST:
        assert (repo.folder / path).stat().st_mode & 0o777 == 0o644
        assert (repo.folder / path).parent.stat().st_mode & 0o777 == 0o755


def test_only_what_changed_is_touched(archive: Archive, repo: Repository) -> None:
    before = {path: (repo.folder / path).stat() for path in FIRST}
    crawl(archive, {"a/data.html": b"a2"})
    after = {path: (repo.folder / path).stat() for path in FIRST}
    assert [path for path in FIRST if before[path].st_ino != after[path].st_ino] == ["a/data.html"]
    assert_in_order(repo)


def test_new_bytes_of_the_same_size_and_time_arrive(archive: Archive, repo: Repository) -> None:
    place = repo.folder / "a/data.html"
    os.utime(place, (1, 1))
    with archive.new_staging("x") as staging, archive.lock_tree(DOMAIN):
        commit(repo, {"a/data.html": b"a2"}, staged=staging.path)
        os.utime(staging.path / "a/data.html", (1, 1))
        bring(repo, staging.path)
    assert place.read_bytes() == b"a2"


def test_the_first_crawl_comes_in_one_piece(archive: Archive) -> None:
    repo = archive.repository(DOMAIN)
    with archive.new_staging("x") as staging, archive.lock_tree(DOMAIN):
        repo.create()
        commit(repo, FIRST, staged=staging.path)
        (staging.path / "empty/folder").mkdir(parents=True)
        staging.path.joinpath("a/data.html").chmod(0o600)
        bring(repo, staging.path, exact=True)
    assert shown(repo) == FIRST
    assert not (repo.folder / "empty").exists()
    assert (repo.folder / "a/data.html").stat().st_mode & 0o777 == 0o644
    assert_in_order(repo)


def test_what_a_user_has_put_there_before_the_first_crawl_is_rescued(archive: Archive) -> None:
    repo = archive.repository(DOMAIN)
    with archive.new_staging("x") as staging, archive.lock_tree(DOMAIN):
        repo.create()
        (repo.folder / "a").mkdir()
        (repo.folder / "a/data.html").write_text("mine")
        commit(repo, FIRST, staged=staging.path)
        (warning,) = bring(repo, staging.path, exact=True)
    assert "1 file changed by hand" in warning
    assert (repo.folder / "a/data.html").read_bytes() == FIRST["a/data.html"]
    (rescued,) = (repo.folder / ".webarc/rescued").rglob("data.html")
    assert rescued.read_text() == "mine"


def test_removing_a_page_leaves_the_pages_below_it(archive: Archive, repo: Repository) -> None:
    crawl(archive, {}, gone=["a/data.html", "a/data.xml", "c/data.html", "c/data.xml"])
    assert shown(repo) == {"a/b/data.html": b"b1"}
    assert not (repo.folder / "c").exists()
    assert_in_order(repo)


def test_replacing_a_page_leaves_the_pages_below_it(archive: Archive, repo: Repository) -> None:
    crawl(archive, {"a/data.pdf": b"pdf", "a/data.xml": b"<a2/>"}, gone=["a/data.html"])
    assert shown(repo)["a/b/data.html"] == b"b1"
    assert sorted(path.name for path in (repo.folder / "a").iterdir()) == ["b", "data.pdf", "data.xml"]
    assert_in_order(repo)


def test_added_files_stay_while_the_version_is_current(archive: Archive, repo: Repository) -> None:
    crawl(archive, {"a/data.files/words.txt": b"7"}, kind="add")
    crawl(archive, {"c/data.html": b"c2"})
    assert shown(repo)["a/data.files/words.txt"] == b"7"
    crawl(archive, {"a/data.html": b"a2"}, gone=["a/data.files/words.txt"])
    assert not (repo.folder / "a/data.files").exists()
    assert_in_order(repo)


def test_a_file_may_become_a_folder_and_back(archive: Archive, repo: Repository) -> None:
    crawl(archive, {"x": b"file"})
    crawl(archive, {"x/y": b"below"}, gone=["x"])
    assert_in_order(repo)
    crawl(archive, {"x": b"file"}, gone=["x/y"])
    assert_in_order(repo)


def test_git_works_as_its_users_expect(archive: Archive, repo: Repository) -> None:
    second, _ = crawl(archive, {"a/data.html": b"a2"})
    first = user_git(repo.folder, "tag").splitlines()[0]
    user_git(repo.folder, "checkout", "-q", first)
    assert (repo.folder / "a/data.html").read_bytes() == b"a1"
    user_git(repo.folder, "checkout", "-q", tag_name(second))
    assert (repo.folder / "a/data.html").read_bytes() == b"a2"
    user_git(repo.folder, "checkout", "-q", "main")
    assert len(user_git(repo.folder, "log", "--oneline", "--", "a/data.html").splitlines()) == 2
    assert_in_order(repo)


def test_a_checked_out_tag_is_left_alone_and_main_moves_on(archive: Archive, repo: Repository) -> None:
    user_git(repo.folder, "checkout", "-q", user_git(repo.folder, "tag").strip())
    _, warnings = crawl(archive, {"a/data.html": b"a2", "n/data.html": b"n1"}, gone=["c/data.html"])
    assert len(warnings) == 1 and "git checkout main" in warnings[0]
    assert shown(repo) == FIRST
    assert committed(repo)["a/data.html"] == b"a2"
    user_git(repo.folder, "checkout", "-q", "main")
    assert (repo.folder / "a/data.html").read_bytes() == b"a2"
    _, warnings = crawl(archive, {"a/data.html": b"a3", "m/data.html": b"m1"})
    assert warnings == []
    assert rescued(repo) == {}
    assert_in_order(repo)


def test_edits_in_a_checked_out_tag_are_left_alone(archive: Archive, repo: Repository) -> None:
    user_git(repo.folder, "checkout", "-q", "-b", "mine")
    (repo.folder / "a/data.html").write_bytes(b"mine")
    crawl(archive, {"a/data.html": b"a2"})
    assert (repo.folder / "a/data.html").read_bytes() == b"mine"
    assert committed(repo)["a/data.html"] == b"a2"


def test_edited_files_are_rescued(archive: Archive, repo: Repository) -> None:
    (repo.folder / "a/data.html").write_bytes(b"edited")
    (repo.folder / "c/data.html").write_bytes(b"edited before it went")
    (repo.folder / "a/b/data.html").write_bytes(b"not in the way")
    (repo.folder / "n").mkdir()
    (repo.folder / "n/data.html").write_bytes(b"stood there untracked")
    tag, warnings = crawl(archive, {"a/data.html": b"a2", "n/data.html": b"n1"}, gone=["c/data.html"])
    home = repo.folder / ".webarc/rescued" / tag_name(tag)
    assert warnings == [
        f"3 files changed by hand stood in the way and went to {home}; look there for your own changes."
    ]
    assert rescued(repo) == {
        "a/data.html": b"edited",
        "c/data.html": b"edited before it went",
        "n/data.html": b"stood there untracked",
    }
    assert shown(repo) == committed(repo) | {"a/b/data.html": b"not in the way"}
    assert user_git(repo.folder, "status", "--porcelain").split() == ["M", "a/b/data.html"]


def test_what_was_staged_for_a_commit_is_rescued_too(archive: Archive, repo: Repository) -> None:
    place = repo.folder / "a/data.html"
    place.write_bytes(b"staged")
    user_git(repo.folder, "add", "a/data.html")
    place.write_bytes(b"edited again")
    (repo.folder / "c/data.html").write_bytes(b"staged only")
    user_git(repo.folder, "add", "c/data.html")
    (repo.folder / "c/data.html").write_bytes(b"c1")
    (repo.folder / "a/b/data.html").write_bytes(b"staged elsewhere")
    user_git(repo.folder, "add", "a/b/data.html")
    crawl(archive, {"a/data.html": b"a2"}, gone=["c/data.html"])
    assert rescued(repo) == {
        "a/data.html": b"edited again",
        "a/data.html.staged": b"staged",
        "c/data.html.staged": b"staged only",
    }
    assert user_git(repo.folder, "status", "--porcelain") == "M  a/b/data.html\n"


def test_an_old_tag_checked_out_over_main_is_not_committed(archive: Archive, repo: Repository) -> None:
    crawl(archive, {"a/data.html": b"a2", "c/data.html": b"c2"})
    user_git(repo.folder, "checkout", user_git(repo.folder, "tag").splitlines()[0], "--", ".")
    crawl(archive, {"a/data.html": b"a3"})
    assert committed(repo)["a/data.html"] == b"a3"
    assert committed(repo)["c/data.html"] == b"c2"
    assert rescued(repo) == {"a/data.html": b"a1"}


def test_rescued_files_never_replace_each_other(archive: Archive, repo: Repository) -> None:
    with archive.lock_tree(DOMAIN):
        commit(repo, {"a/data.html": b"a2"})
        for edit in (b"first", b"second"):
            repo.set_ref(SHOWN, repo.commits()[0].id)
            (repo.folder / "a/data.html").write_bytes(edit)
            bring(repo)
    kept = [path.read_bytes() for path in sorted((repo.folder / ".webarc/rescued").rglob("data.html"))]
    assert kept == [b"first", b"second"]


def test_links_and_folders_in_the_way_are_moved_not_followed(
    archive: Archive, repo: Repository, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "data.html").write_bytes(b"precious")
    shutil.rmtree(repo.folder / "c")
    (repo.folder / "c").symlink_to(outside)
    (repo.folder / "n").write_bytes(b"a file where a folder must be")
    (repo.folder / "m/data.html").mkdir(parents=True)
    (repo.folder / "m/data.html/mine").write_bytes(b"a folder where a file must be")
    (repo.folder / "a/data.html").unlink()
    (repo.folder / "a/data.html").symlink_to(outside / "data.html")
    crawl(archive, {f"{name}/data.html": b"new" for name in "acnm"} | {"c/data.xml": b"new"})
    assert (outside / "data.html").read_bytes() == b"precious"
    assert list(outside.iterdir()) == [outside / "data.html"]
    assert rescued(repo)["n"] == b"a file where a folder must be"
    assert rescued(repo)["m/data.html/mine"] == b"a folder where a file must be"
    assert_in_order(repo)


def test_a_removal_does_not_follow_links(archive: Archive, repo: Repository, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    shutil.move(repo.folder / "c", outside)
    (repo.folder / "c").symlink_to(outside)
    crawl(archive, {}, gone=["c/data.html", "c/data.xml"])
    assert sorted(path.name for path in outside.iterdir()) == ["data.html", "data.xml"]


def test_a_users_own_commit_on_main_is_kept(archive: Archive, repo: Repository) -> None:
    (repo.folder / "run.sh").write_text("#!/bin/sh\n")
    (repo.folder / "run.sh").chmod(0o755)
    (repo.folder / "link").symlink_to("a/data.html")
    user_git(repo.folder, "add", "run.sh", "link")
    user_git(repo.folder, "commit", "-q", "-m", "mine")
    crawl(archive, {"a/data.html": b"a2"})
    assert (repo.folder / "link").is_symlink()
    assert os.access(repo.folder / "run.sh", os.X_OK)
    assert user_git(repo.folder, "status", "--porcelain") == ""
    (repo.folder / "run.sh").unlink()
    with archive.lock_tree(DOMAIN):
        repo.set_ref(SHOWN, repo.commits()[0].id)
        bring(repo)
    assert user_git(repo.folder, "status", "--porcelain") == ""


def test_a_lost_index_or_a_lost_old_commit_is_no_obstacle(archive: Archive, repo: Repository) -> None:
    (repo.git_dir / "index").unlink()
    crawl(archive, {"a/data.html": b"a2"})
    assert_in_order(repo)
    (repo.git_dir / SHOWN).write_text("1" * 40 + "\n")
    crawl(archive, {"a/data.html": b"a3"})
    assert_in_order(repo)
    assert rescued(repo) == {}


def test_bytes_come_from_git_where_the_temp_dir_has_not_the_right_ones(archive: Archive, repo: Repository) -> None:
    with archive.new_staging("x") as staging, archive.lock_tree(DOMAIN):
        commit(repo, {"a/data.html": b"a2", "n/data.html": b"n1", "m/data.html": b"m1"}, staged=staging.path)
        (staging.path / "a/data.html").write_bytes(b"cut")
        (staging.path / "n/data.html").unlink()
        (staging.path / "m/data.part").write_bytes(b"half")
        (staging.path / "m/data.html").unlink()
        (staging.path / "m/data.html").symlink_to(repo.folder / "c/data.html")
        (staging.path / "m/empty").mkdir()
        (staging.path / "other").mkdir()
        (staging.path / "other/data.html").write_bytes(b"never committed")
        assert bring(repo, staging.path) == []
    assert_in_order(repo)


def test_bringing_twice_does_nothing(archive: Archive, repo: Repository) -> None:
    before = (repo.git_dir / "index").stat().st_mtime_ns
    with archive.lock_tree(DOMAIN):
        assert bring(repo) == mend(repo) == []
    assert (repo.git_dir / "index").stat().st_mtime_ns == before


def test_a_list_for_rsync_names_whole_folders_where_it_can(tmp_path: Path) -> None:
    for path in ("a/b/x", "a/b/y", "a/c/x", "d/x", "d/e/x", "f/x"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("")
    (tmp_path / "f/empty").mkdir()
    everything = ["a/b/x", "a/b/y", "a/c/x", "d/x", "d/e/x"]
    assert sorted(rsync.collapsed(tmp_path, everything)) == ["a", "d"]
    assert sorted(rsync.collapsed(tmp_path, ["a/b/x", "a/c/x", "d/e/x", "f/x"])) == ["a/b/x", "a/c", "d/e", "f/x"]


def test_rsync_that_fails_is_an_error(tmp_path: Path) -> None:
    for name in ("source", "target", "workshop"):
        (tmp_path / name).mkdir()
    copying = rsync.Copying(tmp_path / "target", tmp_path / "workshop")
    with pytest.raises(RsyncProblem, match="missing"), copying:
        copying.start(tmp_path / "source", ["missing"])


def test_a_missing_tag_is_made_up_for(archive: Archive, repo: Repository) -> None:
    with archive.lock_tree(DOMAIN):
        crawl_time = archive.reserve(DOMAIN, START)
        tag = commit_tag(crawl_time, DOMAIN)
        with repo.importer() as importer:
            importer.add_bytes("a/data.html", b"a2")
            importer.commit(repo.tip(), message(tag), START, None)
        mend(repo)
    assert user_git(repo.folder, "cat-file", "-t", tag_name(tag)) == "tag\n"
    assert user_git(repo.folder, "log", "-1", "--format=%s", tag_name(tag)).strip() == tag
    assert_in_order(repo)


@pytest.mark.parametrize(
    "name", ["index.lock", "HEAD.lock", "refs/heads/main.lock", "refs/webarc/worktree.lock", "packed-refs.lock"]
)
def test_a_lock_file_of_the_dead_blocks_nobody(archive: Archive, repo: Repository, name: str) -> None:
    (repo.git_dir / name).write_text("")
    crawl(archive, {"a/data.html": b"a2"})
    assert_in_order(repo)


HOLD_OPEN = """
import sys, time
with open(sys.argv[1], "x"):
    print("open", flush=True)
    time.sleep(60)
"""


def test_a_lock_file_of_the_living_is_left_alone(archive: Archive, repo: Repository) -> None:
    lock = repo.git_dir / "index.lock"
    with running(HOLD_OPEN, lock):
        with archive.lock_tree(DOMAIN):
            mend(repo)
        assert lock.exists()
    with archive.lock_tree(DOMAIN):
        mend(repo)
    assert not lock.exists()


def test_a_git_at_work_keeps_its_lock_though_it_is_closed(archive: Archive, repo: Repository) -> None:
    lock = repo.git_dir / "index.lock"
    editor = {"GIT_EDITOR": "sh -c 'echo open; exec >&-; sleep 60'"}
    environment = user_environment(repo.folder.parent) | editor
    (repo.folder / "a/data.html").write_bytes(b"mine")
    command = ["git", "commit", "-a"]
    user = subprocess.Popen(command, cwd=repo.folder, env=environment, stdout=subprocess.PIPE, start_new_session=True)
    try:
        assert user.stdout is not None
        assert user.stdout.readline() == b"open\n"
        assert lock.exists()
        with archive.lock_tree(DOMAIN):
            mend(repo)
        assert lock.exists()
    finally:
        os.killpg(user.pid, 9)
        user.communicate()


def test_a_users_git_that_holds_the_index_for_long_gives_a_warning(archive: Archive, repo: Repository) -> None:
    with running(HOLD_OPEN, repo.git_dir / "index.lock"):
        _, warnings = crawl(archive, {"a/data.html": b"a2"})
    assert len(warnings) == 1 and "git is at work" in warnings[0]
    assert shown(repo) == committed(repo)
    with archive.lock_tree(DOMAIN):
        mend(repo)
    assert_in_order(repo)


def test_unfinished_packs_are_cleared_unless_someone_writes_them(archive: Archive, repo: Repository) -> None:
    packs = repo.git_dir / "objects/pack"
    for name in ("tmp_pack_dead", "tmp_idx_dead"):
        (packs / name).write_bytes(b"x")
    (packs / "pack-1.keep").write_bytes(b"fast-import")
    (packs / "pack-2.keep").write_bytes(b"the user's own reason")
    (repo.git_dir / "fast_import_crash_1").write_text("")
    with repo.importer() as importer, archive.lock_tree(DOMAIN):
        importer.add_bytes("b", os.urandom(3_000_000))
        mend(repo)
        left = {path.name for path in packs.iterdir() if path.suffix not in (".pack", ".idx")}
        assert len(left) == 2 and "pack-2.keep" in left
        importer.commit(repo.tip(), message("x", "add"), START, None)
        bring(repo)
    assert not (repo.git_dir / "fast_import_crash_1").exists()
    assert_in_order(repo)


CRAWL = """
import os, sys
from pathlib import Path
from tests.archives import crawl
from webarc.archive.store import Archive
archive = Archive.open(Path(sys.argv[1]))
changed = {"a/data.html": b"a2" * 9999, "n/data.html": b"n1", "n/data.xml": b"<n/>"}
crawl(archive, changed, gone=["c/data.html", "c/data.xml"])
"""
AFTER = {
    "a/data.html": b"a2" * 9999,
    "a/data.xml": b"<a1/>",
    "a/b/data.html": b"b1",
    "n/data.html": b"n1",
    "n/data.xml": b"<n/>",
}
RENAMES = "rename,renameat,renameat2,link,linkat"
REMOVALS = "unlink,unlinkat,rmdir"
FORKS = "vfork,clone,clone3,fork"
# Each of our processes, git's and rsync's is killed at its so-manieth call of one of these.
KILLS = [
    *((RENAMES, number) for number in (1, 2, 3)),
    *((REMOVALS, number) for number in (1, 2, 3, 4)),
    *(("fsync", number) for number in (2, 3, 4, 5, 6)),
    *((FORKS, number) for number in (2, 4, 6, 8, 10, 12)),
    *(("execve", 1), ("mkdir,mkdirat", 3), ("fchmod", 1), ("close", 400)),
]
EVERYWHERE = [
    *((RENAMES, number) for number in range(1, 6)),
    *((REMOVALS, number) for number in range(1, 12)),
    *(("fsync", number) for number in range(1, 10)),
    *((FORKS, number) for number in range(1, 16)),
    *(("mkdir,mkdirat", number) for number in range(1, 10)),
    *(("write,pwrite64,writev", number) for number in range(1, 30)),
    *(("close", number) for number in range(20, 600, 20)),
]


def check_mended_after_kill(archive: Archive, repo: Repository, calls: str, number: int) -> None:
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed, so nothing is killed in the middle of its work")
    prefix = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={calls}"]
    prefix += ["-e", f"inject={calls}:signal=SIGKILL:when={number}"]
    start(CRAWL, archive.root, prefix=prefix).communicate(timeout=60)
    archive.clear_stale_staging()
    with archive.lock_tree(DOMAIN, wait=10):
        warnings = mend(repo)
    assert warnings == []
    assert committed(repo) in (FIRST, AFTER)
    assert rescued(repo) == {}
    assert_in_order(repo)
    assert list(archive.staging.iterdir()) == []
    crawled = [found for found in repo.commits() if found.kind == "crawl"]
    assert user_git(repo.folder, "tag").splitlines() == [tag_name(found.tag) for found in crawled]
    finish(start(CRAWL, archive.root))
    assert committed(repo) == AFTER
    assert_in_order(repo)
    assert "error" not in user_git(repo.folder, "fsck", "--strict", "--no-dangling")


@pytest.mark.parametrize(("calls", "number"), KILLS)
def test_whatever_is_killed_the_next_command_mends_it(
    archive: Archive, repo: Repository, calls: str, number: int
) -> None:
    check_mended_after_kill(archive, repo, calls, number)


@pytest.mark.slow
@pytest.mark.parametrize(("calls", "number"), EVERYWHERE)
def test_wherever_it_is_killed(archive: Archive, repo: Repository, calls: str, number: int) -> None:
    check_mended_after_kill(archive, repo, calls, number)


def test_what_a_killed_rsync_left_beside_the_files_is_cleared(archive: Archive, repo: Repository) -> None:
    with archive.lock_tree(DOMAIN):
        commit(repo, {"a/data.html": b"a2"})
        (repo.git_dir / "webarc-bring").mkdir()
        (repo.folder / "a/.data.html.x1Y2z3").write_bytes(b"half")
        (repo.folder / "a/.mine.x1Y2z3").write_bytes(b"the user's")
        mend(repo)
    assert not (repo.folder / "a/.data.html.x1Y2z3").exists()
    assert (repo.folder / "a/.mine.x1Y2z3").exists()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 6 MB."""
    with small_file_system(tmp_path / "disk", 6) as place:
        yield place


def test_a_disk_that_fills_up_while_files_are_brought(small_disk: Path) -> None:
    archive = Archive.create(small_disk / "archive")
    repo = archive.repository(DOMAIN)
    crawl(archive, FIRST)
    filler = small_disk / "filler"
    with archive.lock_tree(DOMAIN):
        commit(repo, {"a/data.html": b"a2" * 200_000, "n/data.html": b"n1" * 200_000})
        filler.write_bytes(b"x" * (shutil.disk_usage(small_disk).free - 500_000))
        with pytest.raises(NoSpace, match="free some space"):
            bring(repo)
        filler.unlink()
        assert mend(repo) == []
    assert_in_order(repo)
