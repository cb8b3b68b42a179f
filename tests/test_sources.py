"""Start URLs from arguments, files and standard input."""

from __future__ import annotations

import io
import os
from contextlib import chdir
from pathlib import Path
from time import perf_counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webarc.archive.urls import canonical
from webarc.crawler.sources import Sources, Start, read_sources, start_of
from webarc.errors import BadURL, StorageProblem, UsageProblem, WebarcError

DATA = Path(__file__).parent / "data"


def read(*args: str, stdin: bytes = b"") -> Sources:
    return read_sources(args, io.BytesIO(stdin))


def urls(sources: Sources) -> list[str]:
    return [start.url for start in sources.urls]


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("https://example.org", "https://example.org/"),
        ("HTTP://Example.ORG:80/a#b", "http://example.org/a"),
        ("example.org/x", "https://example.org/x"),
        ("example.org:8080", "https://example.org:8080/"),
        ("example.org?q=1", "https://example.org/?q=1"),
        ("localhost:8000/x", "http://localhost:8000/x"),
        ("127.0.0.1/x", "http://127.0.0.1/x"),
        ("[::1]:8080", "http://[::1]:8080/"),
        ("bücher.example", "https://xn--bcher-kva.example/"),
        ("https://h/a b", "https://h/a%20b"),
    ],
)
def test_one_url(text: str, url: str) -> None:
    assert read(text) == Sources([Start(url)], [])


@pytest.mark.parametrize(
    "text",
    [
        *(
            "-oProxyCommand=x",
            "--upload-pack=x",
            "-",
            "ftp://h/",
            "mailto:a@b.org",
            "javascript:alert(1)",
            "file:///etc/passwd",
        ),
        *(
            "http://",
            "http://-oProxyCommand=x/",
            "https://--upload-pack=x",
            "http://a b/",
            "just words",
            "noscheme",
            "/x",
            "",
            "data:,x",
        ),
    ],
)
def test_what_is_no_url(text: str) -> None:
    with pytest.raises(BadURL):
        start_of(text)


@pytest.mark.parametrize(
    "arg", ["-oProxyCommand=x", "--upload-pack=x", "http://-oProxyCommand=x/", "ftp://h/x", "mailto:a@b.org"]
)
def test_such_an_argument_is_refused(arg: str) -> None:
    with pytest.raises(UsageProblem):
        read("https://example.org/", arg)


@pytest.mark.parametrize(
    "arg",
    [
        "urls.txt",
        "lists/urls.txt",
        "/nowhere/urls.txt",
        "./urls",
        "noscheme",
        "my urls",
        "sites.csv",
        "x" * 5000,
        "a\0b",
    ],
)
def test_a_missing_file_gets_both_readings(arg: str, tmp_path: Path) -> None:
    with chdir(tmp_path), pytest.raises(UsageProblem) as caught:
        read(arg)
    assert "file" in str(caught.value)
    assert "URL" in str(caught.value)


def test_a_messy_file() -> None:
    name = str(DATA / "urls-messy.txt")
    found = read(name)
    assert found.urls == [
        Start("https://example.org/"),
        Start("https://example.org/x"),
        Start("https://example.org/private", "anna", "s3cret"),
        Start("http://127.0.0.1:8080/y"),
    ]
    assert [problem.partition(": ")[0] for problem in found.problems] == [
        f"{name}:{line}" for line in (6, 7, 8, 10, 11, 12)
    ]
    assert not any(secret in problem for problem in found.problems for secret in ("s3", "cret", "anna:"))


@pytest.mark.parametrize(
    "data",
    [
        b"https://a.test/\nhttps://b.test/\n",
        b"\xef\xbb\xbfhttps://a.test/\r\nhttps://b.test/\r\n",
        b"https://a.test/\rhttps://b.test/",
        "https://a.test/\r\nhttps://b.test/\r\n".encode("utf-16"),
        b"\n\n# remark\n  https://a.test/  \n\thttps://b.test/ # b\nhttps://a.test/#x\n",
    ],
)
def test_files_as_editors_leave_them(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "urls").write_bytes(data)
    expected = ["https://a.test/", "https://b.test/"]
    assert urls(read(str(tmp_path / "urls"))) == expected
    assert urls(read("-", stdin=data)) == expected
    assert urls(read_sources(["-"], io.TextIOWrapper(io.BytesIO(data)))) == expected


def test_sources_are_joined_without_duplicates(tmp_path: Path) -> None:
    (tmp_path / "urls").write_text("https://b.test/\nhttps://a.test/\n")
    found = read("https://a.test", str(tmp_path / "urls"), "-", "c.test", stdin=b"https://b.test/\nhttps://d.test/\n")
    assert urls(found) == ["https://a.test/", "https://b.test/", "https://d.test/", "https://c.test/"]


def test_a_file_wins_over_a_host_of_that_name(tmp_path: Path) -> None:
    (tmp_path / "example.org").write_text("https://listed.test/\n")
    with chdir(tmp_path):
        assert urls(read("example.org")) == ["https://listed.test/"]
        assert urls(read("https://example.org")) == ["https://example.org/"]


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("https://anna:pw@h.test/x", Start("https://h.test/x", "anna", "pw")),
        ("anna:pw@h.test/x", Start("https://h.test/x", "anna", "pw")),
        ("https://anna@h.test/", Start("https://h.test/", "anna", None)),
        ("https://a%40b:p%2Fw@h.test/", Start("https://h.test/", "a@b", "p/w")),
        ("https://h.test/@anna", Start("https://h.test/@anna")),
    ],
)
def test_credentials_are_taken_out(text: str, start: Start) -> None:
    assert read(text).urls == [start]


@pytest.mark.parametrize(
    "text",
    [
        "https://anna:se/cret@h.test:x/",
        "ftp://anna:secret@h.test/",
        "anna:secret@",
        "anna:sec ret@nowhere",
        "https://anna:secret@[bad/",
    ],
)
def test_no_message_shows_a_password(text: str) -> None:
    with pytest.raises(WebarcError) as as_argument:
        read(text)
    with pytest.raises(WebarcError) as as_line:
        read("-", stdin=text.encode())
    for message in (str(as_argument.value), str(as_line.value)):
        assert not any(part in message for part in ("secret", "cret", "sec "))


def test_nothing_at_all_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "empty").write_text("# nothing\n\n")
    (tmp_path / "bad").write_text("no url here\n")
    for args in ([], [str(tmp_path / "empty")], [str(tmp_path / "bad")], ["-"]):
        with pytest.raises(UsageProblem, match="no start URL"):
            read(*args)


def test_folders_and_unreadable_files(tmp_path: Path) -> None:
    with pytest.raises(UsageProblem, match="folder"):
        read(str(tmp_path))
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(UsageProblem):
        read(str(tmp_path / "loop"))
    if os.geteuid() != 0:
        (tmp_path / "secret").touch(0o000)
        with pytest.raises(StorageProblem, match="cannot be read"):
            read(str(tmp_path / "secret"))


def test_a_million_lines() -> None:
    data = (
        b"".join(b"https://h%d.test/a/page-%d.html?x=%d\n" % (n % 1000, n, n) for n in range(1_000_000)) + b"garbage!\n"
    )
    began = perf_counter()
    found = read("-", stdin=data)
    assert perf_counter() - began < 15
    assert len(found.urls) == 1_000_000
    assert [problem.partition(": ")[0] for problem in found.problems] == ["standard input:1000001"]


def test_a_file_full_of_garbage_is_not_a_flood() -> None:
    found = read("-", stdin=b"https://a.test/\n" + b"garbage!\n" * 5_000)
    assert len(found.problems) == 1_001
    assert "4000 more" in found.problems[-1]


PIECES = st.sampled_from(
    [
        *"ab.-_~/?#%@: 0",
        "example.org",
        "http://",
        "https://",
        "xn--",
        "..",
        "/../",
        "A",
        "\u00e9",
        "\t",
        "localhost",
        "h.test/",
    ]
)


@settings(max_examples=400, deadline=None)
@given(st.lists(PIECES, max_size=8).map("".join))
def test_a_start_is_what_canonical_says(text: str) -> None:
    try:
        start = start_of(text)
    except BadURL:
        return
    assert canonical(start.url) == start.url
    if text.strip().startswith(("http://", "https://")):
        assert start.url == canonical(text.strip())


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_are_a_list(data: bytes) -> None:
    found = read("https://a.test/", "-", stdin=data)
    assert found.urls[0].url == "https://a.test/"
