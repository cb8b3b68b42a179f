"""Packing: small packs do not pile up, nothing is ever lost, and nobody waits for it."""

from __future__ import annotations

import shutil
import subprocess
from hashlib import sha256
from pathlib import Path

import pytest

from tests.archives import finish, running, start, user_git
from tests.crawls import Webarc
from tests.histories import History
from tests.servers import Site
from webarc.archive import compaction, pending
from webarc.archive.blobpack import blob_name
from webarc.archive.store import Archive
from webarc.archive.temp_dirs import prune_staging
from webarc.archive.worktree import mend
from webarc.errors import GitProblem

HOLD_CRAWL = """
import sys, time
from pathlib import Path
from webarc.archive.store import Archive
with Archive.open(Path(sys.argv[1])).lock_crawl("example.org"):
    print("held", flush=True)
    time.sleep(60)
"""
COMPACT = """
import sys
from pathlib import Path
from webarc.archive import compaction
from webarc.archive.store import Archive
archive = Archive.open(Path(sys.argv[1]))
if sys.argv[2] == "tight":
    compaction.compact(archive, "example.org")
else:
    with archive.lock_crawl("example.org"):
        compaction.cheap(archive.repository("example.org"))
"""


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    return Archive.create(tmp_path / "archive")


def grown(archive: Archive, crawls: int, every: int = 0) -> History:
    """A site that was crawled often, tidied up as crawls do it."""
    site = History(archive)
    for number in range(crawls):
        site.crawl({f"p{number % 7}": f"{number} " * 300, "": f"home {number}"})
        assert compaction.tidy(archive, [site.domain], every) == []
    with archive.lock_tree(site.domain):
        mend(site.repo)
    return site


def everything(site: History) -> dict[str, bytes]:
    """Every object that the refs reach, by id."""
    names = user_git(site.repo.folder, "rev-list", "--objects", "--all").split("\n")
    ids = sorted({line.split(" ")[0] for line in names if line})
    with site.repo.reader() as reader:
        found = dict(zip(ids, reader.read_many(ids), strict=True))
    return {name: data for name, data in found.items() if isinstance(data, bytes)}


def assert_sound(site: History) -> None:
    complaints = subprocess.run(
        ["git", "-C", site.repo.folder, "fsck", "--full", "--strict"], capture_output=True, text=True
    )
    assert complaints.returncode == 0 and "error" not in complaints.stderr, complaints.stderr


def test_packs_loose_objects_and_tags_do_not_pile_up_over_300_crawls(archive: Archive) -> None:
    site = grown(archive, 300, every=20)
    size = compaction.size_of(site.repo)
    assert size.packs < 40 and size.loose == 0, size
    assert len(list((site.repo.git_dir / "refs" / "tags").iterdir())) < 25
    assert len(user_git(site.repo.folder, "tag").split()) == 300
    assert len(site.repo.commits()) == 300
    assert_sound(site)
    untidy = compaction.size_of(grown(Archive.create(archive.root.with_name("untidy")), 45).repo)
    assert untidy.packs == 45, "nothing tidies up unasked, so the figures above are its work"


def test_it_is_due_every_so_many_crawls(archive: Archive) -> None:
    site = grown(archive, 4)
    assert compaction.due(site.repo, 4) and not compaction.due(site.repo, 5)
    assert not compaction.due(site.repo, 0)
    assert compaction.tidy(archive, [site.domain], 4) == []
    assert not compaction.due(site.repo, 4)
    for number in range(3):
        site.crawl({"": str(number)})
    assert not compaction.due(site.repo, 4)
    site.crawl({"": "4"})
    assert compaction.due(site.repo, 4)


def test_the_command_packs_all_and_says_how_much_it_saved(webarc: Webarc) -> None:
    with Site({"/": "<a href=/a>a</a>", "/a": "x"}) as site:
        for number in range(5):
            lines = (sha256(str(line).encode()).hexdigest() for line in range(200))
            site.pages["/a"] = f"<title>{number}</title>" + "<p>".join(lines)
            webarc.crawl(site.url())
        versions = [webarc.document(site.url("/a"), f"main~{back}") for back in range(5)]
        result, temp = webarc.run("compact", "--json").objects()
        assert result["packsBefore"] == 5 and result["packs"] == 1 and result["loose"] == 0
        assert result["size"] < result["sizeBefore"] / 2
        assert temp == {"tempDirs": 0, "size": 0}
        assert [webarc.document(site.url("/a"), f"main~{back}") for back in range(5)] == versions
        folder = webarc.folder(site.url())
        assert len(webarc.git(site.url(), "tag").split()) == 5
        graph = next((folder / ".git" / "objects" / "info" / "commit-graphs").glob("*.graph")).read_bytes()
        assert b"BDAT" in graph, "the graph has no filters of changed paths"
        webarc.git(site.url(), "commit-graph", "verify")
        ran = webarc.run("compact", folder.name.replace("%_3A", ":"))
        assert ran.code == 0 and "1 -> 1" in ran.out
        assert webarc.crawl(site.url())["counts"]["unchanged"] == 2


def test_mistakes_get_a_sentence(webarc: Webarc) -> None:
    ran = webarc.run("compact")
    assert ran.code == 2 and "webarc init" in ran.err
    Archive.create(webarc.archive)
    ran = webarc.run("compact", "nowhere.example")
    assert ran.code == 2 and "nowhere.example" in ran.err and "Traceback" not in ran.err
    ran = webarc.run("compact", "--lock-wait", "soon")
    assert ran.code == 2 and "'soon'" in ran.err


def test_what_no_ref_names_is_kept(archive: Archive) -> None:
    site = grown(archive, 3)
    loose = archive.root / "mine"
    loose.write_text("perhaps of a crawl that has not committed yet")
    blob = user_git(site.repo.folder, "hash-object", "-w", str(loose)).strip()
    compaction.compact(archive, site.domain)
    assert user_git(site.repo.folder, "cat-file", "blob", blob) == loose.read_text()
    assert compaction.size_of(site.repo).loose == 0
    with archive.lock_crawl(site.domain):
        compaction.cheap(site.repo)
    assert user_git(site.repo.folder, "cat-file", "blob", blob) == loose.read_text()


@pytest.mark.parametrize("tightly", [True, False])
def test_an_import_that_is_under_way_finds_all_it_counts_on(archive: Archive, tightly: bool) -> None:
    site = grown(archive, 3)
    unnamed = archive.root / "unnamed"
    unnamed.write_text("already in git, but no ref names it")
    user_git(site.repo.folder, "hash-object", "-w", str(unnamed))
    with archive.lock_crawl(site.domain):
        compaction.cheap(site.repo)
    with site.repo.importer() as importer:
        # Git does not write again what it already has.
        importer.add_bytes("old/data.txt", unnamed.read_bytes())
        importer.add_bytes("new/data.txt", b"new" * 5_000_000)
        finish(start(COMPACT, archive.root, "tight" if tightly else "cheap"))
        tag = site.repo.commits()[-1].time
        importer.commit(site.repo.tip(), "by a crawl that ran meanwhile\n", tag, None)
    assert_sound(site)
    with site.repo.reader() as reader:
        assert reader.read("main:old/data.txt") == unnamed.read_bytes()


PACK_AND_DIE = """
import os, signal, sys
from pathlib import Path
from webarc.archive.store import Archive
archive = Archive.open(Path(sys.argv[1]))
repo = archive.repository("example.org")
repo.create()
with archive.lock_crawl("example.org"), archive.lock_tree("example.org"), repo.importer() as importer:
    for path, text in (("killed", "lost"), ("p0", sys.argv[2])):
        importer.add_bytes(f"{path}/data.html", text.encode() * 100_000)
    importer._opened().install()
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def killed(archive: Archive) -> History:
    """A domain whose last crawl was killed between its pack, part of which the history has already, and its commit."""
    site = History(archive)
    site.crawl({"p0": "here" * 100_000, "p1": "x"})
    with archive.lock_tree(site.domain):
        mend(site.repo)
    start(PACK_AND_DIE, archive.root, "here").communicate(timeout=60)
    return site


def blob(text: str) -> str:
    return blob_name(text.encode() * 100_000).hex()


def packs(site: History) -> set[str]:
    return {path.name for path in site.repo.git_dir.glob("objects/pack/*")}


@pytest.mark.parametrize("tightly", [True, False])
def test_the_pack_of_a_killed_crawl_is_no_damage_and_goes(archive: Archive, killed: History, tightly: bool) -> None:
    webarc, before = Webarc(archive.root), everything(killed)
    assert len(packs(killed)) == 6 and user_git(killed.repo.folder, "cat-file", "-t", blob("lost")) == "blob\n"
    if tightly:
        ran = webarc.run("verify", "--json")
        assert ran.code == 0 and [each for each in ran.objects() if each.get("finding") not in ("index", None)] == []
        assert webarc.run("status").code == 0
        assert webarc.run("compact").code == 0
        assert len(packs(killed)) == 2
    else:
        with archive.lock_crawl(killed.domain):
            compaction.cheap(killed.repo)
    assert user_git(killed.repo.folder, "cat-file", "-t", blob("lost"), check=False) == ""
    assert everything(killed) == before and blob("here") in before
    assert_sound(killed)
    assert list(killed.repo.git_dir.glob("webarc-pending/*")) == []


def test_a_first_crawl_that_was_killed_before_its_commit_is_no_damage(archive: Archive) -> None:
    start(PACK_AND_DIE, archive.root, "here").communicate(timeout=60)
    repo, webarc = archive.repository("example.org"), Webarc(archive.root)
    assert len(list(repo.git_dir.glob("objects/pack/*.pack"))) == 1
    for words in (("status",), ("verify",), ("list",)):
        ran = webarc.run(*words)
        assert ran.code == 0 and "gone" not in ran.out + ran.err, (words, ran.out, ran.err)
    compaction.compact(archive, "example.org")
    assert list(repo.git_dir.glob("objects/pack/*")) == []


def test_what_the_history_needs_stays_whatever_is_noted(archive: Archive) -> None:
    site = History(archive)
    site.crawl({"p0": "x" * 400_000})
    site.crawl({"p0": "y" * 400_000})
    assert list(site.repo.git_dir.glob("webarc-pending/*")) == []
    before = everything(site)
    # As if it had been killed right after its commit.
    for pack in site.repo.git_dir.glob("objects/pack/*.pack"):
        pending.note(site.repo.git_dir, pack.stem)
    assert pending.drop(site.repo.git_dir) == 0 and pending.noted(site.repo.git_dir) == []
    assert everything(site) == before
    pending.note(site.repo.git_dir, "pack-of-nothing")
    (index, *_) = site.repo.git_dir.glob("objects/pack/*.idx")
    pending.note(site.repo.git_dir, index.stem)
    index.rename(index.with_suffix(".aside"))
    with pytest.raises(GitProblem):
        pending.drop(site.repo.git_dir)
    assert index.with_suffix(".pack").exists()


def test_what_a_killed_import_of_gits_left_goes_as_well(archive: Archive) -> None:
    site = grown(archive, 2)
    git_dir = site.repo.git_dir
    (archive.root / "mine").write_text("lost")
    name = user_git(site.repo.folder, "hash-object", "-w", str(archive.root / "mine")).strip()
    command = ["git", "-C", site.repo.folder, "pack-objects", "-q", git_dir / "objects" / "pack" / "pack"]
    pack = subprocess.run(command, input=f"{name}\n", capture_output=True, text=True, check=True).stdout.strip()
    user_git(site.repo.folder, "prune-packed")
    (git_dir / "objects" / "pack" / f"pack-{pack}.keep").write_text("fast-import")
    compaction.compact(archive, site.domain)
    assert user_git(site.repo.folder, "cat-file", "-t", name, check=False) == ""
    assert_sound(site)


def test_a_crawl_is_never_waited_for_unasked(archive: Archive) -> None:
    site = grown(archive, 3)
    with running(HOLD_CRAWL, archive.root):
        assert compaction.tidy(archive, [site.domain], 1) == []
        assert compaction.size_of(site.repo).packs == 3
        webarc = Webarc(archive.root)
        other = History(archive, "other.example")
        other.crawl({"": "1"})
        ran = webarc.run("compact", "--lock-wait", "0")
        assert ran.code == 12 and "example.org is locked by" in ran.err
        assert "other.example" in ran.out and compaction.size_of(other.repo).packs == 1
        ran = webarc.run("compact", "--lock-wait", "0", "example.org")
        assert ran.code == 12 and ran.err.count("\n") == 1 and "nothing to pack" not in ran.err, ran.err


def test_a_failure_by_itself_is_only_a_warning(archive: Archive) -> None:
    site = grown(archive, 3)
    (site.repo.git_dir / "objects" / "info").mkdir(exist_ok=True)
    (site.repo.git_dir / "objects" / "info" / "commit-graphs").write_text("a file where git wants a folder")
    (warning,) = compaction.tidy(archive, [site.domain], 1)
    assert "does no harm" in warning and "commit-graph" in warning
    assert_sound(site)


def test_temp_dirs_of_dead_processes_go_but_not_what_can_be_resumed(archive: Archive) -> None:
    dead, resumable = archive.staging / "dead-1", archive.staging / "stopped-1"
    for place in (dead, resumable):
        (place / ".webarc").mkdir(parents=True)
        (place / "page").write_bytes(b"12345")
    (resumable / ".webarc" / "crawl.json").write_text("{}")
    with archive.new_staging("living") as living:
        assert prune_staging(archive) == (1, 5)
        assert sorted(archive.staging.iterdir()) == sorted([living.path, resumable])


RENAMES, REMOVALS = "rename,renameat,renameat2,link", "unlink,unlinkat"
KILLS = [("tight", RENAMES, 2), ("tight", REMOVALS, 3), ("tight", "fsync", 2), ("cheap", RENAMES, 2)]
EVERYWHERE = [
    (form, calls, number)
    for form in ("tight", "cheap")
    for calls, most in ((RENAMES, 10), (REMOVALS, 14), ("fsync", 12), ("write,pwrite64", 20))
    for number in range(1, most)
]


def check_after_kill(archive: Archive, form: str, calls: str, number: int) -> None:
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed, so nothing is killed in the middle of its work")
    site = grown(archive, 5)
    before = everything(site)
    prefix = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={calls}"]
    prefix += ["-e", f"inject={calls}:signal=SIGKILL:when={number}"]
    start(COMPACT, archive.root, form, prefix=prefix).communicate(timeout=60)
    assert_sound(site)
    assert everything(site) == before
    compaction.compact(archive, site.domain, wait=10)
    assert_sound(site)
    assert everything(site) == before
    names = [path.name for path in (site.repo.git_dir / "objects" / "pack").iterdir()]
    assert len(names) == 2 and all(name.startswith("pack-") for name in names), names


@pytest.mark.parametrize(("form", "calls", "number"), KILLS)
def test_killed_in_the_middle_nothing_is_lost(archive: Archive, form: str, calls: str, number: int) -> None:
    check_after_kill(archive, form, calls, number)


@pytest.mark.slow
@pytest.mark.parametrize(("form", "calls", "number"), EVERYWHERE)
def test_wherever_it_is_killed_nothing_is_lost(archive: Archive, form: str, calls: str, number: int) -> None:
    check_after_kill(archive, form, calls, number)
