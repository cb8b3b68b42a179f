"""Tables of versions and crawls: columns as wide as what is in them, at any width of a terminal."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys

import pytest

from tests.crawls import Webarc, environment
from tests.histories import History, Page
from webarc.archive.store import Archive

HOST = "a-rather-long-subdomain.of-some.organisation.example.org:18443"
PATH = "some/deep/path/with/many/parts/article-2026-11-15-about-something.html"
TITLE = "A rather long title that goes on and on as titles of newspapers do until nobody reads it any more"


@pytest.fixture(scope="module")
def webarc(tmp_path_factory: pytest.TempPathFactory) -> Webarc:
    """A host with a long name and a port, a long path, a long title, a long type."""
    webarc = Webarc(tmp_path_factory.mktemp("columns") / "archive")
    site = History(Archive.create(webarc.archive), HOST)
    odd = Page("x", "application/vnd.openxmlformats-officedocument.wordprocessingml.document", file="data.docx")
    site.crawl({"": Page("<p>one", title="Home"), PATH: Page("text", title=TITLE), "doc": odd})
    site.crawl({"": Page("<p>two", title="Home")})
    return webarc


def on_a_terminal(webarc: Webarc, width: int, *arguments: str) -> list[str]:
    """The lines that a command prints on a terminal of a width, without colours."""
    leader, follower = pty.openpty()
    command = [sys.executable, "-m", "webarc", "--archive", str(webarc.archive), *arguments]
    with subprocess.Popen(command, stdout=follower, env=environment(COLUMNS=str(width)), stdin=subprocess.DEVNULL):
        os.close(follower)
        seen = b""
        while True:
            try:
                seen += os.read(leader, 65536)
            except OSError:
                break
    os.close(leader)
    return re.sub(r"\x1b\[[0-9;]*m", "", seen.decode()).replace("\r\n", "\n").splitlines()


def test_a_column_is_as_wide_as_a_host_with_a_port(webarc: Webarc) -> None:
    headers, *rows = webarc.run("log", f"{HOST}/").out.splitlines()
    for row in rows:
        assert headers.index("commitTag") == row.index("2026-01-01T")
        assert headers.index("title") == row.index("Home")
    headers, *rows = webarc.run("log", HOST).out.splitlines()
    assert {row.index("2026-01-01T") for row in rows} == {headers.index("commitTag")}
    assert {row.rindex("yes") for row in rows} == {headers.index("complete")}


def test_one_long_cell_does_not_push_the_others_apart(webarc: Webarc) -> None:
    headers, *rows = webarc.run("list", HOST).out.splitlines()
    assert sum(headers.index("url") == row.index("http://") for row in rows) == 2
    assert headers.index("url") < 80


@pytest.mark.parametrize("width", [80, 200])
@pytest.mark.parametrize("arguments", [["list"], ["list", HOST], ["list", "--where", "number = 1"], ["log", HOST]])
def test_nothing_is_lost_at_any_width(webarc: Webarc, width: int, arguments: list[str]) -> None:
    lines = on_a_terminal(webarc, width, *arguments)
    headers = lines[0]
    edge = headers.index("pages") if arguments == ["list"] else None
    assert HOST in "".join(line[:edge].strip() for line in lines)
    assert any("2026-01-01 01:00:00" in line for line in lines)
    if arguments[0] == "log":
        assert {line.index("2026-01-01 ") for line in lines if "2026-01-01 " in line} == {headers.index("time")}
    if arguments != ["list"] and width == 80:
        # Only a URL, a type or a commitTag that is itself too long goes over the edge.
        assert all(len(line) <= width or re.search(r"\S{41}", line) for line in lines)
    if "--where" in arguments:
        assert TITLE in " ".join(" ".join(lines).split())
