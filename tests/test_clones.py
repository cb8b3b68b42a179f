"""A domain cloned with git and put into an archive: adopted by the next command that may write, and nothing trusted."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.archives import DOMAIN, user_git
from tests.crawls import Webarc
from tests.disks import write_protected
from tests.histories import History
from tests.servers import Site
from webarc.archive.store import Archive
from webarc.archive.worktree import mend

SLOW = pytest.mark.slow


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a domain with three crawls; the second one removed a page."""
    site = History(Archive.create(tmp_path_factory.mktemp("source") / "archive"))
    site.crawl({"": "home", "page": "<p>one</p>", "old": "old\r\n"})
    site.crawl({"page": "<p>two</p>"}, gone=("old",))
    site.crawl({"new": "new\r\n"})
    with site.archive.lock_tree(DOMAIN):
        mend(site.repo)
    return site.repo.folder


def cloned(source: Path, webarc: Webarc, *options: str, name: str = DOMAIN) -> Path:
    """A clone of a domain in another archive."""
    Archive.create(webarc.archive)
    target = webarc.archive / name
    user_git(source.parent, "clone", "-q", *options, str(source), str(target))
    return target


def test_that_a_clone_is_adopted_is_no_warning(source: Path, tmp_path: Path) -> None:
    for words in (("list", DOMAIN), ("crawl", "--tries", "1", f"http://{DOMAIN}/"), ("compact",)):
        webarc = Webarc(tmp_path / words[0] / "archive")
        webarc.archive.parent.mkdir()
        folder = cloned(source, webarc)
        ran = webarc.run("-q", *words, "--zone", "CET", WEBARC_CRAWL_PROXY="http://127.0.0.1:1")
        assert "adopted" not in ran.out + ran.err, (ran.out, ran.err)
        shutil.rmtree(folder)
        cloned(source, webarc)
        ran = webarc.run(*words, WEBARC_CRAWL_PROXY="http://127.0.0.1:1")
        (line,) = [line for line in (ran.out + ran.err).splitlines() if "adopted now" in line]
        assert line.startswith(f"{DOMAIN}: {folder} is a clone, " if words[0] == "crawl" else f"{folder} is a clone, ")


def adopted(webarc: Webarc, folder: Path) -> None:
    """The next command adopts it, with a word, and then all is well."""
    ran = webarc.run("log", "--json", f"{DOMAIN}/page")
    assert ran.code == 0 and [row["number"] for row in ran.objects()] == [2, 1], (ran.out, ran.err)
    assert ran.err.count("\n") == 1 and "a clone, adopted now" in ran.err, ran.err
    main = user_git(folder, "rev-parse", "main")
    assert user_git(folder, "rev-parse", "refs/webarc/worktree", "HEAD") == main * 2
    assert user_git(folder, "symbolic-ref", "HEAD") == "refs/heads/main\n"
    assert user_git(folder, "status", "--porcelain") == ""
    assert not (folder / "old" / "data.html").exists() and (folder / "new" / "data.html").read_bytes() == b"new\r\n"
    ran = webarc.run("verify")
    assert ran.code == 0 and ran.out.startswith("Sound: 5 versions") and ran.err == "", (ran.out, ran.err)


# What was done to the repository before it was cloned, how it was cloned, what was done to the clone.
CLONES = {
    "plain": ("", "", ""),
    "packed": ("pack-refs --all", "", "pack-refs --all"),
    "without tags": ("", "--no-tags", ""),
    "another remote": ("", "--origin upstream", ""),
    "no remote": ("", "", "remote remove origin"),
    "nothing checked out": ("", "--no-checkout", ""),
    "detached source": ("checkout -q --detach main~1", "", ""),
    "detached clone": ("", "", "checkout -q --detach main~1"),
    "another branch": ("checkout -q -b mine main~2", "", ""),
    "converted": ("", "--config core.autocrlf=input --config core.eol=crlf", ""),
}


_QUICK = ("plain", "without tags", "detached source", "another branch", "converted")


@pytest.mark.parametrize("kind", [pytest.param(kind, marks=[] if kind in _QUICK else SLOW) for kind in CLONES])
def test_a_clone_is_adopted(source: Path, tmp_path: Path, kind: str) -> None:
    before, options, after = (each.split() for each in CLONES[kind])
    own = tmp_path / "own"
    subprocess.run(["cp", "-a", source, own], check=True)
    if before:
        user_git(own, *before)
    webarc = Webarc(tmp_path / "archive")
    folder = cloned(own, webarc, *options)
    if after:
        user_git(folder, *after)
    adopted(webarc, folder)


def test_a_crawl_goes_on_in_a_clone(tmp_path: Path) -> None:
    first, second = Webarc(tmp_path / "first" / "archive"), Webarc(tmp_path / "second" / "archive")
    first.archive.parent.mkdir()
    second.archive.parent.mkdir()
    with Site({"/": "<a href=/a>a</a>", "/a": "<p>a"}) as site:
        first.crawl(site.url())
        folder = cloned(first.folder(site.url()), second, name=first.folder(site.url()).name)
        (folder / "a" / "data.html").write_text("mine")
        site.pages["/a"] = "<p>b"
        result = second.crawl(site.url())
        assert result["counts"]["changed"] == 1 and "a clone, adopted now" in " ".join(result["warnings"])
        assert [row["number"] for row in second.run("log", "--json", site.url("/a")).objects()] == [2, 1]
        assert [path.read_text() for path in folder.glob(".webarc/rescued/*/a/data.html")] == ["mine"]
        ran = second.run("forget", site.url("/a"), "--version", "1", "--reason", "why", "--yes")
        assert ran.code == 0, ran.err
        assert b"<p>a" not in second.git(site.url(), "log", "-p", "--all")
        assert second.run("verify").code == 0


@pytest.mark.parametrize("options", ["", "--no-checkout"])
def test_who_may_only_read_reads_it(source: Path, tmp_path: Path, options: str) -> None:
    webarc = Webarc(tmp_path / "archive")
    Archive.create(webarc.archive)
    assert webarc.run("list").code == 0
    folder = cloned(source, webarc, *options.split())
    if options:
        user_git(folder, "checkout", "-q", "--detach", "main")
        user_git(folder, "branch", "-q", "-D", "main")
    before = sorted(path for path in folder.rglob("*"))
    with write_protected(webarc.archive) as prefix:
        reader = Webarc(webarc.archive, prefix)
        database = f"sqlite:///{tmp_path / 'index.db'}"
        ran = reader.run("--database", database, "get", f"{DOMAIN}/page", "--version", "1")
        assert (ran.code, ran.out, ran.err) == (0, "<p>one</p>", "")
        ran = reader.run("verify")
        assert ran.code == 0 and "it is a clone that is not adopted yet" in ran.err and "amaged" not in ran.out, ran.err
        ran = reader.run("status")
        assert ran.code == 0 and "it is a clone; the next command that may write adopts it" in ran.out
    assert sorted(path for path in folder.rglob("*")) == before


@pytest.mark.parametrize(
    ("options", "after", "said"),
    [
        ("--depth=2 --no-local", "", "is a clone of a part of the history"),
        pytest.param("--filter=blob:none --no-local", "", "is a clone of a part of the history", marks=SLOW),
        ("--shared", "", "borrows from another repository"),
        pytest.param("", "objects", "borrows from another repository", marks=SLOW),
        ("", ".git", "is a clone of which .git is a link to "),
        ("", "rename", f"is a clone of {DOMAIN}; call it {DOMAIN}"),
    ],
)
def test_what_cannot_be_adopted_is_told_and_left(
    source: Path, tmp_path: Path, options: str, after: str, said: str
) -> None:
    webarc = Webarc(tmp_path / "archive")
    address = f"file://{source}" if "--no-local" in options else str(source)
    Archive.create(webarc.archive)
    user_git(source, "config", "uploadpack.allowFilter", "true")
    folder = webarc.archive / ("other.example" if after == "rename" else DOMAIN)
    user_git(source.parent, "clone", "-q", *options.split(), address, str(folder))
    if after in ("objects", ".git"):
        place = folder / ".git" / after if after == "objects" else folder / ".git"
        place.rename(tmp_path / after)
        place.symlink_to(tmp_path / after)
    before = (folder / ".git" / "config").read_bytes()
    told(webarc, said)
    ran = webarc.run("list")
    # What was never cloned is not there.
    assert said in ran.err and ("amaged" not in ran.err or "filter" in options), ran.err
    ran = webarc.run("compact")
    assert ran.code == 2 and said in ran.err, (ran.out, ran.err)
    assert (folder / ".git" / "config").read_bytes() == before


def told(webarc: Webarc, said: str) -> None:
    """`status` says beforehand what the next command will say."""
    ran = webarc.run("status")
    assert ran.code == 11 and said in ran.out and "Something is broken." in ran.out, ran.out


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("separate", ".git is a file that names a repository elsewhere"),
        ("worktree", ".git is a file that names a repository elsewhere"),
        ("bare", "is a bare repository"),
        ("nowhere", "is a link to nowhere, which is no folder"),
    ],
)
def test_a_repository_elsewhere_is_told_and_left(source: Path, tmp_path: Path, kind: str, said: str) -> None:
    webarc = Webarc(tmp_path / "archive")
    folder = Archive.create(webarc.archive).root / DOMAIN
    if kind == "worktree":
        user_git(source.parent, "clone", "-q", "--no-checkout", str(source), str(tmp_path / "own"))
        user_git(tmp_path / "own", "checkout", "-q", "--detach")
        user_git(tmp_path / "own", "worktree", "add", "-q", str(folder), "main")
    elif kind == "nowhere":
        folder.mkdir()
        (folder / ".git").symlink_to("nowhere")
    else:
        options = ["--bare"] if kind == "bare" else ["--separate-git-dir", str(tmp_path / "git")]
        user_git(source.parent, "clone", "-q", *options, str(source), str(folder))
    before = sorted(folder.rglob("*"))
    told(webarc, said)
    for words in (("log", f"{DOMAIN}/page"), ("crawl", f"http://{DOMAIN}/")):
        ran = webarc.run(*words)
        assert ran.code == 2 and said in ran.out + ran.err, (ran.out, ran.err)
    assert sorted(folder.rglob("*")) == before


def test_a_mirror_is_adopted(source: Path, tmp_path: Path) -> None:
    """It has all refs of its source, that which names what the work tree shows, too; its files are brought."""
    webarc = Webarc(tmp_path / "archive")
    folder = Archive.create(webarc.archive).root / DOMAIN
    user_git(source.parent, "clone", "-q", "--mirror", str(source), str(folder / ".git"))
    adopted(webarc, folder)
    # What a mirror fetches would take the place of main.
    settings = (folder / ".git" / "config").read_text()
    assert str(source) in settings and "mirror" not in settings and "refs/*" not in settings


def test_a_repository_of_ones_own_is_left_alone(tmp_path: Path) -> None:
    webarc = Webarc(tmp_path / "archive")
    Archive.create(webarc.archive)
    folder = webarc.archive / "mine.example"
    folder.mkdir()
    user_git(folder, "init", "-q", "-b", "main")
    (folder / "file").write_text("mine")
    user_git(folder, "add", "file")
    user_git(folder, "commit", "-q", "-m", "mine")
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert webarc.run("list").code == 0
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


EVIL = {
    "core.fsmonitor": "PROGRAM",
    "core.hooksPath": "HOOKS",
    "core.pager": "PROGRAM",
    "core.editor": "PROGRAM",
    "core.sshCommand": "PROGRAM",
    "core.gitProxy": "PROGRAM",
    "core.alternateRefsCommand": "PROGRAM",
    "core.attributesFile": "ATTRIBUTES",
    "core.worktree": "/",
    "credential.helper": "!PROGRAM",
    "diff.external": "PROGRAM",
    "diff.evil.textconv": "PROGRAM",
    "diff.evil.command": "PROGRAM",
    "filter.evil.clean": "PROGRAM",
    "filter.evil.smudge": "PROGRAM",
    "filter.evil.process": "PROGRAM",
    "filter.evil.required": "true",
    "merge.evil.driver": "PROGRAM",
    "gpg.program": "PROGRAM",
    "tag.gpgSign": "true",
    "commit.gpgSign": "true",
    "log.showSignature": "true",
    "trailer.Webarc-Kind.command": "PROGRAM",
    "trailer.Webarc-Kind.cmd": "PROGRAM",
    "alias.log": "!PROGRAM",
    "remote.origin.uploadpack": "PROGRAM",
    "remote.origin.promisor": "true",
    "remote.evil.url": "ext::PROGRAM",
    "uploadpack.packObjectsHook": "PROGRAM",
    "include.path": "MORE",
}


def spoilt(folder: Path, place: Path) -> Path:
    """Settings, hooks and attributes that have git run a program wherever it can; returns what the program makes."""
    trace, program, more = place / "trace", place / "program", place / "more"
    program.write_text(f"#!/bin/sh\necho $0 $* >> {trace}\nexit 1\n")
    program.chmod(0o755)
    for hooks in (folder / ".git" / "hooks", place / "hooks"):
        hooks.mkdir(exist_ok=True)
        for name in (
            "post-checkout",
            "post-index-change",
            "pre-commit",
            "reference-transaction",
            "update",
            "post-merge",
        ):
            (hooks / name).symlink_to(program) if hooks.parent == place else (hooks / name).write_bytes(
                program.read_bytes()
            )
            (hooks / name).chmod(0o755)
    more.write_text(f"[core]\n\tfsmonitor = {program}\n")
    attributes = "* filter=evil diff=evil merge=evil\n"
    (place / "attributes").write_text(attributes)
    for name in (".gitattributes", ".git/info/attributes"):
        (folder / name).write_text(attributes)
    words = {"PROGRAM": program, "HOOKS": place / "hooks", "ATTRIBUTES": place / "attributes", "MORE": more}
    for name, value in EVIL.items():
        for word, path in words.items():
            value = value.replace(word, str(path))
        user_git(folder, "config", "--add", name, value)
    return trace


def test_nothing_that_a_clone_says_is_run(source: Path, tmp_path: Path) -> None:
    webarc = Webarc(tmp_path / "archive")
    folder = cloned(source, webarc)
    trace = spoilt(folder, tmp_path)
    user_git(folder, "config", "--unset-all", "remote.origin.promisor")
    assert "a clone, adopted now" in webarc.run("list").err
    assert webarc.run("verify").code == 0
    assert webarc.run("compact").code == 0
    settings = (folder / ".git" / "config").read_text()
    assert "program" not in settings and "[remote" in settings and str(source) in settings
    assert "filter=evil" not in (folder / ".git" / "info" / "attributes").read_text()
    assert not trace.exists(), trace.read_text()


def test_nothing_is_fetched_for_a_clone_of_a_part(source: Path, tmp_path: Path) -> None:
    """Git would ask the remote for the objects that are missing, by the program that the clone names for it."""
    webarc = Webarc(tmp_path / "archive")
    user_git(source, "config", "uploadpack.allowFilter", "true")
    Archive.create(webarc.archive)
    folder = webarc.archive / DOMAIN
    user_git(source.parent, "clone", "-q", "--filter=blob:none", f"file://{source}", str(folder))
    trace = spoilt(folder, tmp_path)
    for command in ("list", "verify"):
        webarc.run(command)
    assert not trace.exists(), trace.read_text()
    user_git(folder, "cat-file", "-e", "main~2:page/data.html", check=False)
    assert "upload-pack" in trace.read_text() or "program" in trace.read_text()
