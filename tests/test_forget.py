"""Forgetting: what must go is nowhere any more, everything else is as it was, whatever is killed in between."""

from __future__ import annotations

import os
import pty
import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import pytest
import xmlschema

from tests import postgres
from tests.archives import committed, finish, shown, start, user_git
from tests.crawls import Webarc, environment
from tests.disks import small_file_system
from tests.histories import History, Page, eventful, rows_of
from tests.remains import places
from tests.servers import Site
from webarc.archive import swap
from webarc.archive.forgetting import Forgetting, Forgotten, Order
from webarc.archive.going import of_domain, of_page
from webarc.archive.indexing import catch_up
from webarc.archive.store import Archive
from webarc.archive.tombstones import expanded, parse, ranges, tombstones
from webarc.archive.worktree import mend
from webarc.errors import BadDocument, Damaged, UsageProblem
from webarc.schema import schema_path
from webarc.sql.index import Index
from webarc.sql.rows import VersionRow

SECRET, LINK = "c0nfidential-matter", "hidden-place"
FORGET = """
import sys
from pathlib import Path
from webarc.archive.forgetting import Forgetting, Order
from webarc.archive.going import of_page
from webarc.archive.store import Archive
archive = Archive.open(Path(sys.argv[1]))
order = Order("example.org", of_page("example.org", "a"), "why", "me")
Forgetting(archive, f"sqlite:///{archive.index_file}").forget(order)
print("done", flush=True)
"""


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    return Archive.create(tmp_path / "archive")


def database(archive: Archive) -> str:
    return f"sqlite:///{archive.index_file}"


def forget(archive: Archive, arc: str, *numbers: int, **more: Any) -> Forgotten:
    choice = of_page("example.org", arc, numbers or None)
    return Forgetting(archive, database(archive)).forget(Order("example.org", choice, "why", "me", **more))


def versions(archive: Archive) -> dict[tuple[str, int], VersionRow]:
    """All versions by ARC and number, the index brought up to date first."""
    index = Index(database(archive))
    try:
        catch_up(archive.repository("example.org"), index)
        return {(row.arc, row.number): row for row in index.versions("example.org")}
    finally:
        index.close()


def content(archive: Archive, row: VersionRow) -> bytes | None:
    assert row.data_blob is not None
    with archive.repository("example.org").reader() as reader:
        return reader.read(row.data_blob)


def shown_in_tree(site: History) -> None:
    """Have the work tree show main, as it does after a crawl."""
    with site.archive.lock_tree(site.domain):
        mend(site.repo)


def three_pages(archive: Archive) -> History:
    """A page with the secret in three versions of which one was removed, below it another page, and a third one."""
    site = History(archive)
    site.crawl({"a": Page(SECRET + " 1", title=SECRET), "a/b": "below", "c": "c1"}, urls=[site.outcome("a")])
    site.crawl({"a": Page(SECRET + " 2", "text/plain", SECRET, "data.txt"), "c": "c2"})
    site.crawl({}, ("a",))
    site.crawl({"a": Page(SECRET + " 3", title=SECRET), "c": "c3"})
    added = {"a/data.files/notes.txt": f"{SECRET} in a file".encode()}
    site.commit(dict(added), f"2026-01-01T0{site.hours}:00:00@example.org", "add")
    shown_in_tree(site)
    return site


def assert_sound(site: History) -> None:
    done = subprocess.run(["git", "-C", site.repo.folder, "fsck", "--full"], capture_output=True, text=True)
    assert done.returncode == 0 and "missing" not in done.stdout + done.stderr, done.stderr
    assert user_git(site.repo.folder, "status", "--porcelain") == ""
    assert shown(site.repo) == committed(site.repo)


# -- nothing is left ------------------------------------------------------------------------------------------


def test_the_bytes_are_nowhere_below_the_archive_any_more(webarc: Webarc) -> None:
    page = f"<title>{SECRET}</title><p>{SECRET}<a href=/{LINK}>x</a>"
    with Site({"/": "<a href=/a>a</a><a href=/b>b</a>", "/a": page, "/b": "<p>harmless"}, etags=True) as site:
        domain = webarc.folder(site.url()).name.replace("%_3A", ":")
        webarc.crawl("--exclude", LINK[:-2], site.url())
        site.pages["/a"] = f"{page} again"
        webarc.crawl("--exclude", LINK[:-2], site.url())
        webarc.crawl("--exclude", LINK[:-2], site.url())
        assert "appeared" in webarc.run("when", domain, SECRET).out
        folder = webarc.folder(site.url())
        # An object that no ref names, what a killed crawl left, a copy that was rescued, and reflogs.
        copy = webarc.archive.parent / "copy"
        copy.write_text(f"{SECRET} in passing")
        webarc.git(site.url(), "hash-object", "-w", str(copy))
        for marker in ("old-1/nothing", "old-2/.webarc/crawl.json"):
            stale = webarc.archive / ".webarc" / "staging" / marker
            stale.parent.mkdir(parents=True)
            stale.write_text("{}")
        for name in ("old-1", "old-2"):
            left = webarc.archive / ".webarc" / "staging" / name / folder.name / "a"
            left.mkdir(parents=True)
            shutil.copy(folder / "a" / "data.html", left / "data.html")
        rescued = folder / ".webarc" / "rescued" / "then" / "a"
        rescued.mkdir(parents=True)
        shutil.copy(folder / "a" / "data.html", rescued / "data.html")
        before = places(webarc.archive, SECRET.encode()) + places(webarc.archive, LINK.encode())
        for part in ("/a/data.html", "index.db", "links.db", "text.db", "staging/old-2", "rescued", ".git: "):
            assert any(part in place for place in before), (part, before)
        ran = webarc.run("forget", site.url("/a"), "--reason", "court order", "--yes")
        assert ran.code == 0, ran.err
        assert places(webarc.archive, SECRET.encode()) + places(webarc.archive, LINK.encode()) == []
        assert not (folder / ".git" / "logs").exists()
        assert "clones" in ran.err and "again" in ran.err
        assert webarc.document(site.url("/b")) == b"<p>harmless"
        assert "appeared" not in webarc.run("when", domain, SECRET).out
        assert webarc.crawl("--exclude", LINK[:-2], site.url())["counts"]["new"] == 1, "it is still on the web"


def test_a_whole_domain_leaves_only_tombstones_and_reports(webarc: Webarc) -> None:
    with Site({"/": f"<a href=/a>a</a>{SECRET}", "/a": SECRET}) as site:
        webarc.crawl(site.url())
        domain = webarc.folder(site.url()).name.replace("%_3A", ":")
        ran = webarc.run("forget", domain, "--reason", "contract ended", "--by", "Ada", "--yes", "--json")
        assert ran.code == 0, ran.err
        assert (ran.result()["versions"], len(ran.result()["pages"])) == (2, 2)
        assert places(webarc.archive, SECRET.encode()) == []
        folder = webarc.folder(site.url())
        assert {path.split("/")[1] for path in webarc.files(site.url())} == {"crawls", "forgotten"}
        assert sorted(path.name for path in folder.iterdir()) == [".git", ".webarc"]
        found = tombstones(Archive.open(webarc.archive).repository(domain))
        assert {(stone.url, stone.numbers, stone.reason, stone.by) for stone in found} == {
            (site.url("/"), (1,), "contract ended", "Ada"),
            (site.url("/a"), (1,), "contract ended", "Ada"),
        }
        ran = webarc.run("forget", domain, "--reason", "again", "--yes")
        assert ran.code == 2 and "no page left" in ran.err
        webarc.crawl(site.url())
        assert [row["number"] for row in webarc.run("log", "--json", site.url("/a")).objects() if "number" in row] == [
            2
        ]


@pytest.mark.slow
def test_an_index_on_a_server_is_scrubbed_too(webarc: Webarc) -> None:
    with postgres.server() as url, Site({"/": "<a href=/a>a</a>", "/a": f"<title>{SECRET}</title>"}) as site:
        for _ in range(2):
            assert webarc.run("--database", url, "crawl", site.url()).code == 0
        ran = webarc.run("--database", url, "forget", site.url("/a"), "--reason", "x", "--yes")
        assert ran.code == 0, ran.err
        ran = webarc.run("--database", url, "log", "--json", site.url("/"))
        assert [row["number"] for row in ran.objects()] == [1]
        assert webarc.run("--database", url, "crawl", site.url()).code == 0
        rows = webarc.run("--database", url, "log", "--json", site.url("/a")).objects()
        assert [row["number"] for row in rows if "number" in row] == [2]


# -- everything else stays ------------------------------------------------------------------------------------


def test_other_pages_commits_dates_and_tags_are_as_they_were(archive: Archive) -> None:
    site = three_pages(archive)
    facts = "--format=%an %ae %ad %cn %ce %cd %B"
    log = user_git(site.repo.folder, "log", "--date=raw", facts)
    tags = user_git(
        site.repo.folder, "for-each-ref", "refs/tags", "--format=%(refname)%(taggerdate)%(*subject)%(contents)"
    )
    others = [
        {path: data for path, data in state(site, back).items() if not path.startswith("a/data")} for back in range(5)
    ]
    before = versions(archive)
    done = forget(archive, "a")
    assert user_git(site.repo.folder, "log", "--date=raw", facts, "main~1") == log
    assert tags == user_git(
        site.repo.folder, "for-each-ref", "refs/tags", "--format=%(refname)%(taggerdate)%(*subject)%(contents)"
    )
    assert [state(site, back + 1) for back in range(5)] == others
    after = versions(archive)
    assert after == {key: row for key, row in before.items() if key[0] != "a"}
    assert (done.versions, [page.numbers for page in done.going]) == (3, [(1, 2, 3)])
    assert site.repo.commits()[-1].kind == "forget" and site.repo.commits()[-1].tag == done.commit_tag
    assert_sound(site)
    assert places(archive.root, SECRET.encode()) == []


def state(site: History, back: int) -> dict[str, bytes]:
    return committed(site.repo, f"main~{back}" if back else "main")


def test_numbers_are_never_given_again(archive: Archive) -> None:
    site = three_pages(archive)
    forget(archive, "a", 2)
    assert [number for arc, number in sorted(versions(archive)) if arc == "a"] == [1, 3]
    forget(archive, "a")
    assert [number for arc, number in sorted(versions(archive)) if arc == "a"] == []
    site.crawl({"a": "harmless"})
    archive.index_file.unlink()
    site.crawl({"a": "harmless, too"})
    grown = versions(archive)
    assert [number for arc, number in sorted(grown) if arc == "a"] == [4, 5]
    assert content(archive, grown["a", 5]) == b"harmless, too"
    archive.index_file.unlink()
    assert versions(archive) == grown


def test_the_version_before_stands_where_one_is_gone(archive: Archive) -> None:
    site = History(archive)
    for number in range(1, 5):
        site.crawl({"a": Page(f"a{number}", file=f"data.{'txt' if number == 3 else 'html'}"), "c": f"c{number}"})
    site.commit({"a/data.files/x": b"added"}, "2026-01-01T04:00:00@example.org", "add")
    shown_in_tree(site)
    before = versions(archive)
    forget(archive, "a", 2)
    texts = [state(site, back).get("a/data.html", state(site, back).get("a/data.txt")) for back in range(6)]
    assert texts == [b"a4", b"a4", b"a4", b"a3", b"a1", b"a1"]
    forget(archive, "a", 4)
    assert state(site, 0)["a/data.txt"] == b"a3" and not any(name.startswith("a/data.files") for name in state(site, 0))
    assert_sound(site)
    after = versions(archive)
    assert {number for arc, number in after if arc == "a"} == {1, 3}
    assert after["a", 3].is_current == 1 and after["a", 3] == before["a", 3]._replace(is_current=1)
    site.crawl({"a": "a5"})
    assert versions(archive)["a", 5].is_current == 1


@pytest.mark.parametrize(
    "seed", [0, 1, pytest.param(2, marks=pytest.mark.slow), pytest.param(3, marks=pytest.mark.slow)]
)
def test_whatever_the_history_the_versions_that_stay_are_the_same(archive: Archive, seed: int) -> None:
    chance, site = Random(seed), History(archive)
    alive: set[str] = set()
    for step in range(14):
        pages = {
            name: Page(f"{name}{step}", file=chance.choice(["data.html", "data.txt"]))
            for name in chance.sample("abcd", 2)
        }
        gone = tuple(name for name in sorted(alive - set(pages)) if chance.random() < 0.3)
        site.crawl(dict(pages), gone)
        alive = (alive | set(pages)) - set(gone)
    for commit in eventful(History(archive, "example.org", site.hours, site.files)) if seed == 0 else ():
        assert commit
    shown_in_tree(site)
    before = versions(archive)
    bytes_before = {key: content(archive, row) for key, row in before.items()}
    going = {key for key in before if chance.random() < 0.4}
    for arc in sorted({arc for arc, _ in going}):
        forget(archive, arc, *[number for each, number in going if each == arc])
    after = versions(archive)
    assert set(after) == set(before) - going
    for key, row in after.items():
        assert content(archive, row) == bytes_before[key]
        assert row._replace(is_current=0, removed_tag=None) == before[key]._replace(is_current=0, removed_tag=None)
    assert_sound(site)
    kept_blobs = {row.document_blob for row in after.values()}
    gone_blobs = {before[key].document_blob for key in going} - kept_blobs
    with site.repo.reader() as reader:
        assert [blob for blob in gone_blobs if reader.read(blob) is not None] == []
    live = rows_of(Index(database(archive)), "example.org")
    archive.index_file.unlink()
    versions(archive)
    assert rows_of(Index(database(archive)), "example.org") == live


def test_names_that_git_quotes_are_no_trouble(archive: Archive) -> None:
    site = History(archive)
    site.crawl({'q?x="y"\u00e9': SECRET, "\u00fc": "stays", "a": "1"})
    odd = {'mine\nto "keep"\\': b"1", "\u00e4 b\ttab": b"2", "a/data.html/x": b"3"}
    site.commit({"a/data.html": None, **odd}, "by hand", "")
    shown_in_tree(site)
    arc = next(arc for arc, _ in versions(archive) if arc.startswith("q"))
    before = committed(site.repo)
    forget(archive, arc)
    after = committed(site.repo)
    assert {path: data for path, data in after.items() if "forgotten" not in path} == {
        path: data for path, data in before.items() if not path.startswith("q")
    }
    assert places(archive.root, SECRET.encode()) == []
    user_git(site.repo.folder, "fsck", "--full")


def test_settings_hooks_and_what_is_staged_elsewhere_stay(archive: Archive) -> None:
    site = three_pages(archive)
    user_git(site.repo.folder, "config", "user.nickname", "me")
    hook = site.repo.git_dir / "hooks" / "post-checkout"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\n")
    hook.chmod(0o755)
    (site.repo.folder / "mine.txt").write_text("staged by me")
    user_git(site.repo.folder, "add", "mine.txt")
    user_git(site.repo.folder, "branch", "old", "main~2")
    forget(archive, "a")
    assert user_git(site.repo.folder, "config", "user.nickname").strip() == "me"
    assert os.access(hook, os.X_OK)
    assert user_git(site.repo.folder, "show", ":mine.txt") == "staged by me"
    assert user_git(site.repo.folder, "rev-parse", "old") == user_git(site.repo.folder, "rev-parse", "main~3")
    assert places(archive.root, SECRET.encode()) == []


# -- tombstones -----------------------------------------------------------------------------------------------


def test_the_tombstone_tells_what_when_why_and_by_whom(archive: Archive) -> None:
    site = three_pages(archive)
    before = versions(archive)
    done = forget(archive, "a", 1, 3)
    (file,) = (site.repo.folder / ".webarc" / "forgotten").iterdir()
    xmlschema.XMLSchema(str(schema_path("forgotten"))).validate(str(file))
    (stone,) = parse(file.read_bytes(), file.name)
    assert (stone.url, stone.arc, stone.numbers) == ("http://example.org/a", "a", (1, 3))
    assert (stone.reason, stone.by, stone.commit_tag) == ("why", "me", done.commit_tag)
    assert stone.sha256s == tuple(before["a", number].sha256 for number in (1, 3))
    assert stone.tags == tuple(before["a", number].commit_tag for number in (1, 3))
    assert tombstones(site.repo) == [stone]
    message = user_git(site.repo.folder, "log", "-1", "--format=%B").strip()
    assert message.startswith(done.commit_tag) and message.endswith("Webarc-Kind: forget")


def test_any_reason_survives(archive: Archive) -> None:
    site = three_pages(archive)
    reason = "a <b> & \x00 \x1b[2J\n\nWebarc-Kind: crawl\n"
    Forgetting(archive, database(archive)).forget(Order("example.org", of_page("example.org", "c"), reason, "\ud800"))
    (stone,) = tombstones(site.repo)
    assert (stone.reason, stone.by) == (reason, "\ud800")
    assert site.repo.commits()[-1].kind == "forget"


def test_numbers_are_written_in_ranges_and_distrusted_when_read() -> None:
    assert ranges([5, 1, 2, 3, 9, 10]) == "1-3 5 9-10"
    assert expanded("1-3 5 9-10") == (1, 2, 3, 5, 9, 10)
    for text in ("3-1", "1-999999999"):
        with pytest.raises(BadDocument):
            expanded(text)


# -- asking, refusing, naming ---------------------------------------------------------------------------------


def test_it_asks_first(webarc: Webarc) -> None:
    with Site({"/": "<a href=/a>a</a>", "/a": SECRET}) as site:
        webarc.crawl(site.url())
        ran = webarc.run("forget", site.url("/a"), "--reason", "x")
        assert ran.code == 2 and "--yes" in ran.err and site.url("/a") in ran.out
        code, said = at_terminal(webarc, "n\n", "forget", site.url("/a"), "--reason", "x")
        assert code == 13 and "1 version of 1 page" in said
        assert webarc.document(site.url("/a")) == SECRET.encode()
        code, said = at_terminal(webarc, "y\n", "forget", site.url("/a"), "--reason", "x")
        assert code == 0, said
        assert places(webarc.archive, SECRET.encode()) == []


def at_terminal(webarc: Webarc, answer: str, *arguments: str) -> tuple[int, str]:
    """Run a command for somebody who sits at a terminal and types an answer."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "webarc", "--archive", str(webarc.archive), *arguments]
    process = subprocess.Popen(
        command, stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment(), text=True
    )
    os.write(ours, answer.encode())
    output, _ = process.communicate(timeout=60)
    os.close(ours)
    os.close(theirs)
    return process.returncode, output


def test_mistakes_get_a_sentence_and_change_nothing(webarc: Webarc) -> None:
    with Site({"/": "<a href=/old>a</a>", "/old": (301, {"Location": "/new"}, ""), "/new": "n"}) as site:
        webarc.crawl(site.url())
        tip = webarc.git(site.url(), "rev-parse", "main")
        domain = webarc.folder(site.url()).name.replace("%_3A", ":")
        for arguments, words in (
            ((site.url("/nowhere"), "--reason", "x"), "nearest"),
            ((site.url("/new"), "--reason", " "), "--reason is empty"),
            ((site.url("/new"), "--reason", "x", "--version", "7"), "no version 7"),
            ((site.url("/old"), "--reason", "x"), "redirects to"),
            ((domain, "--reason", "x", "--version", "1"), "whole domain"),
            ((site.url("/new"),), "--reason"),
        ):
            ran = webarc.run("forget", *arguments, "--yes")
            assert ran.code == 2 and words in ran.err and "Traceback" not in ran.err, (arguments, ran.err)
        assert webarc.git(site.url(), "rev-parse", "main") == tip
        assert webarc.run("forget", site.url("/new"), "--reason", "twice", "--yes").code == 0
        ran = webarc.run("forget", site.url("/new"), "--reason", "twice", "--yes")
        assert ran.code == 2 and "forgotten" in ran.err


def commit_on_a_branch(folder: Path) -> None:
    user_git(folder, "checkout", "-q", "-b", "mine")
    user_git(folder, "commit", "-q", "--allow-empty", "-m", "mine")
    user_git(folder, "checkout", "-q", "main")


def stash(folder: Path) -> None:
    (folder / "c" / "data.html").write_text("edited")
    user_git(folder, "stash")


REFUSALS: list[tuple[Callable[[Path], object], str]] = [
    (commit_on_a_branch, "refs/heads/mine"),
    (stash, "refs/stash"),
    (lambda folder: user_git(folder, "checkout", "-q", "main~1"), "git checkout main"),
    (
        lambda folder: user_git(folder, "worktree", "add", "-q", str(folder.parent.parent / "second"), "main~1"),
        "work tree",
    ),
    (lambda folder: user_git(folder, "tag", "-a", "-m", "x", "blob", "main:c/data.html"), "refs/tags/blob"),
]


@pytest.mark.parametrize(("done", "words"), REFUSALS)
def test_what_would_keep_the_bytes_is_named_and_nothing_done(
    archive: Archive, done: Callable[[Path], object], words: str
) -> None:
    site = three_pages(archive)
    done(site.repo.folder)
    tip = site.repo.tip()
    with pytest.raises(UsageProblem, match=words):
        forget(archive, "a")
    assert site.repo.tip() == tip and list(archive.journal.iterdir()) == []
    assert len(versions(archive)) == 7


def test_a_repository_that_is_not_whole_is_left_alone(archive: Archive) -> None:
    site = three_pages(archive)
    row = versions(archive)["c", 1]
    for pack in site.repo.git_dir.glob("objects/pack/*.pack"):
        with pack.rename(archive.root / pack.name).open("rb") as source:
            pack.with_suffix(".idx").unlink()
            subprocess.run(["git", "-C", site.repo.folder, "unpack-objects", "-q"], stdin=source, check=True)
    blob = row.data_blob or ""
    (site.repo.git_dir / "objects" / blob[:2] / blob[2:]).unlink()
    tip = site.repo.tip()
    with pytest.raises(Damaged, match="run `webarc verify"):
        forget(archive, "a")
    assert site.repo.tip() == tip and list(archive.journal.iterdir()) == []


def test_a_copy_in_the_index_is_named(archive: Archive) -> None:
    site = three_pages(archive)
    shutil.copy(site.repo.folder / "a" / "data.html", site.repo.folder / "copy.html")
    user_git(site.repo.folder, "add", "copy.html")
    with pytest.raises(UsageProblem, match=r"copy\.html"):
        forget(archive, "a")
    user_git(site.repo.folder, "rm", "-q", "--cached", "copy.html")
    forget(archive, "a")


def test_files_changed_by_hand_are_rescued_and_named(archive: Archive) -> None:
    site = three_pages(archive)
    (site.repo.folder / "a" / "data.html").write_text("my own notes")
    done = forget(archive, "a")
    (rescued,) = (path for path in (site.repo.folder / ".webarc" / "rescued").rglob("*") if path.is_file())
    assert rescued.read_text() == "my own notes"
    assert any(str(rescued) in warning for warning in done.warnings)


def test_a_copy_that_the_user_committed_is_named(archive: Archive) -> None:
    site = three_pages(archive)
    site.commit({"copy.html": f"{SECRET} 3".encode()}, "a copy", "")
    shown_in_tree(site)
    done = forget(archive, "a")
    assert any("--find-object=" in warning for warning in done.warnings)


def test_who_else_holds_the_bytes_is_named(webarc: Webarc) -> None:
    archive = Archive.create(webarc.archive)
    one, two = History(archive), History(archive, "other.example")
    one.crawl({"a": SECRET, "twin": SECRET})
    one.crawl({"a": "between"})
    one.crawl({"a": SECRET})
    two.crawl({"x": SECRET, "y": "harmless"})
    shown_in_tree(one)
    ran = webarc.run("forget", one.url("a"), "--version", "1", "--reason", "x", "--yes", "--json")
    assert ran.code == 0, ran.err
    assert sorted(ran.result()["sameBytes"]) == [one.url("a"), one.url("twin"), two.url("x")]
    ran = webarc.run("forget", one.url("a"), "--reason", "x", "--yes")
    assert f"version 1 of {two.url('x')} holds the same bytes" in ran.err and two.url("y") not in ran.err


def test_who_else_holds_the_bytes_is_summed_up_where_they_are_many(webarc: Webarc) -> None:
    archive = Archive.create(webarc.archive)
    notice = "<p>All rights reserved"
    for number, domain in enumerate(("one.example", "two.example", "three.example")):
        History(archive, domain).crawl({f"page{page}": notice for page in range(3 * number + 1)} | {"other": "other"})
    ran = webarc.run("forget", "one.example/page0", "--reason", "x")
    (said,) = (line for line in ran.err.splitlines() if "same bytes" in line)
    assert (
        "11 versions of 11 pages on 2 hosts hold the same bytes and stay: three.example (7), two.example (4);" in said
    )
    (condition,) = re.findall(r'list --where "(.*)"`', said)
    assert len(webarc.run("list", "--json", "--where", condition).objects()) == 12


def test_a_crawl_is_waited_for_no_longer_than_asked(archive: Archive) -> None:
    site = three_pages(archive)
    webarc = Webarc(archive.root)
    with archive.lock_crawl(site.domain):
        ran = webarc.run("forget", site.url("a"), "--reason", "x", "--yes", "--lock-wait", "0")
    assert ran.code == 12 and "is locked by" in ran.err


# -- killed in between ----------------------------------------------------------------------------------------

RENAMES, REMOVALS, MAKING = "rename,renameat,renameat2,link", "unlink,unlinkat,rmdir", "mkdir,mkdirat"
FORKS = "clone,clone3,fork,vfork"
# strace counts for each process by itself; the numbers are those of webarc's own.
KILLS = [(RENAMES, 1), ("renameat2", 1), ("fsync", 8), ("fsync", 30), (REMOVALS, 45), (FORKS, 18), (FORKS, 45)]
EVERYWHERE = [
    *((RENAMES, number) for number in range(1, 5)),
    *((REMOVALS, number) for number in range(1, 63, 2)),
    *((MAKING, number) for number in range(1, 17, 2)),
    *((FORKS, number) for number in range(1, 52)),
    *(("fsync", number) for number in range(1, 32)),
    *(("write,pwrite64", number) for number in range(1, 155, 8)),
]


def check_after_kill(archive: Archive, calls: str, number: int) -> bool:
    """Kill it at a step; whatever it left, the next command completes or undoes. Returns whether it was killed."""
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed, so nothing is killed in the middle of its work")
    site = three_pages(archive)
    before = versions(archive)
    kept = {key: content(archive, row) for key, row in before.items() if key[0] != "a"}
    prefix = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={calls}"]
    prefix += ["-e", f"inject={calls}:signal=SIGKILL:when={number}"]
    output, _ = start(FORGET, archive.root, prefix=prefix).communicate(timeout=60)
    webarc = Webarc(archive.root)
    ran = webarc.run("retain", "--keep", "last=100", "--lock-wait", "10s")
    assert ran.code == 0, ran.err
    assert list(archive.journal.glob("*.forget")) == []
    assert not (site.repo.folder / ".webarc" / "rewrite").exists()
    after = versions(archive)
    if output:
        assert len(after) < len(before), "it had said that it was done"
    if len(after) < len(before):
        assert places(archive.root, SECRET.encode()) == []
    else:
        assert after == before
        with archive.lock_tree(site.domain):
            mend(site.repo)
    assert_sound(site)
    forget(archive, "a")
    archive.clear_stale_staging()
    assert places(archive.root, SECRET.encode()) == []
    assert {key: content(archive, row) for key, row in versions(archive).items()} == kept
    assert_sound(site)
    return not output


@pytest.mark.parametrize(("calls", "number"), KILLS)
def test_killed_in_the_middle_the_next_command_completes_or_undoes(archive: Archive, calls: str, number: int) -> None:
    assert check_after_kill(archive, calls, number)


@pytest.mark.slow
@pytest.mark.parametrize(("calls", "number"), EVERYWHERE)
def test_wherever_it_is_killed(archive: Archive, calls: str, number: int) -> None:
    check_after_kill(archive, calls, number)


@pytest.mark.parametrize("steps", range(4))
def test_where_folders_cannot_be_exchanged_at_once_it_is_completed_later(tmp_path: Path, steps: int) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    for place in (one, two):
        place.mkdir()
        (place / "name").write_text(place.name)
    spare = tmp_path / "two.old"
    for source, target in [(one, spare), (two, one), (spare, two)][:steps]:
        source.rename(target)
    swap.recover(one, two)
    assert (one / "name").read_text() == ("two" if steps else "one")
    assert not spare.exists()
    assert (two / "name").read_text() == ("one" if steps else "two")


def test_whoever_holds_the_crawl_lock_completes_what_was_interrupted(archive: Archive) -> None:
    site = three_pages(archive)
    versions(archive)
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed, so nothing is killed in the middle of its work")
    prefix = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=renameat2"]
    prefix += ["-e", "inject=renameat2:signal=SIGKILL:when=1"]
    start(FORGET, archive.root, prefix=prefix).communicate(timeout=60)
    assert list(archive.journal.glob("*.forget")) and places(archive.root, SECRET.encode())
    with archive.lock_crawl(site.domain, wait=10):
        Forgetting(archive, database(archive)).finish(site.domain)
    assert list(archive.journal.iterdir()) == []
    assert places(archive.root, SECRET.encode()) == []
    assert len(versions(archive)) == 4


def test_it_works_where_folders_cannot_be_exchanged_at_once(archive: Archive) -> None:
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed, so no file system can be made to refuse")
    site = three_pages(archive)
    prefix = ["strace", "-qq", "-o", "/dev/null", "-e", "trace=renameat2", "-e", "inject=renameat2:error=EINVAL"]
    assert finish(start(FORGET, archive.root, prefix=prefix)) == "done\n"
    assert places(archive.root, SECRET.encode()) == []
    assert_sound(site)


@pytest.mark.parametrize("spare", [40, 80, 120])
def test_a_full_disk_is_said_and_it_goes_on_when_there_is_room(tmp_path: Path, spare: int) -> None:
    with small_file_system(tmp_path / "disk", 8) as disk:
        archive = Archive.create(disk / "archive")
        webarc = Webarc(archive.root)
        site = History(archive)
        noise = Random(1)
        for _ in range(3):
            site.crawl({"a": SECRET + noise.randbytes(40_000).hex(), "c": noise.randbytes(40_000).hex()})
        shown_in_tree(site)
        before = versions(archive)
        filler = disk / "filler"
        with suppress(OSError), filler.open("wb", buffering=0) as target:
            while target.write(bytes(4096)):
                pass
        os.truncate(filler, filler.stat().st_size - spare * 1024)
        ran = webarc.run("forget", site.url("a"), "--reason", "x", "--yes")
        assert ran.code == 3 and "Traceback" not in ran.err, ran.err
        assert "disk full" in ran.err or "disk is full" in ran.err, ran.err
        filler.unlink()
        assert webarc.run("forget", site.url("a"), "--reason", "x", "--yes").code in (0, 2)
        assert places(archive.root, SECRET.encode()) == []
        assert versions(archive) == {key: row for key, row in before.items() if key[0] == "c"}
        assert_sound(site)


def test_the_documentation_shows_a_valid_tombstone() -> None:
    page = (Path(__file__).parent.parent / "docs" / "forgetting.md").read_text()
    (stone,) = parse(page.partition("```xml\n")[2].partition("```")[0].encode())
    assert stone.numbers == (1, 2) and len(stone.sha256s) == 2


def test_readers_go_on_while_it_is_swapped(archive: Archive) -> None:
    site = three_pages(archive)
    row = versions(archive)["c", 1]
    with site.repo.reader() as reader:
        assert reader.read(row.document_blob) is not None
        forget(archive, "a")
        assert reader.read(row.data_blob or "") == b"c1"
    assert content(archive, row) == b"c1"


def test_deleted_rows_leave_the_file_of_the_index(archive: Archive) -> None:
    three_pages(archive)
    versions(archive)
    index = sqlite3.connect(archive.index_file)
    assert index.execute("SELECT COUNT(*) FROM version WHERE title = ?", (SECRET,)).fetchone() == (3,)
    # A reader of another process that has the file open, but reads nothing now.
    forget(archive, "a")
    assert SECRET.encode() not in archive.index_file.read_bytes()
    wal = archive.index_file.with_name("index.db-wal")
    assert not wal.exists() or SECRET.encode() not in wal.read_bytes()
    index.close()


def test_forgetting_all_of_a_domain_takes_pages_that_the_index_does_not_know(archive: Archive) -> None:
    site = three_pages(archive)
    site.commit({"odd/data.html": SECRET.encode(), "odd/data.xml": b"no XML"}, "by hand", "")
    shown_in_tree(site)
    order = Order("example.org", of_domain("example.org"), "why", "me", everything=True)
    Forgetting(archive, database(archive)).forget(order)
    assert places(archive.root, SECRET.encode()) == []
