"""One flipped bit, anywhere in the archive: `verify` names it, or it touches nothing that anyone could read."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.archives import committed, user_git
from tests.crawls import Webarc
from tests.histories import History, Page
from tests.test_recover import TABLES
from webarc.archive.recovery import catch_up_all
from webarc.archive.store import Archive
from webarc.sql.index import Index

SEED = 20261115
ABOUT = "%(refname) %(objectname) %(*objectname) %(contents)"
HOSTS = ("example.org", "packed.example")
# Where bits may flip, how many of them, and which findings name the flip.
WHERE: dict[str, tuple[int, tuple[str, ...]]] = {
    "*/.git/objects/pack/*.pack": (14, ("repository", "object", "bytes", "document", "report", "tag", "ref")),
    "*/.git/objects/pack/*.idx": (5, ("repository",)),
    "*/.git/objects/pack/*.rev": (1, ("repository",)),
    "*/.git/objects/pack/*.bitmap": (1, ("repository",)),
    "*/.git/objects/info/commit-graph": (1, ("repository",)),
    "*/.git/objects/[0-9a-f][0-9a-f]/*": (4, ("object", "bytes", "document", "report")),
    "*/.git/index": (2, ("git-index",)),
    "*/.git/packed-refs": (3, ("ref", "tag")),
    "*/.git/refs/**/*": (2, ("ref", "tag")),
    "*/.git/HEAD": (1, ("repository",)),
    "*/**/data.html": (4, ("worktree",)),
    "*/**/data.xml": (4, ("worktree",)),
    "*/.webarc/crawls/*/*.xml": (1, ("worktree",)),
    ".webarc/index.db": (7, ("index",)),
}


@dataclass(frozen=True)
class Flip:
    """One bit of one file."""

    where: str
    choice: int

    def apply(self, root: Path) -> tuple[Path, int]:
        """Flip it, and leave no other trace, as a rotting disk does; returns the file and the byte."""
        dice = random.Random(f"{SEED} {self.where} {self.choice}")
        files = sorted(path for path in root.glob(self.where) if path.is_file() and path.stat().st_size)
        file = dice.choices(files, [path.stat().st_size for path in files])[0]
        place, bit = dice.randrange(file.stat().st_size), dice.randrange(8)
        before = file.stat()
        file.chmod(0o644)
        with file.open("r+b") as stream:
            stream.seek(place)
            byte = stream.read(1)[0]
            stream.seek(place)
            stream.write(bytes([byte ^ (1 << bit)]))
        os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
        return file, place


def flips() -> Iterator[Any]:
    """Fifty of them; the first of most kinds is always tried, the others with `make test-all`."""
    for where, (count, _) in WHERE.items():
        for choice in range(count):
            marks = [pytest.mark.slow] if choice or count == 1 else []
            yield pytest.param(Flip(where, choice), marks=marks, id=f"{where}-{choice}")


def build(root: Path) -> None:
    """A sound archive: packs of several crawls, everything packed, loose objects, loose and packed refs."""
    archive = Archive.create(root)
    for host in HOSTS:
        site = History(archive, host)
        # So many that the pages of the index are full: a bit in an empty one touches nothing.
        for step in range(14):
            pages: dict[str, Page | str] = {f"p{n}": f"<p>{step} {n} {'x' * n * 50}" for n in range(step % 3 + 5)}
            gone = ("p4",) if step == 4 and "p4" in site.files else ()
            pages = {name: page for name, page in pages.items() if name not in gone}
            outcomes = [site.outcome(f"p{n}") for n in range(5)]
            site.crawl(pages, gone, outcomes if step % 2 == 0 else None)
    catch_up_all(archive, index := Index.at(archive.index_file))
    index.close()
    folder = root / HOSTS[1]
    webarc = Webarc(root)
    assert webarc.run("verify").code == 0
    user_git(folder, "repack", "-q", "-a", "-d", "-b", "--write-bitmap-index", home=root.parent)
    (pack,) = folder.glob(".git/objects/pack/*.pack")
    user_git(folder, "-c", "pack.writeReverseIndex=true", "index-pack", "--rev-index", str(pack), home=root.parent)
    user_git(folder, "commit-graph", "write", "--reachable", "--changed-paths", home=root.parent)
    user_git(folder, "pack-refs", "--all", home=root.parent)
    loosen(root / HOSTS[0])


def loosen(folder: Path) -> None:
    """Make the objects of the newest pack files of their own."""
    pack = max(folder.glob(".git/objects/pack/*.pack"), key=lambda path: path.stat().st_mtime_ns)
    aside = pack.rename(folder.parent / pack.name)
    pack.with_suffix(".idx").unlink()
    with aside.open("rb") as source:
        subprocess.run(["git", "-C", folder, "unpack-objects", "-q"], stdin=source, check=True)
    aside.unlink()


def told(folder: Path, *words: str) -> bytes:
    """What git says in a folder, whatever bytes that are."""
    return subprocess.run(["git", "-C", folder, *words], check=True, capture_output=True).stdout


@dataclass(frozen=True)
class Everything:
    """All that anyone can read from an archive."""

    history: dict[str, Any]
    refs: dict[str, bytes]
    shown: dict[str, bytes]
    rows: dict[str, Any]

    @classmethod
    def of(cls, root: Path) -> Everything:
        """Read it, by git and SQLite themselves where they can."""
        archive = Archive(root)
        history, refs, shown = {}, {}, {}
        for host in HOSTS:
            repo = archive.repository(host)
            for commit in told(repo.folder, "rev-list", "main").decode().split():
                history[commit] = committed(repo, commit)
            refs[f"refs of {host}"] = told(repo.folder, "for-each-ref", f"--format={ABOUT}")
            refs[f"HEAD of {host}"] = told(repo.folder, "rev-parse", "HEAD")
            refs[f"status of {host}"] = told(repo.folder, "status", "--porcelain")
            for path in repo.folder.rglob("*"):
                if path.is_file() and ".git" not in path.parts:
                    shown[str(path.relative_to(root))] = path.read_bytes()
        with sqlite3.connect(root / ".webarc" / "index.db") as index:
            rows = {table: sorted(index.execute(f"SELECT * FROM {table}").fetchall(), key=repr) for table in TABLES}
        index.close()
        return cls(history, refs, shown, rows)


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Everything]:
    """A sound archive that nobody changes, and all that is in it."""
    root = tmp_path_factory.mktemp("original") / "archive"
    build(root)
    ran = Webarc(root).run("verify", "--json")
    assert ran.code == 0, ran.out
    assert [each for each in ran.objects() if each.get("severity") == "damaged"] == []
    return root, Everything.of(root)


def copied(original: Path, place: Path) -> Webarc:
    """A copy of the archive, times of the files and all."""
    shutil.copytree(original, place, symlinks=True)
    return Webarc(place)


def check_named(webarc: Webarc, file: Path, place: int, original: Path, found: list[dict[str, Any]]) -> None:
    """If the flipped bit belongs to a page or its document, its URL and crawl are named."""
    if file.suffix != ".pack":
        return
    inside = file.relative_to(webarc.archive)
    folder = original / inside.parts[0]
    listed = [line.split() for line in told(folder, "verify-pack", "-v", str(original / inside)).decode().splitlines()]
    starts = {int(words[4]): words[0] for words in listed if len(words) >= 5 and words[4].isdigit()}
    before = [start for start in starts if start <= place]
    blob = starts[max(before)] if before else ""
    crawls = told(folder, "log", "--format=%s", "--raw", "--no-abbrev", "main").decode()
    paths = {line.split("\t")[1] for line in crawls.splitlines() if line.startswith(":") and blob and blob in line}
    pages = {path for path in paths if not path.startswith(".webarc/")}
    named = {each["path"] for each in found if each.get("url") and each.get("commitTag")}
    assert not pages or pages & named or place > file.stat().st_size - 21, (file, place, blob, pages, found)


@pytest.mark.parametrize("flip", list(flips()))
def test_one_bit(flip: Flip, original: tuple[Path, Everything], tmp_path: Path) -> None:
    root, everything = original
    webarc = copied(root, tmp_path / "archive")
    file, place = flip.apply(webarc.archive)
    ran = webarc.run("verify", "--json")
    assert ran.code in (0, 11) and "Traceback" not in ran.err and "internal" not in ran.err, (ran.out, ran.err)
    found = [each for each in ran.objects() if each.get("severity") == "damaged"]
    if not found:
        # Nobody can tell the difference: all that can be read is as it was.
        assert Everything.of(webarc.archive) == everything, (file, place)
        return
    assert ran.code == 11
    kinds = {each["finding"] for each in found}
    check_named(webarc, file, place, root, found)
    assert kinds & set(WHERE[flip.where][1]), (file, place, found)
    if "worktree" in kinds:
        assert [each["path"] for each in found] == [file.relative_to(webarc.archive).as_posix().partition("/")[2]]
    mended = webarc.run("verify", "--repair", "--json")
    assert mended.code in (10, 11) and "Traceback" not in mended.err and "internal" not in mended.err, mended.err
    left = [each for each in mended.objects() if each.get("severity") == "damaged"]
    again = webarc.run("verify", "--json")
    assert again.code == (11 if left else 0), (file, place, again.out)
    if not left:
        assert Everything.of(webarc.archive).history == everything.history
        assert Everything.of(webarc.archive).rows == everything.rows
