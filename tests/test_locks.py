"""Locks: held by the living only, named in messages, one tree lock per process."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.archives import DOMAIN, PROJECT, finish, killed, running, start
from webarc.archive.store import Archive
from webarc.errors import Locked

HOLD = """
import sys, time
from pathlib import Path
from webarc.archive.store import Archive
archive = Archive.open(Path(sys.argv[1]))
with archive.lock_crawl("example.org"):
    print("held", flush=True)
    time.sleep(60)
"""
HOLD_TREE = HOLD.replace("lock_crawl", "lock_tree")
HOLD_SHARED = HOLD.replace('lock_crawl("example.org"', 'lock_tree("example.org", shared=True')


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    return Archive.create(tmp_path / "archive")


def test_a_held_lock_is_refused_by_the_name_of_its_holder(archive: Archive) -> None:
    with running(HOLD, archive.root) as holder:
        holder_named = rf"process {holder.pid} \(.*, since \d{{4}}-.*wait until it ends"
        with pytest.raises(Locked, match=holder_named):
            archive.lock_crawl(DOMAIN, wait=0).__enter__()


def test_other_domains_and_other_locks_are_free(archive: Archive) -> None:
    other = archive.lock_crawl("example.com", wait=0)
    with running(HOLD, archive.root) as holder, other, archive.lock_tree(DOMAIN, wait=0):
        assert holder.poll() is None


def test_a_lock_dies_with_its_process(archive: Archive) -> None:
    with running(HOLD, archive.root) as holder:
        killed(holder)
        with archive.lock_crawl(DOMAIN, wait=0), pytest.raises(Locked):
            archive.lock_crawl(DOMAIN, wait=0).__enter__()


def test_waiting_ends_when_the_holder_ends(archive: Archive) -> None:
    with running(HOLD, archive.root) as holder:
        waiter = start(HOLD.replace("time.sleep(60)", ""), archive.root)
        time.sleep(0.3)
        assert waiter.poll() is None
        killed(holder)
        assert finish(waiter) == "held\n"


def test_waiting_for_a_time_ends_in_time(archive: Archive) -> None:
    with running(HOLD, archive.root):
        began = time.monotonic()
        with pytest.raises(Locked):
            archive.lock_crawl(DOMAIN, wait=0.3).__enter__()
        assert 0.3 <= time.monotonic() - began < 5


def test_readers_of_a_work_tree_share_it(archive: Archive) -> None:
    with running(HOLD_SHARED, archive.root):
        with archive.lock_tree(DOMAIN, shared=True, wait=0):
            pass
        with pytest.raises(Locked):
            archive.lock_tree(DOMAIN, wait=0).__enter__()


def test_a_writer_of_a_work_tree_is_alone(archive: Archive) -> None:
    with running(HOLD_TREE, archive.root), pytest.raises(Locked):
        archive.lock_tree(DOMAIN, shared=True, wait=0).__enter__()


def test_a_process_has_at_most_one_tree_lock(archive: Archive) -> None:
    with archive.lock_tree(DOMAIN), pytest.raises(AssertionError):
        archive.lock_tree("example.com").__enter__()
    with archive.lock_tree("example.com"):
        pass


def test_a_crawl_lock_lives_on_in_a_forked_child(archive: Archive) -> None:
    code = """
import os, sys, time
from pathlib import Path
from webarc.archive.store import Archive
with Archive.open(Path(sys.argv[1])).lock_crawl("example.org"):
    child = os.fork()
    if not child:
        time.sleep(60)
        os._exit(0)
    print(child, flush=True)
    time.sleep(60)
"""
    process = start(code, archive.root)
    assert process.stdout is not None
    child = int(process.stdout.readline())
    try:
        killed(process)
        with pytest.raises(Locked, match="started and left behind"):
            archive.lock_crawl(DOMAIN, wait=0).__enter__()
    finally:
        os.kill(child, 9)
        process.communicate()
    with archive.lock_crawl(DOMAIN, wait=5):
        pass


def test_a_git_left_alone_keeps_the_lock_until_it_has_ended(archive: Archive) -> None:
    code = """
import os, sys, time
from pathlib import Path
from webarc.archive.fastimport import FastImport
from webarc.archive.store import Archive
archive = Archive.open(Path(sys.argv[1]))
repo = archive.repository("example.org")
repo.create()
with archive.lock_crawl("example.org"):
    importer = FastImport(repo.git_dir)
    # A second writer on the pipe keeps git waiting when this process is killed.
    keep = os.fork()
    if not keep:
        os.closerange(3, importer.fileno())
        os.closerange(importer.fileno() + 1, 100)
        time.sleep(60)
        os._exit(0)
    print(keep, importer.pid, flush=True)
    time.sleep(60)
"""
    process = start(code, archive.root)
    assert process.stdout is not None
    keep, _ = map(int, process.stdout.readline().split())
    try:
        killed(process)
        with pytest.raises(Locked):
            archive.lock_crawl(DOMAIN, wait=0.2).__enter__()
    finally:
        os.kill(keep, 9)
        process.communicate()
    with archive.lock_crawl(DOMAIN, wait=5):
        pass


def test_no_argument_of_the_holder_gets_into_the_lock_file(archive: Archive, tmp_path: Path) -> None:
    script = tmp_path / "webarc"
    script.write_text(HOLD.replace("sys.argv[1]", "sys.argv[-1]").replace("time.sleep(60)", ""))
    command = [sys.executable, script, "crawl", "--http-password", "secret", "https://user:secret@h/", archive.root]
    subprocess.run(command, env={**os.environ, "PYTHONPATH": str(PROJECT)}, check=True)
    (lock_file,) = archive.locks.glob("*.crawl")
    assert "webarc crawl\n" in lock_file.read_text()
    assert "secret" not in lock_file.read_text()
