"""Completion in real shells: commands, values, files, and what the archive holds, quickly and without a trace."""

from __future__ import annotations

import os
import shlex
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.crawls import Webarc, environment
from tests.servers import Site
from tests.shells import Shell
from webarc.archive.layout import arc_of
from webarc.cli.beginnings import Beginning, SortedList, beginnings
from webarc.cli.typed_line import TypedLine

BREAKS = " \t\n\"'@><=;|&(:"
EVIL = "/x$(touch$IFS-pwned);id&y='z'"
PAGES = ("/news/2026/storm.html", "/news/2026/lamp.html", "/search?q=sea&page=2", EVIL, "/it's", "/only")


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Webarc, Site]]:
    """An archive with a site, a schedule and files beside it."""
    webarc = Webarc(tmp_path_factory.mktemp("completion") / "archive")
    links = "".join(f'<a href="{page}">x</a>' for page in (*PAGES, "/gone"))
    with Site({"/": links, **{page: page for page in PAGES}}) as site:
        webarc.crawl(site.url())
        webarc.run("schedule", "add", "nightly", "--cron", "0 3 * * *", site.url())
        here = webarc.archive.parent
        (here / "my urls.txt").write_text(site.url())
        (here / "sites").mkdir()
        yield webarc, site


@pytest.fixture(scope="module", params=["bash", "zsh", "zsh-sourced", "fish"])
def shell(request: pytest.FixtureRequest, crawled: tuple[Webarc, Site]) -> Iterator[Shell]:
    webarc, _ = crawled
    found = Shell(request.param, webarc.archive.parent)
    yield found
    found.close()


def answer(line: str, folder: Path, shell: str = "fish", **more: str) -> list[str]:
    """What webarc answers a shell."""
    asked = {"_WEBARC_COMPLETE": f"{shell}_complete", "_WEBARC_LINE": line, "_WEBARC_BREAKS": BREAKS}
    done = subprocess.run(
        [sys.executable, "-m", "webarc"],
        env=environment(**asked, **more),
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.stderr == ""
    return done.stdout.split("\n")[:-1] if done.stdout.strip() else []


def offered(line: str, folder: Path, **more: str) -> set[str]:
    """What is offered, without descriptions."""
    return {each.partition("\t")[0].partition(" ")[2] or each for each in answer(line, folder, **more)}


def test_in_a_real_shell(shell: Shell, crawled: tuple[Webarc, Site]) -> None:
    webarc, site = crawled
    news = site.url("/news/2026/")
    cases = [
        ("crawl --dep\t", ["crawl", "--depth"]),
        ("schedule rem\t", ["schedule", "remove"]),
        ("schedule remove ni\t", ["schedule", "remove", "nightly"]),
        ("crawl --scope=pre\t", ["crawl", "--scope=prefix"]),
        ("list 127\t", ["list", site.domain]),
        (f"get {site.url('/new')}\t", ["get", news]),
        (f"get {site.url('/x')}\t", ["get", site.url(EVIL)]),
        (f"get {site.url('/it')}\t", ["get", site.url("/it's")]),
        ("crawl my\t", ["crawl", "my urls.txt"]),
        (f"crawl {site.url('/on')}\t", ["crawl", site.url("/only")]),
    ]
    in_bash = [
        ("crawl --scope pre\t", ["crawl", "--scope", "prefix"]),
        (f"get '{news}st\t", ["get", f"{news}storm.html"]),
        (f'get "{site.url("/x")}\t', ["get", site.url(EVIL)]),
        (f"get {site.domain}/news/2026/la\t", ["get", f"{site.domain}/news/2026/lamp.html"]),
        (f"get {site.url('/sea')}\t", ["get", site.url("/search?q=sea&page=2")]),
        (f"get {site.url('/search')}\\?q=s\t", ["get", site.url("/search?q=sea&page=2")]),
        ("crawl sit\t", ["crawl", "sites/"]),
        ("get -q --archive arch\t", ["get", "-q", "--archive", "archive/"]),
        ("crawl 12\t", ["crawl", f"{site.domain}/"]),
    ]
    wanted = {"bash": [*cases, *in_bash], "zsh-sourced": cases[:3]}.get(shell.name, cases)
    for keys, arguments in wanted:
        assert shell.completed(keys) == arguments, keys
    assert not (webarc.archive.parent / "pwned").exists()


def test_files_are_completed_behind_redirections_in_a_real_shell(shell: Shell, crawled: tuple[Webarc, Site]) -> None:
    here = crawled[0].archive.parent
    file = here / "kept here.txt"
    for sign in (">", "> ", ">> ", "2>", "2> ", "&> ", "&>", "< ", "<"):
        file.touch()
        shell.completed(f"list {sign}kep\t")
        assert not (here / "kep").exists(), sign
        said = file.read_text()
        assert said.startswith("<webarc>\n<list>\n") or sign[0] in "2<", (sign, said)
        file.unlink()
    file.touch()
    if shell.name != "zsh-sourced":
        assert shell.completed("crawl < kep\t --dep\t") == ["crawl", "--depth"]
    if shell.name == "fish":  # bash takes what follows this `&` for another command
        assert shell.completed("2>&1 crawl --dep\t") == ["crawl", "--depth"]
    file.unlink()


def test_redirections_are_no_arguments(crawled: tuple[Webarc, Site]) -> None:
    webarc, site = crawled
    for line, wanted in (
        ("webarc list > x", ["file"]),
        ("webarc list >x", ["file"]),
        ("webarc list 2>", ["file"]),
        ("webarc list <<", []),
        ("webarc list 2>&1 12", [f"word {site.domain}"]),
        ("webarc list >'a b' 12", [f"word {site.domain}"]),
        ("webarc list '>' 12", []),
    ):
        assert answer(line, webarc.archive.parent) == wanted, line


def test_what_is_offered(crawled: tuple[Webarc, Site]) -> None:
    webarc, site = crawled
    here, root, domain = webarc.archive.parent, site.url(), site.domain
    for line, wanted in (
        ("webarc dif", {"diff"}),
        ("webarc -q dif", {"diff"}),
        ("webarc --ar", {"--archive"}),
        ("webarc crawl --no-rob", {"--no-robots"}),
        ("webarc get -", {"-o", "--output", "-q", "--quiet", "--archive"}),
        ("webarc log ", {domain, f"{domain}/"}),
        ("webarc verify ", {domain}),
        (f"webarc verify {domain} ", {domain}),
        ("webarc get http", {"http://", "https://"}),
        ("webarc get http://12", {root}),
        ("webarc get http://", {root}),
        ("webarc get ftp://", set()),
        ("webarc crawl gopher://12", set()),
        (f"webarc get {root}news", {site.url(page) for page in PAGES[:2]}),
        (f"webarc get {root}gone", set()),
        ("webarc crawl --engine ", {"webarc", "wget"}),
        ("webarc crawl --depth ", {"inf"}),
        ("webarc --zone l", {"local"}),
        ("webarc list --zone CE", {"CET"}),
        ("webarc list --zone Europe/Berl", {"Europe/Berlin"}),
        ("webarc crawl --drop-query ", {"session", "tracking"}),
        (f"webarc get {root}only --version ", {"1"}),
        (f"webarc get {domain}/only --version=", {"--version=1"}),
        ("webarc get --version ", set()),
        ("webarc diff --color a", {"auto", "always"}),
        ("webarc crawl --proxy ", set()),
        ("webarc retain --keep daily=30,mo", {"daily=30,monthly="}),
        ("webarc config show crawl.http_", {"crawl.http_user", "crawl.http_password"}),
        ("webarc schedule add n --every 1h my", {"file"}),
        ("webarc schedule add n --every 1h --exc", {"--exclude"}),
        ("webarc schedule run ", {"nightly"}),
        ("webarc checkout example.org ", {"dir"}),
        ("webarc help sched", {"schedule"}),
        ("webarc help schedule cr", {"crontab"}),
        ("webarc completion ", {"bash", "zsh", "fish"}),
        ("webarc nonsense ", set()),
        ('webarc get "', {f"{domain}/"}),
    ):
        found = offered(line, here)
        assert found >= wanted if line.endswith("-") else found == wanted, line


def test_an_archive_named_in_the_line_or_the_environment_is_used(crawled: tuple[Webarc, Site], tmp_path: Path) -> None:
    webarc, site = crawled
    assert offered("webarc list ", tmp_path) == set()
    for line in (f"webarc --archive {webarc.archive} list ", f"webarc list --archive={webarc.archive} "):
        assert offered(line, tmp_path) == {site.domain}
    assert offered("webarc list ", tmp_path, WEBARC_ARCHIVE=str(webarc.archive)) == {site.domain}


def test_where_there_is_no_archive_or_a_broken_one_nothing_is_said(tmp_path: Path) -> None:
    inside = tmp_path / "archive" / ".webarc"
    assert offered("webarc crawl x", tmp_path) == {"file"}
    (tmp_path / "archive" / "example.org" / ".git").mkdir(parents=True)
    for make in (inside.mkdir, lambda: (inside / "index.db").write_bytes(b"no database" * 99)):
        make()
        assert offered("webarc get https://example.org/", tmp_path) == set()
        assert offered("webarc get exa", tmp_path) == {"example.org/"}
        assert offered("webarc schedule remove ", tmp_path) == set()
    (tmp_path / "webarc.toml").write_text("nonsense\n[")
    assert offered("webarc crawl --sc", tmp_path) == {"--scope"}


def test_pages_that_were_forgotten_are_not_offered(tmp_path: Path) -> None:
    webarc = Webarc(tmp_path / "archive")
    with Site({"/": "<a href=/a1>a</a><a href=/a2>b</a>", "/a1": "one", "/a2": "two"}) as site:
        webarc.crawl(site.url())
        webarc.crawl(site.url())
        assert webarc.run("forget", site.url("/a1"), "--reason", "test", "--yes").code == 0
        assert offered(f"webarc get {site.url('/a')}", tmp_path) == {site.url("/a2")}


def traces(folder: Path) -> dict[str, tuple[int, int]]:
    return {str(path): (path.lstat().st_mtime_ns, path.lstat().st_size) for path in folder.rglob("*")}


@pytest.fixture(scope="module")
def large(crawled: tuple[Webarc, Site], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with an archive whose index knows 100,000 URLs of example.org."""
    webarc, _ = crawled
    folder = tmp_path_factory.mktemp("large")
    inside = folder / "archive" / ".webarc"
    inside.mkdir(parents=True)
    (folder / "archive" / "example.org" / ".git").mkdir(parents=True)
    with closing(sqlite3.connect(webarc.archive / ".webarc" / "index.db")) as small:
        made = "SELECT sql FROM sqlite_schema WHERE type = 'table' AND name IN ('sighting', 'version') ORDER BY name"
        layouts = [layout for (layout,) in small.execute(made)]
        columns = len(small.execute("PRAGMA table_info(version)").fetchall())
    urls = [f"https://example.org/{kind}/{number:05}.html" for kind in ("news", "shop") for number in range(50_000)]
    with closing(sqlite3.connect(inside / "index.db")) as index:
        index.execute("PRAGMA journal_mode = WAL")
        for layout in layouts:
            index.execute(layout)
        rest = ("",) * (columns - 3)
        versions = (("example.org", arc_of(url), 1, *rest) for url in urls)
        index.executemany(f"INSERT INTO version VALUES ({', '.join('?' * columns)})", versions)
        rows = (("example.org", "d", url, 200, "", "", "", "t", None) for url in urls)
        index.executemany(f"INSERT INTO sighting VALUES ({', '.join('?' * 9)})", rows)
        index.commit()
    return folder


def test_a_hundred_thousand_urls_are_completed_at_once_and_without_a_trace(large: Path) -> None:
    before = traces(large)
    assert offered("webarc get https://example.org/", large) == {
        "https://example.org/news/",
        "https://example.org/shop/",
    }
    start = time.monotonic()
    assert len(offered("webarc get example.org/shop/", large)) == 5
    assert time.monotonic() - start < 0.5 * (1 + os.getloadavg()[0])
    assert len(offered("webarc get example.org/shop/123", large)) == 100
    assert offered("webarc get example.org/shop/12345", large) == {"example.org/shop/12345.html"}
    assert traces(large) == before


def test_while_somebody_writes_the_index_is_read_and_not_touched(large: Path) -> None:
    index = large / "archive" / ".webarc" / "index.db"
    with closing(sqlite3.connect(index, isolation_level=None)) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
        writer.execute("BEGIN IMMEDIATE")
        writer.execute(
            "INSERT INTO sighting VALUES ('example.org', 'd', 'https://example.org/x', 301, '', '', '', 't', NULL)"
        )
        writer.execute("COMMIT")
        writer.execute("BEGIN IMMEDIATE")
        before = traces(large)
        assert "https://example.org/x" in offered("webarc get https://example.org/", large)
        assert traces(large) == before


@given(st.lists(st.text("ab/é", max_size=5), max_size=300), st.text("ab", max_size=2))
def test_few_beginnings_stand_for_many_texts(texts: list[str], start: str) -> None:
    known = sorted({text * 3 for text in texts})
    wanted = [text for text in known if text.startswith(start)]
    found = beginnings(SortedList(known), start)
    assert len(found) <= 100
    if len(wanted) <= 100:
        assert found == [Beginning(text, True) for text in wanted]
    for text in wanted:
        (led,) = [each for each in found if text == each.text or (not each.is_whole and text.startswith(each.text))]
        assert led.text.startswith(start)
    assert all(each.text in wanted for each in found if each.is_whole)


@given(st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=12))
def test_what_is_offered_is_read_as_it_was_meant(text: str) -> None:
    for quote in ("", '"', "'"):
        whole = TypedLine(f"webarc get {quote}").continued(text, "")
        if quote == "'" and "'" in text:
            assert whole is None
        elif whole is not None and (quote != '"' or not set(text) & {"$", "`"}):  # shlex does not know these escapes
            assert shlex.split(f"{quote}{whole}{quote}") == [text]
        part = TypedLine(f"webarc get {quote}").continued(text, BREAKS)
        assert part == whole, "of a word that is not yet begun nothing is left out"


@pytest.mark.parametrize(
    ("line", "words", "last", "typed"),
    [
        ("webarc get http://a/", ["webarc", "get"], "http://a/", "//a/b\\ c"),
        ("webarc get http\\://a/", ["webarc", "get"], "http://a/", "//a/b\\ c"),
        ('webarc  get  "http://a/', ["webarc", "get"], "http://a/", "http://a/b c"),
        ("webarc when 'x y' http://a/", ["webarc", "when", "x y"], "http://a/", "//a/b\\ c"),
        ("webarc get http://'a/'", ["webarc", "get"], "http://a/", None),
        ("webarc get \\", ["webarc", "get"], "", "http://a/b\\ c"),
        ("webarc get>x 2>&1 {a}>>y &>z http://a/", ["webarc", "get"], "http://a/", "//a/b\\ c"),
        ("webarc get 'a>b' \\> 3>'x y' http://a/", ["webarc", "get", "a>b", ">"], "http://a/", "//a/b\\ c"),
    ],
)
def test_a_line_that_is_still_typed(line: str, words: list[str], last: str, typed: str | None) -> None:
    read = TypedLine(line)
    assert (read.words, read.last, read.continued("http://a/b c", BREAKS)) == (words, last, typed)
