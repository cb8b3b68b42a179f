"""What newcomers get wrong: each mistake is answered with one sentence that says what to do."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.crawls import Ran, Webarc, environment
from tests.disks import small_file_system
from tests.servers import Site

PAGES = {"/": "<a href=/about>about</a><a href=/news/today>news</a>", "/about": "about", "/news/today": "news"}


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Webarc, Site]]:
    """An archive of a small site."""
    webarc = Webarc(tmp_path_factory.mktemp("mistakes") / "archive")
    with Site(PAGES) as site:
        webarc.crawl(site.url())
        yield webarc, site


def one_sentence(ran: Ran, code: int, *hints: str) -> None:
    """One line on stderr, with what to do in it, and nothing that looks like a crash."""
    assert ran.code == code, (ran.code, ran.out, ran.err)
    lines = [line for line in ran.err.splitlines() if not line.endswith(": crawling")] or ran.out.splitlines()[-1:]
    assert len(lines) == 1, ran.err
    assert "Traceback" not in ran.err and "Error(" not in ran.err
    for hint in hints:
        assert hint in lines[0], lines[0]


def test_a_url_that_was_never_crawled(crawled: tuple[Webarc, Site]) -> None:
    webarc, site = crawled
    one_sentence(webarc.run("get", site.url("/abuot")), 2, site.url("/about"))


def test_a_url_of_another_kind(crawled: tuple[Webarc, Site]) -> None:
    webarc, _ = crawled
    one_sentence(webarc.run("get", "ftp://example.org/"), 2, "http")


EARLY, LATE = "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"


@pytest.mark.parametrize("when", [EARLY, LATE])
@pytest.mark.parametrize(
    "command", ["get URL --at", "log URL --since", "log DOMAIN --until", "checkout DOMAIN out --at", "list --where"]
)
def test_a_time_before_the_first_or_behind_the_last(crawled: tuple[Webarc, Site], command: str, when: str) -> None:
    webarc, site = crawled
    words = [{"URL": site.url(), "DOMAIN": site.domain}.get(word, word) for word in command.split()]
    ran = webarc.run(*words, f"crawlTime > '{when}'" if command == "list --where" else when)
    one_sentence(ran, 2, when, "write it like")


def test_a_crawl_in_the_last_second_of_all(crawled: tuple[Webarc, Site]) -> None:
    webarc, site = crawled
    for when in ("9999-12-31T23:59:59", LATE):
        for words in (("get", site.url(), "--version"), ("changes", site.domain)):
            ran = webarc.run(*words, f"{when}@{site.domain}")
            one_sentence(ran, 2, when)


def test_going_on_where_there_is_no_archive(tmp_path: Path) -> None:
    one_sentence(Webarc(tmp_path / "none").run("crawl", "--resume"), 2, "holds no archive", "webarc init")
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("command", ["changes", "list", "checkout", "compact", "verify", "db-recover"])
def test_a_page_where_a_domain_is_wanted(crawled: tuple[Webarc, Site], command: str, tmp_path: Path) -> None:
    webarc, site = crawled
    more = [tmp_path / "out"] if command == "checkout" else []
    for text in (site.url("/about"), f"{site.domain}/about"):
        ran = webarc.run(command, text, *more)
        assert ran.code == 0 and f"the path /about is ignored; all of {site.domain} is meant.\n" in ran.err, ran.err
        more = [tmp_path / "more"] if more else []
    for text in (site.url(), site.domain, webarc.folder(site.url()).name):
        ran = webarc.run("list", text)
        assert (ran.code, ran.err) == (0, "")


def test_a_misspelt_domain(crawled: tuple[Webarc, Site]) -> None:
    webarc, site = crawled
    one_sentence(webarc.run("changes", site.domain.replace("127.0.0.1", "127.0.0.11")), 2, site.domain)


def test_no_archive_here(tmp_path: Path) -> None:
    one_sentence(Webarc(tmp_path / "nothing").run("list"), 2, "webarc init")


def test_an_archive_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    one_sentence(Webarc(tmp_path / "file").run("crawl", "http://127.0.0.1:9/"), 2, "folder")


def test_a_time_in_the_future(crawled: tuple[Webarc, Site]) -> None:
    webarc, site = crawled
    ran = webarc.run("get", site.url("/about"), "--at", "2099-01-01")
    one_sentence(ran, 0, "future")
    assert ran.out == "about"


def test_a_time_before_the_first_version(crawled: tuple[Webarc, Site]) -> None:
    webarc, site = crawled
    one_sentence(webarc.run("get", site.url("/about"), "--at", "1999-01-01"), 2, "first", "20")


def test_a_time_that_is_none(crawled: tuple[Webarc, Site]) -> None:
    webarc, site = crawled
    one_sentence(webarc.run("get", site.url("/about"), "--at", "next tuesday-ish"), 2, "2026-")


def test_a_version_that_is_not_there(crawled: tuple[Webarc, Site]) -> None:
    webarc, site = crawled
    one_sentence(webarc.run("get", site.url("/about"), "--version", "7"), 2, "1")


def test_a_condition_that_is_none(crawled: tuple[Webarc, Site]) -> None:
    webarc, _ = crawled
    one_sentence(webarc.run("list", "--where", "colour = 'red'"), 2, "colour")


def test_a_misspelt_command(crawled: tuple[Webarc, Site]) -> None:
    webarc, _ = crawled
    one_sentence(webarc.run("chekout"), 2, "checkout")


def test_a_folder_that_is_not_empty(crawled: tuple[Webarc, Site], tmp_path: Path) -> None:
    webarc, site = crawled
    (tmp_path / "mine").write_text("precious")
    one_sentence(webarc.run("checkout", site.domain, str(tmp_path)), 2, "empty")
    assert (tmp_path / "mine").read_text() == "precious"


def test_forgetting_without_being_asked(crawled: tuple[Webarc, Site]) -> None:
    webarc, site = crawled
    ran = webarc.run("-q", "forget", site.url("/about"), "--reason", "because")
    assert ran.code == 2 and "--yes" in ran.err and "Traceback" not in ran.err
    assert webarc.run("get", site.url("/about")).out == "about"


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    with small_file_system(tmp_path / "disk", 4) as disk, Site(PAGES) as site:
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        one_sentence(Webarc(disk / "archive").run("crawl", site.url()), 3, "Read-only")


def test_reading_an_archive_that_cannot_be_written(tmp_path: Path) -> None:
    with small_file_system(tmp_path / "disk", 16) as disk, Site(PAGES) as site:
        webarc = Webarc(disk / "archive")
        webarc.crawl(site.url())
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        ran = webarc.run("get", site.url("/about"))
        assert (ran.code, ran.out) == (0, "about"), ran.err
        assert webarc.run("list").code == 0


def test_a_domain_folder_that_is_no_repository(crawled: tuple[Webarc, Site], tmp_path: Path) -> None:
    webarc, site = crawled
    copy = Webarc(tmp_path / "archive")
    shutil.copytree(webarc.archive, copy.archive, symlinks=True)
    shutil.rmtree(copy.folder(site.url()) / ".git")
    one_sentence(copy.run("log", site.url("/about")), 2, site.domain)


def test_a_list_of_urls_that_cannot_be_read_as_such(tmp_path: Path) -> None:
    webarc = Webarc(tmp_path / "archive")
    for name, data, said in (
        ("empty.txt", b"# nothing\n", "there is no start URL in 'empty.txt'; write one URL a line there."),
        (
            "latin.txt",
            b"https://example.org/caf\xe9\n",
            "there is no start URL; the first problem is latin.txt:1: the line is not UTF-8; save the file as UTF-8.",
        ),
        (
            "two.txt",
            b"http://a.test/ http://b.test/",
            "the first problem is two.txt:1: 'http://b.test/' stands behind another URL; write each",
        ),
        ("bare.txt", b"http://a.test/ b.test/c", "bare.txt:1: 'b.test/c' stands behind another URL;"),
    ):
        (tmp_path / name).write_bytes(data)
        one_sentence(webarc.run("crawl", "--dry-run", name), 2, said)
    one_sentence(webarc.run("crawl", ""), 2, "a source is empty; give a URL, a file")
    one_sentence(webarc.run("crawl", "-"), 2, "no start URL in standard input")


def test_an_option_that_is_like_no_other(tmp_path: Path) -> None:
    webarc = Webarc(tmp_path / "archive")
    one_sentence(webarc.run("filters", "--nope"), 2, "webarc: there is no option --nope; see `webarc filters -h`.")
    one_sentence(webarc.run("filters", "--jsn"), 2, "there is no option --jsn, did you mean --json?")


def test_a_current_folder_that_was_deleted(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    script = 'rmdir "$PWD"; exec "$0" -m webarc list'
    done = subprocess.run(
        ["sh", "-c", script, sys.executable], cwd=gone, env=environment(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 3 and done.stderr == (
        "webarc: the command failed: the current folder does not exist any more; change to one that does.\n"
    )


@pytest.mark.parametrize("command", ["verify", "compact", "db-recover"])
def test_a_missing_git_is_told_once(crawled: tuple[Webarc, Site], command: str, tmp_path: Path) -> None:
    webarc, _ = crawled
    one_sentence(webarc.run(command, PATH=str(tmp_path)), 2, "git was not found; install it")
