"""`webarc get`: the bytes of any version, whole or not at all."""

from __future__ import annotations

import os
import pty
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tests.crawls import Webarc, environment
from tests.histories import History, Page
from tests.servers import Page as Answer
from tests.servers import Site
from webarc.archive.store import Archive

DAY = "2026-01-01"
BINARY = "".join(map(chr, range(256))) * 9000


@pytest.fixture(scope="module")
def webarc(tmp_path_factory: pytest.TempPathFactory) -> Webarc:
    """/a with three versions from 01:00 on, /b that goes at 03:00, /moved that leads to /a then, a binary file."""
    webarc = Webarc(tmp_path_factory.mktemp("get") / "archive")
    site = History(Archive.create(webarc.archive))
    ok = site.outcome
    binary = Page(BINARY, "application/zip", file="data.zip")
    first = {
        "a": "one\r\n",
        "b": "b one",
        "moved": "m",
        "file.zip": binary,
        "evil": Page("<p>\x1b]0;owned\x07\u009b2J\tü</p>\n"),
    }
    site.crawl({**first}, urls=[ok("a"), ok("b"), ok("moved")])
    site.crawl({"a": "two"}, urls=None)
    to = ok("moved", 301, target=site.url("a"))
    site.crawl({"a": "three"}, ("b", "moved"), urls=[ok("a"), ok("b", 404), to, ok("other", 302, target=site.url("a"))])
    return webarc


def raw(webarc: Webarc, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "webarc", "--archive", str(webarc.archive), *arguments]
    return subprocess.run(command, capture_output=True, env=environment(), cwd=webarc.archive.parent)


def on_terminal(webarc: Webarc, *arguments: str) -> tuple[int, str]:
    """Exit code and all that a command shows on a terminal."""
    command = [sys.executable, "-m", "webarc", "--archive", str(webarc.archive), *arguments]
    master, slave = pty.openpty()
    process = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, env=environment(TERM="xterm"))
    os.close(slave)
    shown = b""
    while True:
        try:
            piece = os.read(master, 65536)
        except OSError:
            break
        if not piece:
            break
        shown += piece
    os.close(master)
    return process.wait(), shown.decode().replace("\r\n", "\n")


def test_the_bytes_and_nothing_else(webarc: Webarc) -> None:
    got = raw(webarc, "get", "example.org/file.zip")
    assert (got.returncode, got.stdout, got.stderr) == (0, BINARY.encode(), b"")
    assert raw(webarc, "get", "example.org/a", "--version", "1").stdout == b"one\r\n"


def test_any_version_by_time_number_or_crawl(webarc: Webarc) -> None:
    wanted = {
        (): "three",
        ("--version", "-2"): "two",
        ("--at", f"{DAY} 01:30"): "one\r\n",
        ("--at", "20260101010000"): "two",
        ("--at", DAY): "three",
        ("--commit", f"{DAY}T02:00:00@example.org"): "two",
    }
    for options, body in wanted.items():
        ran = raw(webarc, "get", "https://example.org/a", *options)
        assert (ran.returncode, ran.stdout.decode(), ran.stderr) == (0, body, b""), options


def test_a_page_that_is_gone_gives_its_last_version_and_a_note(webarc: Webarc) -> None:
    ran = webarc.run("get", "example.org/b")
    assert (ran.code, ran.out) == (0, "b one")
    assert f"http://example.org/b was gone at {DAY} 03:00:00 CET; this is its last version before, 1" in ran.err
    moved = webarc.run("get", "example.org/moved", "--at", f"{DAY} 05:00")
    assert (moved.code, moved.out) == (0, "m") and "was moved to http://example.org/a at" in moved.err
    assert webarc.run("get", "example.org/b", "--at", f"{DAY} 02:30").err == ""
    assert webarc.run("get", "example.org/other").out == "three"


def test_a_time_to_come_is_the_newest_and_said_so(webarc: Webarc) -> None:
    ran = webarc.run("get", "example.org/a", "--at", "2199-01-01")
    assert (ran.code, ran.out) == (0, "three") and "is in the future; this is the newest version" in ran.err


def test_mistakes_are_one_sentence(webarc: Webarc) -> None:
    mistakes = {
        ("example.org/a", "--at", "2025-12-31"): f"its first version is 1, of {DAY} 01:00:00 CET",
        ("example.org/a", "--version", "4"): "has no version 4; it has 1 to 3",
        ("example.org/a", "--version", "1", "--at", DAY): "exclude each other",
        ("example.org/a", "--commit", "nonsense"): "webarc log example.org",
        ("example.org/a", "--at", "next week"): "is not a time; write it like",
        ("example.org/ab",): "the nearest it has: http://example.org/a",
        ("exampel.org/a",): "did you mean example.org?",
        ("mailto://x",): "is not an http or https URL",
        ("example.org/a", "-o", "."): "is a folder; name a file in it",
    }
    for arguments, said in mistakes.items():
        ran = webarc.run("get", *arguments)
        assert (ran.code, ran.out) == (2, "") and said in ran.err and ran.err.count("\n") == 1, ran.err
    machine = webarc.run("get", "example.org/ab", "--json")
    assert machine.code == 2 and '"error": "UnknownURL"' in machine.err


def test_headers_come_before_the_bytes(webarc: Webarc) -> None:
    got = raw(webarc, "get", "example.org/a", "--headers", "--version", "2")
    assert got.stdout == b"HTTP/1.1 200 OK\r\nServer: made up\r\n\r\ntwo"


def test_what_is_known_as_json(webarc: Webarc, tmp_path: Path) -> None:
    version = webarc.run("get", "example.org/a", "--json").result()
    assert list(version) == ["number", "url", "crawlTime", "commitTag", "status", "mimeType", "size", "sha256", "title"]
    assert (version["number"], version["size"]) == (3, 5)
    file = tmp_path / "a"
    version = webarc.run("get", "example.org/a", "--json", "--headers", "-o", file, "--version", "2").result()
    assert file.read_text() == "two" and version["headers"] == [["Server", "made up"]]


def test_a_file_is_whole_or_not_there(webarc: Webarc, tmp_path: Path) -> None:
    file = tmp_path / "out.zip"
    assert raw(webarc, "get", "example.org/file.zip", "-o", str(file)).stdout == b""
    assert file.read_bytes() == BINARY.encode() and stat.S_IMODE(file.stat().st_mode) == 0o644
    file.chmod(0o600)
    link = tmp_path / "link"
    link.symlink_to(file)
    webarc.run("get", "example.org/a", "-o", link)
    assert file.read_bytes() == b"three" and link.is_symlink() and stat.S_IMODE(file.stat().st_mode) == 0o600
    webarc.run("get", "example.org/ab", "-o", file)
    assert file.read_bytes() == b"three"
    ran = webarc.run("get", "example.org/a", "-o", tmp_path / "nowhere" / "x")
    assert ran.code == 3 and ran.err.count("\n") == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "out.zip"]
    assert webarc.run("get", "example.org/a", "-o", "/dev/null").code == 0 and Path("/dev/null").is_char_device()


def test_damage_leaves_no_file_behind(tmp_path: Path) -> None:
    site = History(Archive.create(tmp_path / "archive"))
    for body in ("one", "two"):
        site.crawl({"a": body})
    webarc = Webarc(site.archive.root)
    assert webarc.run("get", "example.org/a").out == "two"
    for pack in site.repo.git_dir.glob("objects/pack/*.pack"):
        pack.chmod(0o644)
        data = bytearray(pack.read_bytes())
        data[12:-20] = bytes(byte ^ 0x55 for byte in data[12:-20])
        pack.write_bytes(data)
    file = tmp_path / "out"
    file.write_text("mine")
    ran = webarc.run("get", "example.org/a", "-o", file)
    assert ran.code in (3, 11) and ran.err.count("\n") == 1, ran.err
    assert file.read_text() == "mine" and sorted(path.name for path in tmp_path.iterdir()) == ["archive", "out"]


def test_a_terminal_is_not_spoilt(webarc: Webarc) -> None:
    code, shown = on_terminal(webarc, "get", "example.org/file.zip")
    assert code == 2 and "would spoil the terminal; write it to a file with -o FILE" in shown and "\0" not in shown
    code, shown = on_terminal(webarc, "get", "example.org/evil", "--headers")
    assert code == 0 and shown.startswith("HTTP/1.1 200 OK\nServer: made up\n\n<p>\\x1b]0;owned\\x07\\x9b2J\tü</p>\n")
    code, shown = on_terminal(webarc, "get", "example.org/evil", "-o", "-")
    assert code == 0 and "\x1b]0;owned" in shown


def test_a_reader_that_has_enough_ends_it_quietly(webarc: Webarc) -> None:
    command = f"{sys.executable} -m webarc --archive {webarc.archive} get example.org/file.zip | head -c 10"
    done = subprocess.run(command, shell=True, capture_output=True, env=environment())
    assert len(done.stdout) == 10 and b"Traceback" not in done.stderr and b"error" not in done.stderr


def test_nothing_is_fetched_and_no_lock_is_waited_for(tmp_path: Path) -> None:
    webarc = Webarc(tmp_path / "archive")
    with Site({"/": "<title>Home</title>"}) as site:
        webarc.crawl(site.url())
        url, asked = site.url(), len(site.requests)
        archive = Archive(webarc.archive)
        (domain,) = archive.domains()
        with archive.lock_crawl(domain), archive.lock_tree(domain):
            for command in (("get", url), ("log", url), ("list", domain)):
                assert webarc.run(*command).code == 0
        assert webarc.run("get", f"{url}new").code == 2
        assert len(site.requests) == asked


def test_a_terminal_shows_old_encodings_as_browsers_do(tmp_path: Path) -> None:
    webarc = Webarc(tmp_path / "archive")
    with Site({"/": Answer(b"<p>\xad\xa1\xad\xea</p>", type="text/html; charset=euc-jp")}) as site:
        webarc.crawl(site.url())
        assert on_terminal(webarc, "get", site.url()) == (0, "<p>①㈱</p>")
