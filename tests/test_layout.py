"""URL to path and back: one-to-one, safe on every file system, independent of anything else in the archive."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from webarc.archive.layout import arc_of, domain_folder, domain_of, path_of, url_of
from webarc.archive.urls import canonical, host_of, key_of
from webarc.errors import BadURL

TRAPS = [
    "/.git/hooks/post-commit",
    "/.GIT/config",
    "/git~1/x",
    "/.gitattributes",
    "/.gitignore",
    "/.webarc/crawls/x",
    "/data.xml",
    "/data.html",
    "/DATA.XML",
    "/data",
    "/a",
    "/a/b",
    "/d",
    "/d/",
    "/d//",
    "/d/index.html",
    "/q?x=1",
    "/q%3Fx=1",
    "/q%3fx=2",
    "/Case",
    "/case",
    "/%2541",
    "/A",
    "/%41",
    "/caf%C3%A9",
    "/cafe%CC%81",
    "/?",
    "/",
    "/d/?",
    "/d?x=/../../etc",
    "/con",
    "/CON.txt",
    "/com1",
    "/nul.tar.gz",
    "/-rf",
    "/a.",
    "/a..",
    "/...",
    "/..%2f..%2fetc%2fpasswd",
    "/%_41",
    "/%_",
    "/%_/",
    "/%zz",
    "/%",
    "/a%00b",
    "/x:y",
    "/x|y",
    "/x*y",
    "/[x]",
    "/a\\b",
    "/'q'",
    "/data.files/x",
    "/" + "n" * 299 + "a",
    "/" + "n" * 299 + "b",
    "/" + "s/" * 1000,
    "/" + "s/" * 1000 + "x",
    "/" + "p" * 6000,
    "/" + "p" * 6000 + "q",
    "/" + "long-part/" * 97 + "e" * 60,
    "/" + "%41" * 70,
    "/" + "~" * 49,
    "/" + "~" * 50,
    "/" + "~" * 51,
]
PIECE = st.sampled_from(
    [
        *"abAB.-_~%:*?\"<>|[]'!$&()+,;=@^`{} #/\\",
        "..",
        "%2F",
        "%2e",
        "%41",
        "data",
        "data.xml",
        ".git",
        "con",
        "é",
        "é",
        "\u212b",
        "\x01",
        "%_",
    ]
)
PATHS = st.lists(PIECE, max_size=40).map("".join)
HOSTS = st.sampled_from(
    [
        "example.org",
        "EXAMPLE.org.",
        "localhost:8080",
        "h+8080",
        "con",
        "[2001:db8::1]:81",
        "..",
        ".webarc",
        "-oproxy=x",
        "data.xml",
    ]
)


def test_traps_are_all_distinct() -> None:
    urls = {canonical("http://h.test" + trap) for trap in TRAPS}
    assert len({arc_of(url) for url in urls}) == len(urls)
    assert (
        len({arc_of(url).casefold() for url in urls}) >= len(urls) - 3
    )  # Case/case and DATA.XML/data.xml only differ so


@pytest.mark.parametrize("trap", TRAPS)
def test_a_trap_stays_inside_and_is_read_back(trap: str) -> None:
    url = canonical("http://h.test" + trap)
    path = path_of(url)
    check_safe(path)
    if "%_~" in path:
        with pytest.raises(BadURL, match="shortened"):
            url_of(path)
    else:
        assert url_of(path, "http") == url


def check_safe(path: str) -> None:
    assert len(path) <= 1300
    for name in path.split("/"):
        assert 0 < len(name.encode()) <= 200
        assert name.isascii() and name.isprintable() and not re.search(r'[\\:*?"<>|~\[\] ]', name.replace("%_~", ""))
        assert name[0] not in ".-" and name[-1] != "."
        assert name.lower() not in {".git", ".webarc", "con", "nul"} and name.lower().split(".")[0] != "data"


@settings(max_examples=400, deadline=None)
@given(HOSTS, PATHS, PATHS)
@example("h", "a/b", "a%2Fb")
@example("h", "?", "")
@example("h", "x?a?b", "x?a%3Fb")
def test_two_urls_share_a_path_only_if_they_share_a_key(host: str, one: str, two: str) -> None:
    urls = []
    for path in (one, two):
        try:
            urls.append(canonical(f"http://{host}/{path}"))
        except BadURL:
            return
    first, second = urls
    check_safe(path_of(first))
    assert (path_of(first) == path_of(second)) == (key_of(first) == key_of(second))
    assert canonical(first) == first
    if "%_~" not in path_of(first):
        assert url_of(path_of(first), "http") == first
    assert path_of(first) == path_of(first.replace("http:", "https:", 1))


@pytest.mark.parametrize(
    ("host", "folder"),
    [
        ("example.org", "example.org"),
        ("h:8080", "h%_3A8080"),
        ("[2001:db8::1]", "%_5B2001%_3Adb8%_3A%_3A1%_5D"),
        ("..", "%_2E%_2E"),
        (".webarc", "%_2Ewebarc"),
        ("-oproxy=x", "%_2Doproxy=x"),
        ("con", "%_63on"),
        ("h+8080", "h+8080"),
    ],
)
def test_domain_folders(host: str, folder: str) -> None:
    assert domain_folder(host) == folder
    assert domain_of(folder) == host


def test_a_trailing_dot_of_the_host_is_the_same_host() -> None:
    assert canonical("http://Example.ORG./x#y") == "http://example.org/x"
    assert host_of(canonical("http://user:pw@example.org:80/")) == "example.org"
    assert canonical("http://u:p@h/a%2fb") == "http://h/a%2Fb"


@pytest.mark.parametrize(
    "bad",
    [
        "",
        "ftp://h/",
        "javascript:alert(1)",
        "http://",
        "http://a b/",
        "/x",
        "-oProxyCommand=x",
        "--upload-pack=x",
        "http://h/\ud800",
    ],
)
def test_what_is_no_web_address_is_refused(bad: str) -> None:
    with pytest.raises(BadURL):
        canonical(bad)


def test_messages_hide_credentials() -> None:
    with pytest.raises(BadURL) as caught:
        canonical("ftp://anna:secret@h/x")
    assert "secret" not in str(caught.value)


def test_pages_of_the_specification() -> None:
    assert path_of("http://h/") == "h/%_"
    assert path_of("http://h/dir") == "h/dir"
    assert path_of("http://h/dir/") == "h/dir/%_"
    assert path_of("http://h/dir//") == "h/dir/%_/%_"
    assert path_of("http://h/q?x=1") == "h/q%_3Fx=1"
    assert path_of("http://h/q?x=/a") == "h/q%_3Fx=%_2Fa"
    assert path_of("http://h/data.html") == "h/%_64ata.html"
    assert path_of("http://h/a%2fb".replace("%2f", "%2F")) == "h/a%2Fb"
