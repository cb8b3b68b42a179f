"""`webarc verify`: silence about what is sound, a name for what is not, and a repair that keeps the evidence."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.archives import user_git
from tests.crawls import Webarc
from tests.histories import History, Page, eventful
from tests.servers import Page as Answer
from tests.servers import Site
from tests.test_recover import change, git, harm
from webarc.archive.store import Archive
from webarc.archive.worktree import mend

HOST = "example.org"


class Verdict:
    """What `webarc verify --json` said."""

    def __init__(self, webarc: Webarc, *arguments: str) -> None:
        ran = webarc.run("verify", "--json", *arguments)
        assert "internal error" not in ran.err and "Traceback" not in ran.err, ran.err
        *self.findings, self.summary = ran.objects()
        self.code, self.err = ran.code, ran.err
        self.damage = [each for each in self.findings if each["severity"] == "damaged"]
        self.repaired = [each for each in self.findings if each["severity"] == "repaired"]
        self.notes = [each for each in self.findings if each["severity"] == "note"]

    def kinds(self) -> set[str]:
        """Where damage was found."""
        return {each["finding"] for each in self.damage}


def sound(webarc: Webarc, *arguments: str) -> Verdict:
    """Verify, and find nothing wrong."""
    verdict = Verdict(webarc, *arguments)
    assert (verdict.code, verdict.damage, verdict.repaired) == (0, [], []), verdict.findings
    assert verdict.summary["summary"] == "sound"
    return verdict


@pytest.fixture
def history(webarc: Webarc) -> History:
    """A domain with everything that can happen to an ARC."""
    site = History(Archive.create(webarc.archive))
    list(eventful(site))
    return site


def pages(count: int = 4) -> dict[str, Any]:
    """A small site."""
    return {"/": "".join(f"<a href=/p{n}>{n}</a>" for n in range(count)), **{f"/p{n}": f"<p>{n}" for n in range(count)}}


@pytest.fixture
def crawled(webarc: Webarc) -> Iterator[tuple[Webarc, Site, Path]]:
    """An archive after three crawls, the site, and its folder."""
    with Site(pages(), etags=True) as site:
        for step in range(3):
            site.pages["/p1"] = f"<p>changed in {step}"
            webarc.crawl(site.url())
        yield webarc, site, webarc.folder(site.url())


# -- nothing is wrong -------------------------------------------------------------------------------------------


def test_many_crawls_guests_and_new_types_are_sound(webarc: Webarc) -> None:
    with Site(etags=True) as site, Site({"/x.css": Answer("p{}", type="text/css")}, host="127.0.0.2") as guest:
        for step in range(6):
            change(site, step)
            site.pages["/p8"] = f"<link rel=stylesheet href={guest.url('/x.css')}><p>{step}"
            guest.pages["/x.css"] = Answer(f"p{{top:{step}}}", type="text/css")
            more = ("--prune", "unreached") if step == 4 else ()
            webarc.run("crawl", "--tries", "1", "--requisites-from-anywhere", "--allow-private", *more, site.url())
        verdict = sound(webarc)
        assert verdict.notes == [] and verdict.summary["domains"] == 2
        assert verdict.summary["versions"] > 30 and verdict.summary["files"] > 30
        shutil.rmtree(webarc.archive / ".webarc" / "index.db.locks")
        (webarc.archive / ".webarc" / "index.db").unlink()
        assert [note["finding"] for note in sound(webarc).notes] == ["index"]
        assert sound(webarc).notes == []


def test_an_eventful_history_is_sound(webarc: Webarc, history: History) -> None:
    verdict = sound(webarc)
    assert verdict.summary["versions"] == 12
    # The user's own file, and the document that the user brought back by hand, are the user's business.
    assert all(note["finding"] in ("index", "bytes", "document") for note in verdict.notes), verdict.notes


def test_what_the_user_does_in_the_folder_is_no_damage(crawled: tuple[Webarc, Site, Path]) -> None:
    webarc, site, folder = crawled
    (folder / "notes.txt").write_text("mine")
    (folder / "p2" / "data.html").write_text("edited")
    site.pages["/p2"] = "<p>new"
    webarc.crawl(site.url())
    assert list((folder / ".webarc" / "rescued").rglob("data.html"))
    verdict = sound(webarc)
    assert [note["finding"] for note in verdict.notes] == ["worktree"] and "notes.txt" in verdict.notes[0]["what"]
    user_git(folder, "add", "notes.txt")
    user_git(folder, "commit", "-q", "-m", "my own")
    user_git(folder, "tag", "-a", "-m", "x", "mine")
    user_git(folder, "tag", "-a", "-m", "x", "of-mine", "mine")
    user_git(folder, "pack-refs", "--all")
    assert sound(webarc).notes == []
    (folder / "notes.txt").write_text("mine, changed")
    assert sound(webarc).notes[0]["path"] == "notes.txt"
    user_git(folder, "checkout", "-q", "-f", user_git(folder, "tag").split()[0])
    site.pages["/p2"] = "<p>newer"
    webarc.crawl(site.url())
    (folder / "p1" / "data.html").write_text("mine")
    assert {note["finding"] for note in sound(webarc).notes} == {"worktree"}
    user_git(folder, "checkout", "-q", "-f", "main")
    subprocess.run(["git", "init", "-q", str(webarc.archive / "of-mine")], check=True)
    (note,) = sound(webarc).notes
    assert note["domain"] == "of-mine" and "not webarc's" in note["what"]


ALTERED = {
    "bytes": ({"a/data.html": b"mine"}, {"a/data.html": "bytes"}),
    "document": ({"a/data.xml": b"<arc>mine</arc>"}, {"a/data.xml": "document"}),
    "both": ({"a/data.html": b"mine", "a/data.xml": b"mine"}, {"a/data.html": "bytes", "a/data.xml": "document"}),
    "removed": ({"a/data.html": None, "a/data.xml": None}, {"a/data.html": "bytes", "a/data.xml": "document"}),
}


@pytest.mark.parametrize("how", ALTERED)
def test_a_page_that_the_user_altered_by_a_commit_is_named_until_a_crawl_brings_it(webarc: Webarc, how: str) -> None:
    site = History(Archive.create(webarc.archive))
    site.crawl({"a": "1", "b": "1"})
    changes, expected = ALTERED[how]
    site.commit(changes, "mine", "")
    commit = git(site.repo.folder, "rev-parse", "main")[:12]
    notes = sound(webarc).notes
    named = {note["path"]: note for note in notes if f"the commit {commit}" in note["what"]}
    assert {path: note["finding"] for path, note in named.items()} == expected, notes
    for note in named.values():
        assert note["url"] == site.url("a") and f"git revert {commit}" in note["cure"]
    assert not [note for note in notes if note["path"] in named and note not in named.values()], "said once only"
    site.crawl({"a": "2"})
    assert [note for note in sound(webarc).notes if "the commit" in note["what"]] == []


def test_a_users_commit_that_is_taken_back_or_touches_no_page_is_not_named(webarc: Webarc) -> None:
    site = History(Archive.create(webarc.archive))
    site.crawl({"a": "1", "b": "1"})
    site.commit({"a/data.html": b"mine", "b/data.xml": None}, "mine", "")
    user_git(site.repo.folder, "reset", "-q", "--hard")
    user_git(site.repo.folder, "revert", "--no-edit", "HEAD")
    site.commit({"own/data.html": b"mine", "README": b"mine"}, "a page of mine", "")
    site.commit({"own/data.html": b"mine again"}, "and again", "")
    assert [note for note in sound(webarc).notes if "the commit" in note["what"]] == []


def test_webarcs_own_commits_are_never_taken_for_the_users(webarc: Webarc) -> None:
    site = History(Archive.create(webarc.archive))
    tag = site.crawl({"a": "1", "b": "1", "c": "1"})
    document = site.document("a", Page("1"), "2026-01-01 01:00:00")
    site.commit({"a/data.files/words.txt": b"7"}, tag, "add")
    site.commit({"a/data.xml": document.replace(b"<data/>", b"<data><words>7</words></data>")}, tag, "node")
    site.commit({".webarc/checks/2026-01-01.xml": b"<checks/>"}, "checks", "checks")
    site.crawl({"b": "2"}, kind="guest")
    site.crawl({"a": "2"}, gone=("b",))
    ran = webarc.run("forget", site.url("c"), "--reason", "asked to", "--yes")
    assert ran.code == 0, ran.err
    assert "Webarc-Kind: forget" in git(site.repo.folder, "log", "--format=%B", "main")
    assert sound(webarc).notes == []


def test_a_stopped_crawl_is_no_damage(crawled: tuple[Webarc, Site, Path]) -> None:
    webarc, site, folder = crawled
    site.pages["/p3"] = Answer("<p>slow", delay=30.0)
    site.pages["/p0"] = "<p>fast"
    crawl = webarc.start("crawl", site.url())
    while not site.asked("/p3")[3:]:
        time.sleep(0.05)
    assert sound(webarc).notes == []
    crawl.kill()
    crawl.communicate()
    for name in ("index.lock", "refs/heads/main.lock", "objects/pack/tmp_pack_x"):
        (folder / ".git" / name).write_bytes(b"")
    sound(webarc)
    (note,) = [note for note in sound(webarc, "--repair").notes if note["finding"] == "repository"]
    assert "3 files that killed processes left" in note["what"]
    assert not list(folder.glob(".git/**/*.lock")) and not list(folder.glob(".git/objects/pack/tmp_*"))


def test_a_work_tree_that_a_killed_crawl_left_behind_is_brought(crawled: tuple[Webarc, Site, Path]) -> None:
    webarc, _, folder = crawled
    first, second = git(folder, "rev-list", "--max-count=2", "main").split()
    git(folder, "update-ref", "refs/webarc/worktree", second)
    git(folder, "checkout", "-q", second, "--", ".")
    assert b"changed in 1" in (folder / "p1" / "data.html").read_bytes()
    sound(webarc)
    assert b"changed in 2" in (folder / "p1" / "data.html").read_bytes()
    assert git(folder, "rev-parse", "refs/webarc/worktree") == first


def test_crawls_that_go_on_meanwhile_raise_no_alarm(webarc: Webarc) -> None:
    count = iter(range(10**6))
    with Site({"/": pages()["/"]}, otherwise=lambda request: f"<p>{next(count)}") as site:
        crawl = webarc.start("crawl", "--interval", "1s", site.url())
        while not (webarc.folder(site.url()) / "p1" / "data.html").exists():
            time.sleep(0.05)
        seen = [sound(webarc).summary["versions"] for _ in range(5)]
        crawl.terminate()
        assert crawl.wait() in (0, 13, -15) and len(set(seen)) > 1
        assert sound(webarc).summary["versions"] >= seen[-1] > 8


def test_forgotten_and_thinned_versions_leave_no_alarm(crawled: tuple[Webarc, Site, Path]) -> None:
    webarc, site, folder = crawled
    sound(webarc)
    ran = webarc.run("forget", site.url("/p2"), "--reason", "asked to", "--yes")
    assert ran.code == 0, ran.err
    assert sound(webarc, "--since-last").notes == []
    ran = webarc.run("retain", "--keep", "last=1", site.domain, "--yes")
    assert ran.code == 0, ran.err
    site.pages["/p1"] = "<p>again"
    webarc.crawl(site.url())
    assert sound(webarc).notes == []
    assert not (folder / ".git" / "webarc-replaced").exists()


# -- something is wrong -----------------------------------------------------------------------------------------


def test_a_damaged_object_is_named_by_url_and_version(crawled: tuple[Webarc, Site, Path]) -> None:
    webarc, site, folder = crawled
    tag = git(folder, "log", "--format=%s", "-1", "main~1")
    harm(folder, git(folder, "rev-parse", "main~1:p1/data.html"))
    verdict = Verdict(webarc)
    (found,) = verdict.damage
    assert verdict.code == 11
    named = (found["finding"], found["url"], found["version"], found["commitTag"], found["path"])
    assert named == ("bytes", site.url("/p1"), 2, tag, "p1/data.html")
    assert "--repair" in found["cure"] and "backup" in found["cure"]
    words = webarc.run("verify").out
    assert site.url("/p1") in words and "version 2" in words and tag in words and "1 damaged" in words
    # The bytes are nowhere else, so they stay lost, and that is said again.
    (left,) = Verdict(webarc, "--repair").damage
    assert left["path"] == "p1/data.html" and "backup" in left["cure"] and "--repair" not in left["cure"]


def test_a_lost_object_comes_back_from_the_work_tree(crawled: tuple[Webarc, Site, Path]) -> None:
    webarc, _, folder = crawled
    for path in ("p1/data.html", "p2/data.xml"):
        harm(folder, git(folder, "rev-parse", f"main:{path}"))
    before = Verdict(webarc)
    assert {each["path"] for each in before.damage} == {"p1/data.html", "p2/data.xml"}
    verdict = Verdict(webarc, "--repair")
    assert verdict.code == 10 and verdict.damage == []
    assert {each["path"] for each in verdict.repaired} == {"p1/data.html", "p2/data.xml"}
    assert len(list((folder / ".git" / "webarc-replaced").rglob("objects/??/*"))) == 2
    sound(webarc)
    git(folder, "fsck", "--full")


def test_a_damaged_pack_gives_back_all_but_what_is_lost(crawled: tuple[Webarc, Site, Path]) -> None:
    webarc, site, folder = crawled
    user_git(folder, "repack", "-q", "-a", "-d")
    (pack,) = folder.glob(".git/objects/pack/*.pack")
    blob = git(folder, "rev-parse", "main:p3/data.html")
    flip_object(folder, pack, blob)
    verdict = Verdict(webarc)
    assert {each.get("path") for each in verdict.damage} == {"p3/data.html", f".git/objects/pack/{pack.name}"}
    verdict = Verdict(webarc, "--repair")
    assert (verdict.code, verdict.damage) == (10, [])
    assert (folder / ".git" / "webarc-replaced").exists() and not pack.exists()
    assert git(folder, "cat-file", "blob", blob) == "<p>3"
    sound(webarc)
    webarc.crawl(site.url())


ENVELOPES: dict[str, Callable[[bytearray], None]] = {
    "hash": lambda data: data.__setitem__(-10, data[-10] ^ 1),
    "no hash": lambda data: data.__delitem__(slice(-20, None)),
    "half a hash": lambda data: data.__delitem__(slice(-9, None)),
    "empty hash": lambda data: data.__setitem__(slice(-20, None), bytes(20)),
    "magic": lambda data: data.__setitem__(2, data[2] ^ 1),
    "version": lambda data: data.__setitem__(7, data[7] ^ 1),
    "count": lambda data: data.__setitem__(11, data[11] ^ 4),
}


def spoil(path: Path, how: Callable[[bytearray], None]) -> bytes:
    """Damage a file; returns what it is then."""
    data = bytearray(path.read_bytes())
    how(data)
    path.chmod(0o644)
    path.write_bytes(data)
    return bytes(data)


@pytest.mark.parametrize("index", ["whole", "gone", "garbage"])
@pytest.mark.parametrize("harm", ENVELOPES)
def test_a_pack_whose_objects_are_whole_is_mended(webarc: Webarc, harm: str, index: str) -> None:
    site = History(Archive.create(webarc.archive))
    site.crawl({"a": "1", "b": "1"})
    (pack,) = site.repo.git_dir.glob("objects/pack/*.pack")
    before = pack.read_bytes(), pack.with_suffix(".idx").read_bytes()
    damaged = spoil(pack, ENVELOPES[harm])
    if index == "gone":
        pack.with_suffix(".idx").unlink()
    elif index == "garbage":
        spoil(pack.with_suffix(".idx"), lambda data: data.__setitem__(1200, data[1200] ^ 1))
    named = {each.get("path", "") for each in Verdict(webarc).damage}
    assert f".git/objects/pack/{pack.name}" in named or index == "garbage", named
    verdict = Verdict(webarc, "--repair")
    assert (verdict.code, verdict.damage) == (10, []), (verdict.findings, verdict.err)
    assert (pack.read_bytes(), pack.with_suffix(".idx").read_bytes()) == before
    kept = site.repo.git_dir.glob(f"webarc-replaced/*/objects/pack/{pack.name}")
    assert [path.read_bytes() for path in kept] == [damaged]
    assert any(Path(each.get("kept", "/")).name == pack.name for each in verdict.repaired) or index == "garbage"
    assert sound(webarc).summary["versions"] == 2


@pytest.mark.parametrize("harm", ["hash", "magic"])
def test_any_of_several_packs_is_mended(webarc: Webarc, harm: str) -> None:
    site = History(Archive.create(webarc.archive))
    for step in range(7):
        site.crawl({"a": str(step), "b": str(step)})
    packs = sorted(site.repo.git_dir.glob("objects/pack/*.pack"))
    assert len(packs) == 7
    before = {pack: pack.read_bytes() for pack in packs}
    for pack in packs[1::2]:
        spoil(pack, ENVELOPES[harm])
    named = {each.get("path") for each in Verdict(webarc).damage}
    assert {f".git/objects/pack/{pack.name}" for pack in packs[1::2]} <= named
    assert Verdict(webarc, "--repair").code == 10
    assert {pack: pack.read_bytes() for pack in packs} == before
    assert sound(webarc).summary["versions"] == 14


def test_a_pack_goes_only_if_all_that_can_be_read_from_it_is_elsewhere(webarc: Webarc) -> None:
    site = History(Archive.create(webarc.archive))
    site.crawl({"a": "1", "b": "1"})
    (pack,) = site.repo.git_dir.glob("objects/pack/*.pack")
    names = set(git(site.repo.folder, "cat-file", "--batch-all-objects", "--batch-check=%(objectname)").split())
    tag = git(site.repo.folder, "rev-parse", "--verify", next(iter(git(site.repo.folder, "tag").split())))
    flip_object(site.repo.folder, pack, tag)
    spoil(pack, ENVELOPES["magic"])
    spoil(pack, ENVELOPES["hash"])
    verdict = Verdict(webarc, "--repair")
    assert (verdict.code, verdict.damage) == (10, []), (verdict.findings, verdict.err)
    listed = git(site.repo.folder, "cat-file", "--batch-all-objects", "--batch-check=%(objectname)").split()
    assert names <= set(listed)
    sound(webarc)


def test_a_pack_from_which_nothing_can_be_read_stays(webarc: Webarc) -> None:
    site = History(Archive.create(webarc.archive))
    site.crawl({"a": "1"})
    (pack,) = site.repo.git_dir.glob("objects/pack/*.pack")
    pack.with_suffix(".idx").unlink()
    damaged = spoil(pack, lambda data: data.__setitem__(slice(12, None), bytes(len(data) - 12)))
    verdict = Verdict(webarc, "--repair")
    assert verdict.code == 11 and pack.read_bytes() == damaged
    assert any(pack.name in each["what"] and "backup" in each["what"] for each in verdict.notes), verdict.notes


@pytest.fixture
def folders(webarc: Webarc) -> History:
    """A site with folders, crawled three times and indexed; its last crawl brought a new page."""
    site = History(Archive.create(webarc.archive))
    site.crawl({"docs/x": "1", "docs/y": "1", "docs/z": "1", "p": "1"}, urls=[site.outcome("p")])
    site.crawl({"docs/x": "2", "docs/y": "2", "p": "2"}, urls=[site.outcome("docs/x"), site.outcome("p")])
    site.crawl({"docs/x": "3", "new": "1"}, urls=[site.outcome("p")])
    assert webarc.run("list").code == 0
    return site


# The tree that is damaged: its path, the URL and version of a finding, the URLs that are named, and those that are not.
TREES: dict[str, tuple[str | None, str | None, int | None, list[str], list[str]]] = {
    "main~1:p": ("p", "p", 2, ["p"], []),
    "main~1:docs": ("docs", None, None, ["docs/x", "docs/y"], ["docs/z", "/p"]),
    "main~1:docs/x": ("docs/x", "docs/x", 2, ["docs/x"], ["docs/y"]),
    "main~1^{tree}": (None, None, None, ["docs/x", "docs/y", "p"], ["docs/z"]),
    "main:new": ("new", "new", 1, [], []),
    "main~1:.webarc": (".webarc", None, None, [], ["docs/x"]),
}


@pytest.mark.parametrize("tree", TREES)
def test_a_damaged_folder_is_named_by_what_it_held(webarc: Webarc, folders: History, tree: str) -> None:
    path, url, version, named, others = TREES[tree]
    folder = folders.repo.folder
    harm(folder, name := git(folder, "rev-parse", tree))
    tag = git(folder, "log", "-1", "--format=%s", tree.partition(":")[0].removesuffix("^{tree}"))
    verdict = Verdict(webarc)
    (found,) = verdict.damage
    assert verdict.code == 11 and (found["finding"], found["object"], found["commitTag"]) == ("object", name, tag)
    assert (found.get("path"), found.get("version")) == (path, version)
    assert found.get("url") == (folders.url(url) if url else None)
    assert all(folders.url(each) in found["what"] for each in named), found["what"]
    assert not any(each in found["what"] for each in others), found["what"]


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("tree", [*TREES, "main~2:docs", "main~2:docs/x", "main~2:p", "main~2^{tree}"])
def test_a_damaged_folder_is_put_together_anew(webarc: Webarc, folders: History, tree: str, packed: bool) -> None:
    folder = folders.repo.folder
    name = git(folder, "rev-parse", tree)
    before = git(folder, "cat-file", "-p", name)
    if packed:
        user_git(folder, "repack", "-q", "-a", "-d", "--depth=0", "--window=0")
        (pack,) = folder.glob(".git/objects/pack/*.pack")
        flip_object(folder, pack, name)
    else:
        harm(folder, name)
    verdict = Verdict(webarc, "--repair")
    assert (verdict.code, verdict.damage) == (10, []), (verdict.findings, verdict.err)
    assert git(folder, "cat-file", "-p", name) == before
    sound(webarc)


def test_a_damaged_folder_that_several_crawls_share_names_them(webarc: Webarc, folders: History) -> None:
    folder = folders.repo.folder
    harm(folder, git(folder, "rev-parse", "main:p"))
    (found,) = Verdict(webarc).damage
    first, last = git(folder, "log", "--format=%s", "--reverse", "main~2..main").splitlines()
    assert (found["url"], found["version"], found["commitTag"]) == (folders.url("p"), 2, first)
    assert f"2 crawls, up to {last}" in found["what"]
    words = webarc.run("verify").out
    assert folders.url("p") in words and first in words and last in words


def test_a_damaged_folder_is_named_by_since_last_as_well(webarc: Webarc, folders: History) -> None:
    sound(webarc)
    folders.crawl({"docs/y": "4"})
    folder = folders.repo.folder
    harm(folder, git(folder, "rev-parse", "main:docs/y"))
    (found,) = Verdict(webarc, "--since-last").damage
    assert (found["url"], found["path"]) == (folders.url("docs/y"), "docs/y")


def flip_object(folder: Path, pack: Path, name: str) -> None:
    """Flip a bit in the packed bytes of one object."""
    listed = git(folder, "verify-pack", "-v", str(pack)).splitlines()
    _, _, _, size, offset = next(line.split()[:5] for line in listed if line.startswith(name))
    flip(pack, int(offset) + int(size) - 3)


def flip(path: Path, place: int, bit: int = 0) -> None:
    """Flip one bit and leave no other trace, as a rotting disk does."""
    status = path.stat()
    path.chmod(0o644)
    with path.open("r+b") as file:
        file.seek(place)
        byte = file.read(1)[0]
        file.seek(place)
        file.write(bytes([byte ^ (1 << bit)]))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


@pytest.mark.parametrize("harmed", ["bytes", "length", "domain", "tag", "nonsense"])
def test_a_document_that_does_not_fit_is_named(webarc: Webarc, harmed: str) -> None:
    site = History(Archive.create(webarc.archive))
    site.crawl({"a": "1", "b": "1"})
    moment = "2026-01-01 02:00:00"
    document = site.document("a", Page("two"), moment)
    wrong = {
        "bytes": (document, b"TWO"),
        "length": (document.replace(b"<length>3<", b"<length>4<"), b"two"),
        "domain": (document.replace(b"<domain>example.org<", b"<domain>example.com<"), b"two"),
        "tag": (document.replace(b"<commitTag>2026-01-01T02", b"<commitTag>2026-01-01T01"), b"two"),
        "nonsense": (document.replace(b"<status>200<", b"<status>fine<"), b"two"),
    }
    data, body = wrong[harmed]
    site.hours += 1
    site.commit({"a/data.xml": data, "a/data.html": body}, f"2026-01-01T02:00:00@{HOST}", "crawl")
    site.crawl({"b": "2"})
    verdict = Verdict(webarc)
    assert verdict.code == 11 and len(verdict.damage) == 1, verdict.findings
    (found,) = verdict.damage
    assert found["domain"] == HOST and found["url"].endswith("://example.org/a"), found
    assert found["finding"] == ("bytes" if harmed in ("bytes", "length") else "document")
    assert found["commitTag"] == f"2026-01-01T02:00:00@{HOST}" and "backup" in found["cure"]
    assert Verdict(webarc, "--repair").code == 11


@pytest.mark.parametrize("name", ["crawl.xml", "urls.xml"])
def test_a_report_that_cannot_be_read_is_named(webarc: Webarc, name: str) -> None:
    site = History(Archive.create(webarc.archive))
    site.crawl({"a": "1"}, urls=[site.outcome("a")])
    site.hours += 1
    tag = f"2026-01-01T02:00:00@{HOST}"
    site.commit({f".webarc/crawls/d1/{name}": b"<crawl/>"}, tag, "crawl")
    site.crawl({"a": "2"}, urls=[site.outcome("a")])
    (found,) = Verdict(webarc).damage
    assert (found["finding"], found["commitTag"], found["path"]) == ("report", tag, f".webarc/crawls/d1/{name}")


def test_files_of_the_work_tree_are_restored_and_the_others_kept(crawled: tuple[Webarc, Site, Path]) -> None:
    webarc, site, folder = crawled
    flip(folder / "p1" / "data.html", 2)
    (folder / "p2" / "data.xml").unlink()
    shutil.rmtree(folder / "p3")
    (folder / "p3").symlink_to("/etc")
    damaged = (folder / "p1" / "data.html").read_bytes()
    verdict = Verdict(webarc)
    expected = {"p1/data.html", "p2/data.xml", "p3/data.xml", "p3/data.html"}
    assert {each["path"] for each in verdict.damage} == expected and verdict.kinds() == {"worktree"}
    by_path = {each["path"]: each for each in verdict.damage}
    named = by_path["p1/data.html"]
    assert (named["url"], named["version"]) == (site.url("/p1"), 3)
    assert "moves it to .webarc/rescued/" in named["cure"]
    assert "brings it back" in by_path["p2/data.xml"]["cure"] and "moves" not in by_path["p2/data.xml"]["cure"]
    verdict = Verdict(webarc, "--repair")
    assert (verdict.code, verdict.damage) == (10, []) and {each["path"] for each in verdict.repaired} == expected
    kept = {each["path"]: Path(each["kept"]) for each in verdict.repaired if "kept" in each}
    assert kept.keys() == expected - {"p2/data.xml"} and kept["p1/data.html"].read_bytes() == damaged
    assert kept["p3/data.xml"].readlink() == Path("/etc") and verdict.notes == []
    assert all(place.is_relative_to(folder / ".webarc" / "rescued") for place in kept.values())
    rescued = list((folder / ".webarc" / "rescued").rglob("*"))
    assert [path.read_bytes() for path in rescued if path.name == "data.html"] == [damaged]
    assert b"changed in 2" in (folder / "p1" / "data.html").read_bytes()
    assert user_git(folder, "status", "--porcelain") == ""
    sound(webarc)


def test_a_repair_says_in_words_where_the_evidence_is(crawled: tuple[Webarc, Site, Path]) -> None:
    webarc, _, folder = crawled
    (folder / "p1" / "data.html").write_bytes(b"edited")
    pack, *_ = sorted(folder.glob(".git/objects/pack/*.pack"))
    spoil(pack, ENVELOPES["hash"])
    ran = webarc.run("verify", "--repair")
    kept = next(folder.glob(f".git/webarc-replaced/*/objects/pack/{pack.name}"))
    assert f"; what was there is kept in {kept}." in ran.out, ran.out
    # Depending on what is in the pack, it hid the edited file, which was then found and restored later.
    (file,) = (folder / ".webarc" / "rescued").glob("*/p1/data.html")
    assert f"; what was there is kept in {file}." in ran.out or f"what was replaced is kept in {file}." in ran.err
    (folder / "p1" / "data.html").write_bytes(b"edited again")
    ran = webarc.run("verify", "--repair")
    (again,) = (folder / ".webarc" / "rescued").glob("*-2/p1/data.html")
    assert f"; what was there is kept in {again}." in ran.out, ran.out


def test_an_edited_file_of_an_older_version_is_named_by_that_version(crawled: tuple[Webarc, Site, Path]) -> None:
    webarc, site, folder = crawled
    _, second, _ = sorted(git(folder, "tag").split())
    user_git(folder, "checkout", "-q", "-f", second)
    (folder / "p1" / "data.html").write_text("edited")
    (folder / "p2" / "data.html").write_text("edited")
    named = {note["path"]: note for note in sound(webarc).notes if "path" in note}
    assert named["p1/data.html"]["url"] == site.url("/p1")
    assert (named["p1/data.html"]["version"], named["p2/data.html"]["version"]) == (2, 1)
    assert named["p1/data.html"]["commitTag"] == second.replace("%3A", ":")


def test_tags_and_crawls_must_agree(crawled: tuple[Webarc, Site, Path]) -> None:
    webarc, _, folder = crawled
    first, second, third = sorted(git(folder, "tag").split())
    git(folder, "tag", "-d", first)
    git(folder, "update-ref", f"refs/tags/{second}", git(folder, "rev-parse", third))
    git(folder, "update-ref", "refs/tags/2020-01-01T00%3A00%3A00@x", git(folder, "rev-parse", third))
    verdict = Verdict(webarc)
    assert verdict.kinds() == {"tag"} and len(verdict.damage) == 3
    assert {each.get("commitTag", "") for each in verdict.damage} == {
        first.replace("%3A", ":"),
        second.replace("%3A", ":"),
        "",
    }
    verdict = Verdict(webarc, "--repair")
    assert (verdict.code, len(verdict.repaired)) == (10, 3)
    assert sorted(git(folder, "tag").split()) == [first, second, third]
    assert git(folder, "rev-parse", f"{second}^{{commit}}") == git(folder, "rev-parse", "main~1")
    notes = "".join(path.read_text() for path in (folder / ".git" / "webarc-replaced").rglob("notes"))
    assert f"refs/tags/{second} was" in notes
    sound(webarc)


def test_crawls_that_main_has_lost_are_named(crawled: tuple[Webarc, Site, Path]) -> None:
    webarc, _, folder = crawled
    newest = sorted(git(folder, "tag").split())[-1]
    git(folder, "reset", "-q", "--hard", "main~1")
    verdict = Verdict(webarc, "--repair")
    assert verdict.code == 11
    lost = [each for each in verdict.damage if each["finding"] == "tag"]
    assert lost[0]["path"] == f"refs/tags/{newest}" and f"git branch -f main {newest}" in lost[0]["cure"]
    assert newest in git(folder, "tag")


def test_head_main_and_settings_are_mended(crawled: tuple[Webarc, Site, Path]) -> None:
    webarc, site, folder = crawled
    inner = folder / ".git"
    tip = git(folder, "rev-parse", "main")
    harmed = {
        "HEAD": "rxf: refs/heads/main\n",
        "refs/heads/main": f"{tip[:-1]}{'0' if tip[-1] != '0' else '1'}\n",
        "config": "[core\n\tbare = false\n",
        "info/attributes": "* text\n",
        "index": "DIRC nonsense",
        "refs/webarc/worktree": "nonsense\n",
    }
    before = {name: (inner / name).read_text(errors="replace") for name in harmed}
    for name, content in harmed.items():
        (inner / name).write_text(content)
        verdict = Verdict(webarc)
        assert verdict.code == 11 and any(name in each.get("path", "") for each in verdict.damage), (
            name,
            verdict.damage,
        )
        if name in ("HEAD", "config"):
            # Git can read nothing without them; they are found whatever else is wrong.
            (inner / name).write_text(before[name])
    for name, content in harmed.items():
        (inner / name).write_text(content)
    verdict = Verdict(webarc, "--repair")
    assert (verdict.code, verdict.damage) == (10, []), (verdict.findings, verdict.err)
    for name, content in harmed.items():
        assert any(path.read_text() == content for path in inner.glob(f"webarc-replaced/*/{name}")), name
        assert name in ("index", "config") or (inner / name).read_text() == before[name]
    sound(webarc)
    assert webarc.crawl(site.url())["counts"]["unchanged"] == 5


def test_a_repository_restored_from_a_clone_is_made_webarcs_again(crawled: tuple[Webarc, Site, Path]) -> None:
    webarc, site, folder = crawled
    clone = webarc.archive.parent / "clone"
    subprocess.run(["git", "clone", "-q", str(folder), str(clone)], check=True)
    shutil.rmtree(folder)
    clone.rename(folder)
    verdict = Verdict(webarc)
    assert (verdict.code, verdict.damage) == (0, []), verdict.findings
    assert any("a clone, adopted now" in each.get("what", "") for each in verdict.findings)
    assert git(folder, "remote") == "origin" and git(folder, "config", "gc.auto") == "0"
    sound(webarc)
    assert webarc.crawl(site.url())["counts"]["unchanged"] == 5


def test_a_repository_without_main_is_noticed_before_its_rows_are_lost(crawled: tuple[Webarc, Site, Path]) -> None:
    webarc, site, folder = crawled
    file = webarc.archive / ".webarc" / "index.db"
    before = count_rows(file)
    (folder / ".git" / "refs" / "heads" / "main").unlink()
    verdict = Verdict(webarc)
    assert [each["path"] for each in verdict.damage] == ["refs/heads/main"] and count_rows(file) == before
    # A crawl would begin a new history.
    ran = webarc.run("crawl", site.url())
    assert ran.code == 11 and "webarc verify --repair" in ran.out + ran.err, (ran.out, ran.err)
    assert not (folder / ".git" / "refs" / "heads" / "main").exists() and count_rows(file) == before
    assert Verdict(webarc, "--repair").code == 10
    sound(webarc)


@pytest.mark.parametrize("harm", ["garbage", "empty", "gone", "of another pack"])
def test_the_index_of_a_pack_is_made_anew(webarc: Webarc, harm: str) -> None:
    site = History(Archive.create(webarc.archive))
    site.crawl({"a": "1"})
    site.crawl({"a": "2"})
    first, second = sorted(site.repo.git_dir.glob("objects/pack/*.idx"))
    before = first.read_bytes()
    first.chmod(0o644)
    if harm == "gone":
        first.unlink()
    else:
        first.write_bytes({"garbage": b"garbage", "empty": b""}.get(harm, second.read_bytes()))
    named = {each.get("path", "") for each in Verdict(webarc).damage}
    shown = f".git/objects/pack/{first.stem}"
    assert named & {f"{shown}.idx", f"{shown}.pack"}, named
    verdict = Verdict(webarc, "--repair")
    assert (verdict.code, verdict.damage) == (10, []), verdict.findings
    assert first.read_bytes() == before
    kept = list(site.repo.git_dir.glob(f"webarc-replaced/*/objects/pack/{first.name}"))
    assert len(kept) == (harm != "gone")
    assert sound(webarc).summary["versions"] == 2


def test_the_only_pack_gets_its_index_back(webarc: Webarc) -> None:
    site = History(Archive.create(webarc.archive))
    site.crawl({"a": "1"})
    (index,) = site.repo.git_dir.glob("objects/pack/*.idx")
    index.unlink()
    assert Verdict(webarc).code == 11
    assert Verdict(webarc, "--repair").code == 10
    assert sound(webarc).summary["versions"] == 1


SPOILT = [
    ("bare = false", "bare = falre"),
    ("bare = false", "bare = true"),
    ("bare = false", "bare = false\n\tbare = perhaps"),
    ("bare = false", "bare = false\n\tcompression = much"),
    ("repositoryformatversion = 0", "repositoryformatversion = 8"),
    ("auto = 0", "auto = o"),
    ("pruneExpire = never", "pruneExpire = nfver"),
    ("domain = example.org", "domain = exbmple.org"),
]


@pytest.mark.parametrize(("whole", "spoilt"), SPOILT)
def test_a_spoilt_setting_is_written_anew(webarc: Webarc, whole: str, spoilt: str) -> None:
    site = History(Archive.create(webarc.archive))
    site.crawl({"a": "1"})
    config = site.repo.git_dir / "config"
    before = config.read_text()
    harmed = before.replace(whole, spoilt) + "[user]\n\tname = somebody\n"
    assert harmed.count(spoilt) == 1
    config.write_text(harmed)
    verdict = Verdict(webarc)
    assert [each["path"] for each in verdict.damage] == [".git/config"] and verdict.code == 11
    assert Verdict(webarc, "--repair").code == 10
    assert any(kept.read_text() == harmed for kept in site.repo.git_dir.glob("webarc-replaced/*/config*"))
    # What the user set stays, unless git cannot work with it.
    user = "" if "compression" in spoilt else "[user]\n\tname = somebody\n"
    assert config.read_text().lower() == f"{before}{user}".lower()
    assert user_git(site.repo.folder, "log", "--format=%s").count("\n") == 1


def test_other_settings_of_the_users_choice_are_no_damage(webarc: Webarc) -> None:
    site = History(Archive.create(webarc.archive))
    site.crawl({"a": "1"})
    user_git(site.repo.folder, "config", "gc.auto", "6700")
    user_git(site.repo.folder, "config", "gc.pruneExpire", "2.weeks.ago")
    user_git(site.repo.folder, "config", "core.quotePath", "true")
    assert len([note for note in sound(webarc).notes if "tidy up" in note["what"]]) == 2


@pytest.mark.parametrize("known", ["packed", "tags packed", "logged", "nothing"])
def test_refs_that_were_removed_come_back(webarc: Webarc, known: str) -> None:
    site = History(Archive.create(webarc.archive))
    site.crawl({"a": "1"})
    site.crawl({"a": "2"})
    with site.archive.lock_tree(HOST):
        mend(site.repo)
    before = git(site.repo.folder, "for-each-ref")
    if "packed" in known:
        user_git(site.repo.folder, "pack-refs", *(["--all"] if known == "packed" else []))
    if known != "logged":
        shutil.rmtree(site.repo.git_dir / "logs")
    shutil.rmtree(site.repo.git_dir / "refs")
    verdict = Verdict(webarc, "--repair")
    assert (verdict.code, verdict.damage) == (10, []), verdict.findings
    assert [each["path"] for each in verdict.repaired] == [".git/refs"]
    assert git(site.repo.folder, "for-each-ref") == before
    assert sound(webarc).summary["versions"] == 2


def test_a_history_without_objects_is_not_sound(webarc: Webarc) -> None:
    site = History(Archive.create(webarc.archive))
    site.crawl({"a": "1"})
    shutil.rmtree(site.repo.git_dir / "objects")
    for more in ((), ("--repair",)):
        (found,) = Verdict(webarc, *more).damage
        assert found["path"] == ".git/objects" and "backup" in found["cure"]


def count_rows(file: Path) -> int:
    with sqlite3.connect(file) as index:
        (count,) = index.execute("SELECT COUNT(*) FROM version").fetchone()
    index.close()
    return int(count)


def alter(webarc: Webarc, sql: str) -> None:
    """Change the index behind webarc's back."""
    with sqlite3.connect(webarc.archive / ".webarc" / "index.db") as index:
        index.execute(sql)
    index.close()


def test_rows_of_the_index_that_git_does_not_bear_out_are_named(crawled: tuple[Webarc, Site, Path]) -> None:
    webarc, site, _ = crawled
    alter(webarc, "UPDATE version SET title = 'x' WHERE number = 2")
    alter(webarc, "DELETE FROM version WHERE arc = 'p2'")
    alter(webarc, "UPDATE crawl SET commit_tag = 'y' WHERE commit_tag = (SELECT MIN(commit_tag) FROM crawl)")
    alter(webarc, "UPDATE sighting SET status = 201 WHERE url LIKE '%p3'")
    verdict = Verdict(webarc)
    assert verdict.kinds() == {"index"} and len(verdict.damage) == 5
    title = next(each for each in verdict.damage if "title" in each["what"])
    assert (title["url"], title["version"]) == (site.url("/p1"), 2) and "'x' where git has None" in title["what"]
    ran = webarc.run("db-recover", "--verify", "--json")
    assert ran.code == 11 and len([each for each in ran.objects() if each.get("severity") == "damaged"]) == 5
    assert webarc.run("db-recover", "--verify", "nowhere.example").code == 2
    verdict = Verdict(webarc, "--repair")
    assert (verdict.code, len(verdict.repaired)) == (10, 5)
    kept = [path for path in (webarc.archive / ".webarc").glob("index.db.replaced-*") if "-wal" not in path.name]
    assert len(kept) == 1
    sound(webarc)
    ran = webarc.run("db-recover", "--verify")
    assert ran.code == 0 and "Sound: 7 versions of 1 domain" in ran.out


@pytest.mark.parametrize("harm", ["garbage", "pages", "schema"])
def test_a_damaged_index_file_is_rebuilt_and_kept(crawled: tuple[Webarc, Site, Path], harm: str) -> None:
    webarc, _, _ = crawled
    file = webarc.archive / ".webarc" / "index.db"
    before = count_rows(file)
    if harm == "garbage":
        file.write_bytes(b"garbage" * 1000)
    elif harm == "pages":
        data = bytearray(file.read_bytes())
        data[8192:12288] = bytes(4096)
        file.write_bytes(data)
    else:
        file.write_bytes(file.read_bytes().replace(b"CREATE INDEX version_commit", b"CREATE INDEX version_cOmmit"))
    harmed = file.read_bytes()
    verdict = Verdict(webarc)
    assert (verdict.code, verdict.kinds()) == (11, {"index"}) and file.read_bytes() == harmed
    verdict = Verdict(webarc, "--repair")
    assert (verdict.code, verdict.damage) == (10, []), verdict.findings
    assert [path.read_bytes() for path in file.parent.glob("index.db.replaced-*")].count(harmed) == 1
    assert count_rows(file) == before
    sound(webarc)


def test_a_damaged_state_is_named(crawled: tuple[Webarc, Site, Path]) -> None:
    webarc, site, _ = crawled
    assert webarc.run("schedule", "add", "x", "--every", "1d", site.url()).code == 0
    sound(webarc)
    (webarc.archive / ".webarc" / "state.db").write_bytes(b"SQLite format 3\0" + bytes(5000))
    verdict = Verdict(webarc)
    assert (verdict.code, verdict.kinds()) == (11, {"state"}) and "backup" in verdict.damage[0]["cure"]


def test_since_last_reads_new_history_only(crawled: tuple[Webarc, Site, Path]) -> None:
    webarc, site, folder = crawled
    assert sound(webarc, "--since-last").summary["versions"] == 7
    assert sound(webarc, "--since-last").summary["versions"] == 0
    site.pages["/p2"] = "<p>new"
    webarc.crawl(site.url())
    harm(folder, git(folder, "rev-parse", "main~3:p1/data.html"))
    # Bits that rotted in what was proven before are left to a full run.
    assert sound(webarc, "--since-last").summary["versions"] == 1
    flip(folder / "p2" / "data.html", 1)
    assert Verdict(webarc, "--since-last", "--repair").code == 10
    site.pages["/p2"] = "<p>newer"
    webarc.crawl(site.url())
    harm(folder, git(folder, "rev-parse", "main:p2/data.html"))
    (found,) = Verdict(webarc, "--since-last").damage
    assert found["url"] == site.url("/p2")
    # What was found damaged counts as proven no more.
    assert {each["url"] for each in Verdict(webarc, "--since-last").damage} == {site.url("/p1"), site.url("/p2")}


def test_mistakes_are_answered_in_one_line(crawled: tuple[Webarc, Site, Path]) -> None:
    webarc, site, folder = crawled
    ran = webarc.run("verify", "127.0.0.1:1")
    assert ran.code == 2 and ran.err.count("\n") == 1 and "no domain 127.0.0.1:1" in ran.err
    assert webarc.run("verify", site.domain).code == 0
    assert webarc.run("verify", site.url("/p1")).out.startswith("Sound: 7 versions of 1 domain")
    (folder / ".git" / "HEAD").unlink()
    verdict = Verdict(webarc)
    assert [each["path"] for each in verdict.damage] == [".git/HEAD"]
    assert Verdict(webarc, site.domain, "--repair").code == 10
    sound(webarc)


def test_a_repository_that_is_gone_is_not_sound(webarc: Webarc) -> None:
    with Site({"/": "<title>x</title>"}) as site:
        webarc.crawl(site.url())
        shutil.rmtree(webarc.folder(site.url()) / ".git")
        ran = webarc.run("verify")
        assert ran.code == 11 and "its repository is gone, and with it 1 versions" in ran.out, ran.out
        assert webarc.run("db-recover", "--verify").code == 11
        webarc.run("db-recover")
        assert webarc.run("verify").code == 0


@pytest.mark.parametrize("name", ["refs/heads/main", "refs/webarc/worktree"])
def test_a_ref_with_a_strange_byte_is_named_by_every_command(webarc: Webarc, name: str) -> None:
    with Site({"/": "<title>x</title>"}) as site:
        webarc.crawl(site.url())
        ref = webarc.folder(site.url()) / ".git" / name
        value = bytearray(ref.read_bytes())
        value[10] ^= 0x80
        ref.write_bytes(value)
        for words in (("list",), ("log", site.url()), ("get", site.url()), ("crawl", site.url()), ("verify",)):
            ran = webarc.run(*words)
            assert "internal error" not in ran.err + ran.out and "Traceback" not in ran.err, (words, ran.err)
        assert webarc.run("verify").code == 11
        assert "Sound" not in webarc.run("verify").out
