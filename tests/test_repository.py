"""Commits: exactly what was fed, byte for byte, whatever the user's git is set to and whatever gets killed."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from tests.archives import (
    DOMAIN,
    START,
    commit,
    committed,
    crawl,
    finish,
    killed,
    message,
    running,
    start,
    user_environment,
    user_git,
)
from tests.disks import small_file_system
from webarc.archive import leftovers, times
from webarc.archive.blobpack import BlobPack
from webarc.archive.fastimport import FastImport
from webarc.archive.history import Change
from webarc.archive.repository import Repository
from webarc.archive.store import Archive
from webarc.archive.tags import tag_name
from webarc.archive.worktree import mend
from webarc.errors import Damaged, GitProblem, NoSpace, StorageProblem

TRICKY = {
    "crlf/data.html": b"one\r\ntwo\nthree\r\n",
    "ident/data.html": b"$Id$ $Date$ $Id: 123 $\r\n",
    "latin/data.txt": bytes(range(256)),
    "empty/data.bin": b"",
    "utf16/data.txt": "\ufeffx\r\n".encode("utf-16"),
    "build/out.log/data.log": b"ignored by nobody",
    "a/data.html": b"a",
    "a/b/data.html": b"b",
}


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    return Archive.create(tmp_path / "archive")


@pytest.fixture
def repo(archive: Archive) -> Repository:
    repo = archive.repository(DOMAIN)
    repo.create()
    return repo


@pytest.fixture
def hostile_home(tmp_path: Path) -> Path:
    """A user whose git ignores, converts, filters and hooks everything."""
    home = tmp_path / "home"
    (home / ".config/git").mkdir(parents=True)
    (home / ".config/git/ignore").write_text("*\n*.log\nbuild/\n")
    (home / ".config/git/attributes").write_text(
        "* text=auto eol=crlf ident filter=upper working-tree-encoding=UTF-16\n"
    )
    hooks = home / "hooks"
    hooks.mkdir()
    for name in ("pre-commit", "post-checkout", "reference-transaction", "post-index-change", "fsmonitor"):
        (hooks / name).write_text(f"#!/bin/sh\ntouch {home}/hooked\nexit 1\n")
        (hooks / name).chmod(0o755)
    (home / ".gitconfig").write_text(
        f"[core]\n\tautocrlf = true\n\thooksPath = {hooks}\n\tfsmonitor = {hooks}/fsmonitor\n"
        f"[init]\n\tdefaultBranch = trunk\n\ttemplateDir = {hooks}\n\tdefaultObjectFormat = sha256\n"
        "[commit]\n\tgpgSign = true\n[tag]\n\tgpgSign = true\n[gpg]\n\tprogram = /bin/false\n"
        '[filter "upper"]\n\tclean = tr a-z A-Z\n\tsmudge = tr a-z A-Z\n\trequired = true\n'
    )
    (home / ".popt").write_text("rsync alias --recursive --dry-run\nrsync alias --perms --delete\n")
    return home


def test_git_gives_back_the_bytes_that_were_fed(archive: Archive, repo: Repository) -> None:
    crawl(archive, TRICKY)
    assert committed(repo) == TRICKY
    for path, data in TRICKY.items():
        raw = subprocess.run(["git", "cat-file", "blob", f"main:{path}"], cwd=repo.folder, capture_output=True)
        assert raw.stdout == data


def test_nothing_of_the_users_git_matters(archive: Archive, hostile_home: Path) -> None:
    code = """
import sys
from pathlib import Path
from tests.archives import crawl
from tests.test_repository import TRICKY
from webarc.archive.store import Archive
archive = Archive.open(Path(sys.argv[1]))
print(crawl(archive, TRICKY)[1])
print(crawl(archive, {"a/data.html": b"two"}, gone=["a/b/data.html"])[1])
"""
    elsewhere = {"GIT_DIR": "/nowhere", "GIT_INDEX_FILE": "/nowhere/index", "GIT_OBJECT_DIRECTORY": "/nowhere/objects"}
    environment = user_environment(hostile_home) | elsewhere | {"GIT_CONFIG_PARAMETERS": "'core.bare=true'"}
    assert finish(start(code, archive.root, env=environment)) == "[]\n[]\n"
    repo = archive.repository(DOMAIN)
    expected = {path: data for path, data in TRICKY.items() if path != "a/b/data.html"} | {"a/data.html": b"two"}
    assert committed(repo) == expected
    assert not (hostile_home / "hooked").exists()
    for path, data in expected.items():
        assert (repo.folder / path).read_bytes() == data
    assert user_git(repo.folder, "status", "--porcelain", "--ignored") == ""


def test_hooks_in_the_repository_do_not_run(archive: Archive, repo: Repository, tmp_path: Path) -> None:
    hooks = repo.git_dir / "hooks"
    hooks.mkdir()
    for name in ("reference-transaction", "post-index-change", "post-commit", "post-checkout"):
        (hooks / name).write_text(f"#!/bin/sh\ntouch {tmp_path}/hooked\nexit 1\n")
        (hooks / name).chmod(0o755)
    crawl(archive, TRICKY)
    assert committed(repo) == TRICKY
    assert not (tmp_path / "hooked").exists()


def test_a_repository_is_ready_for_a_user(repo: Repository) -> None:
    assert user_git(repo.folder, "symbolic-ref", "HEAD") == "refs/heads/main\n"
    assert user_git(repo.folder, "config", "webarc.domain") == f"{DOMAIN}\n"
    assert user_git(repo.folder, "config", "core.autocrlf") == "false\n"
    assert "-text" in (repo.git_dir / "info/attributes").read_text()
    assert repo.tip() is None
    assert repo.commits() == []
    assert list(repo.changes_since(None)) == []
    repo.create()


def test_repositories_created_at_once_are_one(archive: Archive) -> None:
    code = """
import sys
from pathlib import Path
from webarc.archive.store import Archive
Archive.open(Path(sys.argv[1])).repository("both.example").create()
"""
    for process in [start(code, archive.root) for _ in range(4)]:
        finish(process)
    assert archive.repository("both.example").exists()
    assert list(archive.staging.iterdir()) == []


def test_a_commit_is_its_parent_and_the_changes(archive: Archive, repo: Repository) -> None:
    crawl(archive, {"a/data.html": b"1", "a/data.xml": b"x", "a/b/data.html": b"1", "c/data.html": b"1"})
    (repo.folder / "stray").write_text("not committed")
    crawl(archive, {"c/data.pdf": b"2"}, gone=["a/data.html", "a/data.xml", "c/data.html", "never/was"])
    assert committed(repo) == {"a/b/data.html": b"1", "c/data.pdf": b"2"}


def test_the_last_word_on_a_path_counts(repo: Repository) -> None:
    with repo.importer() as importer:
        importer.add_bytes("twice", b"1")
        importer.add_bytes("twice", b"2")
        importer.add_bytes("dropped", b"1")
        importer.drop("dropped")
        importer.drop("back")
        importer.add_bytes("back", b"1")
        importer.commit(None, message("1"), START, None)
    assert committed(repo) == {"twice": b"2", "back": b"1"}


def test_what_was_discarded_leaves_the_parents_file(repo: Repository) -> None:
    with repo.importer() as importer:
        importer.add_bytes("kept", b"old")
        first = importer.commit(None, message("1"), START, None)
    with repo.importer() as importer:
        importer.add_bytes("kept", b"new")
        importer.add_bytes("gone", b"new")
        importer.add_bytes("later", b"1")
        importer.discard("kept")
        importer.discard("gone")
        importer.discard("later")
        importer.add_bytes("later", b"2")
        importer.commit(first, message("2"), START, None)
    assert committed(repo) == {"kept": b"old", "later": b"2"}


@pytest.mark.parametrize(
    "name", ['"quoted"/x', "with space", "line\nend", "back\\slash", "dé/ü", "\udcff\udcfe", "-rf", "x\ty"]
)
def test_odd_names_are_kept(repo: Repository, name: str) -> None:
    with repo.importer() as importer:
        importer.add_bytes(name, b"x")
        importer.commit(None, message("1"), START, None)
    assert [path for path, _ in repo.files("main")] == [name]


def test_the_message_and_the_tag_tell_the_crawl(archive: Archive, repo: Repository) -> None:
    tag, _ = crawl(archive, {"a/data.html": b"1"})
    shown = user_git(repo.folder, "show", "--format=fuller", tag_name(tag))
    assert shown.startswith(f"tag {tag_name(tag)}\nTagger:     webarc <webarc@localhost>")
    assert "Commit:     webarc <webarc@localhost>" in shown
    assert "CommitDate: Sun Nov 15 12:00:00 2026 +0100" in shown
    assert user_git(repo.folder, "log", "--format=%s|%(trailers:key=Webarc-Kind,valueonly)").strip() == f"{tag}|crawl"
    assert user_git(repo.folder, "cat-file", "-t", tag_name(tag)) == "tag\n"


@pytest.mark.parametrize(
    "domain",
    ["example.org:8080", "[2001:db8::1]", "a..b", "x.lock", "end.", "h@{x", "~^?*\\ ", ".".join(["a" * 60] * 4), "con"],
)
def test_every_crawl_can_be_tagged(archive: Archive, domain: str) -> None:
    tag, _ = crawl(archive, {"a/data.html": b"1"}, domain=domain)
    folder = archive.repository(domain).folder
    assert user_git(folder, "log", "-1", "--format=%s", tag_name(tag)).rstrip("\n") == tag.rstrip()
    assert user_git(folder, "tag") == f"{tag_name(tag)}\n"


def test_tag_names_are_distinct_and_stay_as_they_are() -> None:
    tags = [
        f"2026-11-15T12:00:00@{host}" for host in ("a:1", "a.1", "a..1", "a.", "a.lock", "[a]", "b" * 300, "b" * 301)
    ]
    names = {tag_name(tag) for tag in tags}
    assert len(names) == len(tags)
    assert {tag_name(name) for name in names} == names
    for name in names:
        subprocess.run(["git", "check-ref-format", f"refs/tags/{name}"], check=True)
        assert len(name) < 250


def test_a_main_that_moved_meanwhile_is_not_overwritten(repo: Repository) -> None:
    with repo.importer() as slow:
        slow.add_bytes("slow", b"1")
        with repo.importer() as fast:
            fast.add_bytes("fast", b"1")
            tip = fast.commit(None, message("fast"), START, None)
        with pytest.raises(GitProblem, match="fast-import"):
            slow.commit(None, message("slow"), START, None)
    assert repo.tip() == tip
    assert committed(repo) == {"fast": b"1"}


def test_a_commit_is_durable_when_it_is_told(archive: Archive, repo: Repository, tmp_path: Path) -> None:
    code = """
import sys
from pathlib import Path
from tests.archives import START, message
from webarc.archive.store import Archive
with Archive.open(Path(sys.argv[1])).repository("example.org").importer() as importer:
    importer.add_bytes("a/data.html", b"x")
    print(importer.commit(None, message("1"), START, "1"), flush=True)
"""
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed, so nobody can see whether the commit reaches the disk")
    trace = tmp_path / "trace"
    prefix = ["strace", "-f", "-y", "-o", str(trace), "-e", "trace=fsync,write"]
    finish(start(code, archive.root, prefix=prefix))
    calls = [call.split(" ", 1)[1].strip() for call in trace.read_text().splitlines()]
    told = max(number for number, call in enumerate(calls) if call.startswith("write(1<"))
    synced = " ".join(call for call in calls[:told] if call.startswith("fsync("))
    for name in (
        "/tmp_pack_",
        "/tmp_idx_",
        "refs/heads/main.lock",
        "refs/tags/1.lock",
        "/objects/pack>",
        "/refs/heads>",
        "/refs/tags>",
    ):
        assert name in synced


def test_a_large_file_is_never_in_memory(archive: Archive, repo: Repository, tmp_path: Path) -> None:
    big = tmp_path / "big"
    size = 200 * 1024 * 1024
    with big.open("wb") as file:
        file.truncate(size)
    code = """
import resource, sys
from pathlib import Path
from tests.archives import START, message
from webarc.archive.store import Archive
with Archive.open(Path(sys.argv[1])).repository("example.org").importer() as importer:
    importer.add("big", Path(sys.argv[2]))
    importer.commit(None, message("1"), START, None)
# Not getrusage, whose peak of a process is at least that of the one which started it: here, of all tests before.
mine = Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0]
print(mine, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""
    mine, gits = map(int, finish(start(code, archive.root, big)).split())
    assert max(mine, gits) < 80 * 1024
    with repo.reader() as reader, (tmp_path / "copy").open("wb") as copy:
        assert reader.copy("main:big", copy)
    assert (tmp_path / "copy").stat().st_size == size


def test_memory_does_not_grow_with_the_number_of_files(repo: Repository) -> None:
    with repo.importer() as importer:
        for number in range(2_000):
            importer.add_bytes(f"warm/{number}", b"x")
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for number in range(100_000):
            importer.add_bytes(f"some/rather/long/folder/name/{number}/data.html", b"x")
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    # 100,000 paths in a list of strings would be 10 MB and more.
    assert grown < 8 * 1024


@pytest.mark.parametrize("length", [1_500_000, 4_500_000])
def test_a_file_of_another_length_is_refused_and_spoils_nothing(repo: Repository, length: int) -> None:
    pack = BlobPack(repo.git_dir)
    first = pack.add(b"first")
    with pytest.raises(StorageProblem, match="changed its length"):
        pack.add_pieces(3_000_000, [os.urandom(length)])
    last = pack.add_pieces(6, [b"la", b"s", b"t", b"", b"!!"])
    pack.install()
    subprocess.run(["git", "fsck", "--strict", "--full"], cwd=repo.folder, check=True)
    with repo.reader() as reader:
        assert (reader.read(first), reader.read(last)) == (b"first", b"last!!")


def test_a_file_that_is_not_there_spoils_nothing(repo: Repository, tmp_path: Path) -> None:
    with repo.importer() as importer:
        with pytest.raises(StorageProblem, match=r"reading .*missing"):
            importer.add("x", tmp_path / "missing")
        importer.add_bytes("y", b"1")
        importer.commit(None, message("1"), START, None)
    assert committed(repo) == {"y": b"1"}


def test_an_abandoned_import_leaves_nothing(repo: Repository) -> None:
    before = sorted(repo.git_dir.rglob("*"))
    with repo.importer() as importer:
        importer.add_bytes("a", os.urandom(3_000_000))
        importer.add_bytes("b", b"x" * 2_000_000)
    assert sorted(repo.git_dir.rglob("*")) == before
    importer.abort()
    with pytest.raises(GitProblem, match="already ended"):
        importer.add_bytes("c", os.urandom(3_000_000))


def test_a_forked_child_imports_while_its_parent_goes_on(repo: Repository) -> None:
    child = os.fork()
    if not child:
        status = 1
        try:
            with repo.importer() as importer:
                importer.add_bytes("a/data.html", b"1")
                importer.commit(None, message("1"), START, "1")
            status = 0
        finally:
            os._exit(status)
    with repo.reader() as reader:
        assert reader.read("main:nothing") is None
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert committed(repo) == {"a/data.html": b"1"}


IMPORT = """
import os, sys, time
from pathlib import Path
from tests.archives import START, message
from webarc.archive.store import Archive
repo = Archive.open(Path(sys.argv[1])).repository("example.org")
with repo.importer() as importer:
    for number in range(300):
        importer.add_bytes(f"new/{number}", os.urandom(10_000))
    print("fed", flush=True)
    time.sleep(60)
"""


def test_a_killed_import_leaves_the_old_state(archive: Archive, repo: Repository) -> None:
    crawl(archive, {"a/data.html": b"1"})
    tip = repo.tip()
    with running(IMPORT, archive.root) as process:
        killed(process)
    with archive.lock_tree(DOMAIN):
        assert mend(repo) == []
    assert repo.tip() == tip
    assert committed(repo) == {"a/data.html": b"1"}
    crawl(archive, {"a/data.html": b"2"})
    assert committed(repo) == {"a/data.html": b"2"}
    user_git(repo.folder, "fsck", "--strict")


def test_a_killed_git_is_an_error(repo: Repository) -> None:
    running = FastImport(repo.git_dir)
    os.kill(running.pid, 9)
    with pytest.raises(GitProblem, match="signal 9"):
        running.send(b"blob\ndata 3000000\n", os.urandom(3_000_000))
    running.abort()


def test_a_refused_commit_takes_its_pack_along(archive: Archive, repo: Repository) -> None:
    crawl(archive, {"a/data.html": b"1"})
    before = sorted(repo.git_dir.rglob("*"))
    with repo.importer() as importer, pytest.raises(GitProblem):
        importer.add_bytes("a/data.html", os.urandom(3_000_000))
        importer.commit("1" * 40, message("2"), START, None)
    assert sorted(repo.git_dir.rglob("*")) == before
    assert committed(repo) == {"a/data.html": b"1"}


def test_a_commit_whose_tag_is_refused_keeps_its_blobs(repo: Repository) -> None:
    page = os.urandom(3_000_000)
    with repo.importer() as importer:
        importer.add_bytes("a/data.html", b"1")
        importer.commit(None, message("1"), START, None)
    user_git(repo.folder, "update-ref", "refs/tags/tag/below", "main")
    with repo.importer() as importer, pytest.raises(GitProblem):
        importer.add_bytes("a/data.html", page)
        importer.commit(repo.tip(), message("2"), START, "tag")
    assert committed(repo) == {"a/data.html": page}


@pytest.mark.parametrize("seed", range(3))
def test_git_agrees_with_a_pack_of_ours(repo: Repository, seed: int) -> None:
    chance = Random(seed)
    sizes = [0, 1, 15, 16, 17, 2047, 2048, 262_143, 262_144, 300_000, *(chance.randrange(5000) for _ in range(300))]
    blobs = [chance.randbytes(size) if chance.random() < 0.5 else b"ab" * (size // 2) for size in sizes]
    pack = BlobPack(repo.git_dir)
    names = [pack.add(blob) for blob in [*blobs, *blobs[:20]]]
    assert pack.add_pieces(5, [b"ab", b"abx"]) != pack.add_pieces(4, [b"ab", b"ab"])
    pack.install()
    (place,) = (repo.git_dir / "objects/pack").glob("*.pack")
    subprocess.run(["git", "index-pack", "--strict", "-o", repo.folder / "theirs", place], check=True)
    assert (repo.folder / "theirs").read_bytes() == place.with_suffix(".idx").read_bytes()
    with repo.reader() as reader:
        assert list(reader.read_many(names[: len(blobs)])) == blobs


def test_what_comes_after_the_pack_is_sealed_goes_to_git_with_the_commit(repo: Repository, tmp_path: Path) -> None:
    pages = {f"p{number}": os.urandom(200_000) for number in range(3)}
    large = tmp_path / "urls.xml"
    large.write_bytes(os.urandom(3_000_000))
    with repo.importer() as importer:
        for path, data in pages.items():
            importer.add_bytes(path, data)
        importer.seal()
        # Whoever takes the lock meanwhile clears away what the dead have left.
        assert leftovers.clear(repo.git_dir) == []
        importer.add_bytes("report", b"small")
        importer.add("large", large)
        importer.commit(None, message("1"), START, None)
    assert committed(repo) == pages | {"report": b"small", "large": large.read_bytes()}
    user_git(repo.folder, "fsck", "--full", "--strict")
    assert not list((repo.git_dir / "objects/pack").glob("tmp_*"))


def test_a_sealed_pack_that_is_not_committed_leaves_nothing(repo: Repository) -> None:
    before = sorted(repo.git_dir.rglob("*"))
    with repo.importer() as importer:
        importer.add_bytes("a", os.urandom(1_000_000))
        importer.seal()
    assert sorted(repo.git_dir.rglob("*")) == before


def test_a_pack_that_the_disk_altered_is_refused(repo: Repository) -> None:
    pack = BlobPack(repo.git_dir)
    pack.add(os.urandom(3_000_000))
    (place,) = (repo.git_dir / "objects/pack").glob("tmp_pack_*")
    with place.open("r+b") as file:
        file.seek(1000)
        file.write(b"altered")
    with pytest.raises(Damaged, match="does not return what was written"):
        pack.install()
    pack.discard()
    assert not list((repo.git_dir / "objects/pack").iterdir())


def test_the_history_is_told_oldest_first(archive: Archive, repo: Repository) -> None:
    first, _ = crawl(archive, {"a/data.html": b"1", "b/data.html": b"1"})
    second, _ = crawl(archive, {"a/data.html": b"2", "c/data.html": b"1"}, gone=["b/data.html"])
    user_git(repo.folder, "commit", "--allow-empty", "-m", "by hand")
    third, _ = crawl(archive, {}, kind="guest")
    commits = repo.commits()
    assert [(found.tag, found.kind) for found in commits] == [
        (first, "crawl"),
        (second, "crawl"),
        ("by hand", ""),
        (third, "guest"),
    ]
    assert times.text(commits[0].time) == times.text(START)
    assert commits[-1].id == repo.tip()
    assert repo.commits(after=commits[1].id) == commits[2:]
    assert repo.commits(after=repo.tip()) == []
    changed = dict(repo.changes_since(None))
    assert list(changed) == commits
    assert [(change.status, change.path) for change in changed[commits[0]]] == [
        ("A", "a/data.html"),
        ("A", "b/data.html"),
    ]
    blobs = dict(repo.files("main"))
    expected = [
        Change("M", "a/data.html", blobs["a/data.html"]),
        Change("D", "b/data.html", ""),
        Change("A", "c/data.html", blobs["c/data.html"]),
    ]
    assert changed[commits[1]] == expected == list(repo.changes(commits[1].id))
    assert changed[commits[2]] == changed[commits[3]] == []
    assert list(repo.changes(commits[0].id)) == changed[commits[0]]
    assert [found for found, _ in repo.changes_since(commits[1].id)] == commits[2:]


def test_an_unknown_commit_is_an_error(archive: Archive, repo: Repository) -> None:
    crawl(archive, {"a/data.html": b"1"})
    with pytest.raises(GitProblem):
        repo.commits(after="1" * 40)


def test_refs_are_found_packed_or_not(archive: Archive, repo: Repository) -> None:
    crawl(archive, {"a/data.html": b"1"})
    tip = repo.tip()
    user_git(repo.folder, "pack-refs", "--all")
    assert not (repo.git_dir / "refs/heads/main").exists()
    assert repo.tip() == tip
    assert repo.ref("refs/webarc/worktree") == tip
    assert repo.ref("refs/heads/other") is None
    crawl(archive, {"a/data.html": b"2"})
    assert repo.tip() != tip


def test_objects_are_read_one_by_one_and_many_at_once(archive: Archive, repo: Repository) -> None:
    files = {f"{number}/data.html": os.urandom(number * 37) for number in range(300)}
    crawl(archive, files)
    with repo.reader() as reader:
        assert reader.read("main:7/data.html") == files["7/data.html"]
        assert reader.read("main:nothing") is None
        assert reader.read("0" * 40) is None
        assert (reader.read("main:7") or b"").startswith(b"100644 data.html\0")
        assert list(reader.read_many(f"main:{path}" for path in [*files, "nothing"])) == [*files.values(), None]
        many = reader.read_many(f"main:{path}" for path in files)
        assert next(many) == b""
        assert reader.read("main:3/data.html") == files["3/data.html"]
        with pytest.raises(GitProblem, match="line end"):
            reader.read("main:a\nb")


def test_reading_waits_for_nobody(archive: Archive, repo: Repository) -> None:
    crawl(archive, {"a/data.html": b"1"})
    with archive.lock_tree(DOMAIN), repo.reader() as reader:
        assert reader.read("main:a/data.html") == b"1"


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 4 MB."""
    with small_file_system(tmp_path / "disk", 4) as place:
        yield place


def test_a_full_disk_makes_no_commit_and_a_later_run_succeeds(small_disk: Path) -> None:
    archive = Archive.create(small_disk / "archive")
    repo = archive.repository(DOMAIN)
    crawl(archive, {"a/data.html": b"1"})
    filler = small_disk / "filler"
    with archive.lock_tree(DOMAIN):
        tip = repo.tip()
        with pytest.raises(NoSpace, match="free some space"):
            commit(repo, {f"{number}": os.urandom(500_000) for number in range(12)})
        assert repo.tip() == tip
        mend(repo)
        assert not list((repo.git_dir / "objects/pack").glob("tmp_*"))
        filler.write_bytes(b"x" * (shutil.disk_usage(small_disk).free - 200_000))
        with pytest.raises(NoSpace):
            commit(repo, {"b": os.urandom(300_000)})
        filler.unlink()
    crawl(archive, {"a/data.html": b"2"})
    assert committed(repo) == {"a/data.html": b"2"}
    user_git(repo.folder, "fsck", "--strict")
