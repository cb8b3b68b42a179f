"""`webarc checkout`: a site as it was, in plain files, and in a browser."""

from __future__ import annotations

import json
import os
import re
import struct
import subprocess
import zlib
from html import unescape
from pathlib import Path
from urllib.parse import unquote

import pytest

from tests.archives import killed, running
from tests.browser import browser
from tests.crawls import Ran, Webarc
from tests.disks import small_file_system
from tests.histories import History
from tests.histories import Page as Known
from tests.servers import Page, Route, Site, redirect
from webarc.archive.checkout_names import Names, host_folder, relative_link, wanted_name
from webarc.archive.store import Archive
from webarc.archive.urls import canonical

RELATIVE = ("--links", "relative")


def png(width: int) -> Page:
    """A picture that many pixels wide."""
    parts = [
        (b"IHDR", struct.pack(">IIBBBBB", width, 1, 8, 2, 0, 0, 0)),
        (b"IDAT", zlib.compress(b"\0" + b"\x80\x80\x80" * width)),
        (b"IEND", b""),
    ]
    chunks = [
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in parts
    ]
    return Page(b"\x89PNG\r\n\x1a\n" + b"".join(chunks), type="image/png")


def css(text: str) -> Page:
    return Page(text, type="text/css")


def files(folder: Path) -> dict[str, bytes]:
    """Every file below a folder by its path; links are not followed."""
    found = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


def check_out(webarc: Webarc, domain: str, *more: str | Path, code: int = 0) -> Path:
    """Check out to a new folder, which is returned."""
    folder = webarc.archive.parent / "out"
    ran = webarc.run("checkout", domain, folder, *more)
    assert ran.code == code, (ran.code, ran.out, ran.err)
    return folder


def refused(ran: Ran, code: int, *words: str) -> None:
    """One sentence, no traceback."""
    assert ran.code == code, (ran.out, ran.err)
    assert ran.err.startswith("webarc: ") and len(ran.err.splitlines()) == 1, ran.err
    for word in words:
        assert word in ran.err


# -- in a browser ------------------------------------------------------------------------------------------------

OLD: dict[str, Route] = {
    "/": '<title>Old</title><meta http-equiv=Content-Security-Policy content="default-src http://127.0.0.1:*">'
    '<link rel=stylesheet href="/style/main.css?v=1" integrity="sha256-x" crossorigin>'
    '<h1>Old</h1><img id=own src="/pics/one"><p id=drawn>x</p><a href="docs/two#part">two</a><a href=/moved>three</a>',
    "/style/main.css?v=1": css("@import 'more.css'; h1 { color: rgb(1, 2, 3) } p { background: url(../pics/bg.png) }"),
    "/style/more.css": css("h1 { font-size: 77px }"),
    "/pics/one": png(11),
    "/pics/bg.png": png(5),
    "/docs/two": '<title>Old two</title><base href="/"><link rel=stylesheet href="style/main.css?v=1">'
    '<h1>Two</h1><img srcset="pics/one 1x"><p id=part>part</p><a href=".">home</a>',
    "/moved": redirect("/docs/three", 301),
    "/docs/three": "<title>Old three</title>",
}
NEW: dict[str, Route] = {
    "/style/main.css?v=1": css("h1 { color: rgb(9, 9, 9) }"),
    "/pics/one": png(99),
    "/docs/two": "<title>New two</title>",
    "/docs/three": (404, {}, "gone"),
}


def test_an_old_state_in_a_browser(webarc: Webarc) -> None:
    with Site(OLD) as site:
        old = webarc.crawl(site.url())["commitTag"]
        site.pages |= NEW | {"/": str(OLD["/"]).replace("Old", "New")}
        webarc.crawl(site.url())
        domain = site.domain
    # The server is down: nothing can come from it.
    folder = check_out(webarc, domain, "--at", old, *RELATIVE)
    with browser() as tab:
        tab.open((folder / "index.html").as_uri())
        assert tab.value("document.title") == "Old"
        assert tab.value("getComputedStyle(document.querySelector('h1')).color") == "rgb(1, 2, 3)"
        assert tab.value("getComputedStyle(document.querySelector('h1')).fontSize") == "77px"
        assert tab.value("document.querySelector('#own').naturalWidth") == 11
        picture = tab.value("getComputedStyle(document.querySelector('#drawn')).backgroundImage")
        assert picture == f'url("{(folder / "pics" / "bg.png").as_uri()}")'
        assert tab.click("a") == (folder / "docs" / "two.html").as_uri() + "#part"
        assert tab.value("document.title") == "Old two"
        assert tab.value("getComputedStyle(document.querySelector('h1')).color") == "rgb(1, 2, 3)"
        assert tab.value("document.querySelector('img').naturalWidth") == 11
        assert tab.click("a") == (folder / "index.html").as_uri()
        assert tab.click("a + a") == (folder / "docs" / "three.html").as_uri()
        assert tab.value("document.title") == "Old three"


def test_odd_names_and_encodings_in_a_browser(webarc: Webarc) -> None:
    home = '<a href="/caf%C3%A9/50%25?a=1&amp;b=%23#\u043a\u043e\u043d\u0435\u0446">x</a>'
    page = "<title>Привет</title><img src='/п.png'><p id='конец'>x</p>".encode("koi8-r")
    pages: dict[str, Route] = {
        "/": home,
        "/caf%C3%A9/50%25?a=1&b=%23": Page(page, type="text/html; charset=koi8-r"),
        "/%D0%BF.png": png(7),
    }
    with Site(pages) as site:
        webarc.crawl(site.url())
        domain = site.domain
    folder = check_out(webarc, domain, *RELATIVE)
    with browser() as tab:
        tab.open((folder / "index.html").as_uri())
        tab.click("a")
        assert tab.value("document.title") == "Привет"
        assert tab.value("document.querySelector('img').naturalWidth") == 7
        assert tab.value("document.querySelector(':target').id") == "конец"


# -- what is written ---------------------------------------------------------------------------------------------


def test_without_relinking_the_bytes_are_those_that_were_sent(webarc: Webarc) -> None:
    sent = b"<base href=/>\r\n<a href=b?x=1>\xff\0</a>\r"
    with Site({"/": Page(sent), "/b?x=1": "<p>b", "/d/": "<p>d", "/s.css": css("a{b:url(/)}")}) as site:
        webarc.crawl(site.url(), site.url("/d/"), site.url("/s.css"))
        folder = check_out(webarc, site.domain)
    assert files(folder) == {"index.html": sent, "b@x=1": b"<p>b", "d/index.html": b"<p>d", "s.css": b"a{b:url(/)}"}


def test_files_have_the_time_of_the_page(webarc: Webarc) -> None:
    with Site({"/": Page("<p>x", last_modified="Mon, 02 Feb 2015 10:00:00 GMT")}) as site:
        webarc.crawl(site.url())
        folder = check_out(webarc, site.domain)
    assert (folder / "index.html").stat().st_mtime == 1422871200


def test_the_state_is_that_of_the_time(webarc: Webarc) -> None:
    with Site({"/": "<a href=/a>1</a><a href=/b>", "/a": "<p>1", "/b": "<p>b"}) as site:
        tags = [webarc.crawl(site.url())["commitTag"]]
        site.pages |= {"/a": "<p>2", "/b": (404, {}, "gone"), "/c": "<p>c", "/": "<a href=/a>2</a><a href=/c>"}
        tags.append(webarc.crawl(site.url())["commitTag"])
        states = []
        for number, at in enumerate([*tags, tags[0].partition("@")[0], "now"]):
            ran = webarc.run("checkout", site.domain, "--at", at, webarc.archive.parent / str(number), "--json")
            assert ran.code == 0, ran.err
            states.append(set(files(webarc.archive.parent / str(number)).items()))
        newest = files(check_out(webarc, site.domain))
    old = {("index.html", b"<a href=/a>1</a><a href=/b>"), ("a", b"<p>1"), ("b", b"<p>b")}
    new = {("index.html", b"<a href=/a>2</a><a href=/c>"), ("a", b"<p>2"), ("c", b"<p>c")}
    assert states == [old, new, old, new]
    assert set(newest.items()) == new


def test_the_summary(webarc: Webarc) -> None:
    with Site({"/": redirect("/en/"), "/en/": "<p>x", "/a": "<p>y"}) as site:
        webarc.crawl(site.url(), site.url("/a"))
        folder = webarc.archive.parent / "out"
        result = webarc.run("checkout", site.domain, folder, *RELATIVE, "--json").result()
        assert result["at"] and result.pop("at")
        assert result == {
            "domain": site.domain,
            "folder": str(folder),
            "pages": 2,
            "requisites": 0,
            "uncertain": 0,
            "bytes": 8,
            "missing": 0,
            "start": "en/index.html",
            "problems": [],
        }
        again = webarc.run("checkout", site.domain, folder, "--force")
    assert again.out.endswith(f"2 files, 8 B in {folder}.\nOpen {folder}/en/index.html\n")


# -- names -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "mime_type", "expected"),
    [
        ("/", "", "index.html"),
        ("/", "text/html", "index.html"),
        ("/a/", "text/html", "a/index.html"),
        ("/a//b/", "", "a/b/index.html"),
        ("/page", "", "page"),
        ("/page", "text/html", "page.html"),
        ("/page.HTM", "text/html", "page.HTM"),
        ("/page.php?x=1", "", "page.php@x=1"),
        ("/page.php?x=1", "text/html", "page.php@x=1.html"),
        ("/?x=1", "text/html", "index.html@x=1.html"),
        ("/s.css?v=3", "text/css", "s.css@v=3.css"),
        ("/logo.php", "image/svg+xml", "logo.php.svg"),
        ("/p.html", "application/xhtml+xml", "p.html.xhtml"),
        ("/feed/", "application/rss+xml", "feed/index.rss"),
        ("/unknown", "application/octet-stream", "unknown"),
        ("/a%20b/caf%C3%A9", "", "a b/café"),
        ("/%E9", "", "%E9"),
        ("/a%2Fb%5Cc%00d", "", "a%2Fb%5Cc%00d"),
        ("/100%25?50%25", "", "100%25@50%25"),
        ("/q?a=/b/../c&d=%2e%2e%2f", "", "q@a=%2Fb%2F..%2Fc&d=..%2F"),
        ("/a:b*c|d'e", "", "a%3Ab%2Ac%7Cd'e"),
        ("/.git/config", "", "%2Egit/config"),
        ("/.htaccess", "", "%2Ehtaccess"),
        ("/GIT~1/x", "", "%47IT~1/x"),
        ("/~john/", "", "~john/index.html"),
        ("/-rf", "", "%2Drf"),
        ("/con/aux.html", "", "%63on/%61ux.html"),
        ("/end./x%20", "", "end%2E/x%20"),
        ("/%E2%80%AEgpj.exe", "", "%E2%80%AEgpj.exe"),
    ],
)
def test_names(path: str, mime_type: str, expected: str) -> None:
    assert wanted_name(canonical(f"https://h.test{path}"), mime_type) == expected


def test_names_are_as_documented() -> None:
    page = (Path(__file__).parent.parent / "docs" / "checkout.md").read_text()
    rows = re.findall(r"^\| `(/[^`]*)` \| `([^`]+)` \| `([^`]+)` \|$", page, re.MULTILINE)
    assert len(rows) > 5
    for path, kept, fitting in rows:
        url = canonical(f"https://h.test{path}")
        assert wanted_name(url) == kept
        assert wanted_name(url, "text/css" if ".css" in path else "text/html") == fitting


def test_names_of_other_hosts() -> None:
    assert host_folder("h.test") == "h.test"
    assert host_folder("h.test:8080") == "h.test+8080"
    assert host_folder("[2001:db8::1]:80") == "[2001%3Adb8%3A%3A1]+80"


def test_long_names_are_cut_and_stay_apart() -> None:
    long = [wanted_name(f"https://h.test/{'x' * 3000}{end}.html") for end in "ab"]
    assert len(set(long)) == 2
    assert all(len(name) <= 200 and name.endswith(".html") for name in long)
    deep = [wanted_name(f"https://h.test/{'/'.join(['d' * 50] * 100)}/{end}/f") for end in "ab"]
    assert len(set(deep)) == 2
    assert all(len(name) < 1000 for name in deep)
    foreign = wanted_name("https://h.test/" + "%C3%A9" * 500)
    assert len(foreign.encode()) <= 200


def test_no_two_names_are_alike() -> None:
    names = Names()
    names.reserve("a/b")
    wanted = ["a", "A", "a.2", "x/y", "X/Y", "x", "a/b", "i.html", "I.html", "I.HTML", "stra\u00dfe", "STRASSE"]
    given = [names.take(name) for name in wanted]
    folded = [name.casefold() for name in given]
    assert len(set(folded)) == len(wanted)
    folders = {"/".join(name.split("/")[:end]) for name in folded for end in range(1, name.count("/") + 1)}
    assert not folders & set(folded)
    assert given[3:5] == ["x/y", "X/Y.2"] and given[7:9] == ["i.html", "I.2.html"]


def test_a_file_in_the_way_of_a_folder() -> None:
    names = Names()
    assert [names.take(name) for name in ("a", "a/b", "A/c", "a/b/c")] == ["a", "a.2/b", "A.3/c", "a.2/b.2/c"]


def test_very_many_names_that_are_alike() -> None:
    names = Names()
    assert len({names.take("same.html") for _ in range(50_000)}) == 50_000


@pytest.mark.parametrize(
    ("here", "there", "link"),
    [
        ("index.html", "index.html", "index.html"),
        ("index.html", "a/b.html", "a/b.html"),
        ("a/b/c.html", "a/d.html", "../d.html"),
        ("a/b.html", "a/b/c.html", "b/c.html"),
        ("a/b.html", "c d/50%.html", "../c%20d/50%25.html"),
        ("a.html", "x:y,'(é)#?.html", "x%3Ay%2C%27%28%C3%A9%29%23%3F.html"),
    ],
)
def test_links_between_files(here: str, there: str, link: str) -> None:
    assert relative_link(here, there) == link


ALIKE = (
    "/a /A /a/b /a/B /a/b/c /dir /dir/ /dir/index.html /dir// /DIR /x?y /x@y /x%3Fy /a%20b /.git/config /.GIT/HEAD "
    f"/con /nul.html /..%2F..%2Fetc%2Fpasswd /..%5C..%5Cx /-rf /{'l' * 900} /{'l' * 901} /_other /_other/x /caf%C3%A9 "
    "/cafe%CC%81 /CAF%C3%89 /index.html /Index.html /page /page.html /%00 /%0A /%7F /a;b /a%22b /a%26b /100%25 "
    "/100%2525"
).split()


@pytest.mark.parametrize("links", [(), RELATIVE], ids=["kept", "relative"])
def test_hostile_names_never_meet_and_never_leave(webarc: Webarc, links: tuple[str, ...]) -> None:
    everywhere = "".join(f'<a href="{path}">x</a>' for path in ["/", *ALIKE])
    with Site({path: f"<title>{path}</title>{everywhere}" for path in ["/", *ALIKE]}) as site:
        webarc.crawl(site.url(), "--depth", "1")
        folder = check_out(webarc, site.domain, *links)
    outside = [path for path in folder.parent.iterdir() if path.name not in ("archive", "out")]
    assert outside == []
    found = files(folder)
    assert len({name.casefold() for name in found}) == len(ALIKE) + 1
    assert not [path for path in folder.rglob("*") if path.is_symlink() or path.name.lower().startswith(".")]
    titles = {re.findall(rb"<title>(.*?)</title>", data)[0].decode(): name for name, data in found.items()}
    assert set(titles) == {"/", *ALIKE}
    if not links:
        return
    for name, data in found.items():
        hrefs = [unescape(href) for href in re.findall(r'<a href="(.*?)">', data.decode())]
        led = [os.path.normpath(Path(name).parent / unquote(href)) for href in hrefs]
        assert led == [titles[path] for path in ["/", *ALIKE]]


# -- redirects and other domains ---------------------------------------------------------------------------------


def test_redirects_are_followed_as_they_were(webarc: Webarc) -> None:
    pages: dict[str, Route] = {
        "/": '<a href="/r1#x">1</a><a href="/loop">2</a><a href="/away">3</a>',
        "/r1": redirect("/r2"),
        "/r2": redirect("/old", 301),
        "/old": "<p>old",
        "/loop": redirect("/loop2"),
        "/loop2": redirect("/loop"),
        "/away": redirect("http://127.0.0.1:1/elsewhere"),
    }
    with Site(pages) as site:
        # The circle counts as a failure.
        first = webarc.crawl(site.url(), code=8)["commitTag"]
        site.pages |= {"/r2": redirect("/new", 301), "/new": "<p>new"}
        webarc.crawl(site.url(), code=8)
        old = (check_out(webarc, site.domain, "--at", first, *RELATIVE) / "index.html").read_text()
        new = (check_out(webarc, site.domain, "--force", *RELATIVE) / "index.html").read_text()
        live = site.url()
    assert old == f'<a href="old.html#x">1</a><a href="{live}loop">2</a><a href="{live}away">3</a>'
    assert new == old.replace("old.html", "new.html")


def test_parts_of_pages_from_other_domains(webarc: Webarc) -> None:
    with Site({"/pics/bg.png": png(3)}, "127.0.0.2") as other, Site() as site:
        other.pages["/main.css"] = css("h1 { color: rgb(4, 5, 6); background: url(/pics/bg.png) }")
        other.pages["/page"] = "<p>page"
        parts = f'<link rel=stylesheet href="{other.url("/main.css")}">'
        site.pages["/"] = f'{parts}<h1>x</h1><a href="{other.url("/page")}">x</a>'
        crawl = ("--requisites-from-anywhere", "--allow-private", site.url())
        old = webarc.crawl(*crawl)["commitTag"]
        other.pages["/main.css"] = css("h1 { color: red }")
        webarc.crawl(*crawl)
        webarc.crawl(other.url("/page"))
        domain, theirs, page = site.domain, f"_other/{other.host}+{other.port}", other.url("/page")
    folder = check_out(webarc, domain, "--at", old, *RELATIVE)
    found = files(folder)
    assert set(found) == {"index.html", f"{theirs}/main.css", f"{theirs}/pics/bg.png"}
    assert found["index.html"].decode() == (
        f'<link rel=stylesheet href="{theirs}/main.css"><h1>x</h1><a href="{page}">x</a>'
    )
    assert found[f"{theirs}/main.css"] == b"h1 { color: rgb(4, 5, 6); background: url(pics/bg.png) }"
    sent = webarc.run("checkout", domain, folder.parent / "sent", "--with-requisites", "--json").result()
    assert (sent["pages"], sent["requisites"]) == (1, 1)
    assert files(folder.parent / "sent")[f"{theirs}/main.css"] == b"h1 { color: red }"
    webarc.run("checkout", domain, folder.parent / "alone", "--without-requisites", *RELATIVE)
    assert list(files(folder.parent / "alone")) == ["index.html"]


# -- the folder --------------------------------------------------------------------------------------------------


@pytest.fixture
def known(tmp_path: Path) -> Webarc:
    """An archive with two pages of example.org since 2026-01-01 01:00, another state an hour later."""
    site = History(Archive.create(tmp_path / "archive"))
    site.crawl({"": "<a href=/a>x</a>", "a": "old"}, urls=[])
    site.crawl({"a": "new"}, urls=[])
    return Webarc(tmp_path / "archive")


def test_a_folder_that_is_not_empty(known: Webarc, tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "a").write_text("mine")
    (folder / "b").write_text("mine, too")
    refused(known.run("checkout", "example.org", folder), 2, "not empty", "--force")
    assert files(folder) == {"a": b"mine", "b": b"mine, too"}
    assert known.run("checkout", "example.org", folder, "--force").code == 0
    assert files(folder) == {"index.html": b"<a href=/a>x</a>", "a": b"new", "b": b"mine, too"}


def test_an_empty_folder_stays_the_same_folder(known: Webarc, tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir(mode=0o700)
    before = folder.stat()
    assert known.run("checkout", "example.org", folder).code == 0
    assert set(files(folder)) == {"index.html", "a"}
    assert [path.name for path in folder.iterdir() if path.name.startswith(".")] == []
    assert (folder.stat().st_ino, folder.stat().st_mode) == (before.st_ino, before.st_mode)


def test_a_new_folder_is_made_with_those_above_it(known: Webarc, tmp_path: Path) -> None:
    assert known.run("checkout", "example.org", tmp_path / "x" / "y" / "z").code == 0
    assert set(files(tmp_path / "x")) == {"y/z/index.html", "y/z/a"}
    assert (tmp_path / "x" / "y" / "z").stat().st_mode & 0o777 == 0o755


def test_links_in_the_folder_are_not_followed(known: Webarc, tmp_path: Path) -> None:
    folder, elsewhere = tmp_path / "mine", tmp_path / "elsewhere"
    folder.mkdir()
    elsewhere.write_text("precious")
    (folder / "a").symlink_to(elsewhere)
    assert known.run("checkout", "example.org", folder, "--force").code == 0
    assert elsewhere.read_text() == "precious"
    assert (folder / "a").read_text() == "new"


def test_nothing_is_moved_through_a_link_or_over_a_folder(known: Webarc, tmp_path: Path) -> None:
    history = History(Archive.open(known.archive), hours=5)
    history.crawl({"sub/page": "x"}, urls=[])
    folder, elsewhere = tmp_path / "mine", tmp_path / "elsewhere"
    folder.mkdir()
    elsewhere.mkdir()
    (folder / "sub").symlink_to(elsewhere)
    refused(known.run("checkout", "example.org", folder, "--force"), 2, "link")
    (folder / "sub").unlink()
    (folder / "a").mkdir()
    refused(known.run("checkout", "example.org", folder, "--force"), 2, "a folder")
    assert files(folder) == {} and files(elsewhere) == {}
    assert [path.name for path in folder.iterdir()] == ["a"]


def test_a_place_that_cannot_be_used(known: Webarc, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    refused(known.run("checkout", "example.org", tmp_path / "file"), 2, "not a folder")
    refused(known.run("checkout", "example.org", tmp_path / "file" / "below"), 3)
    refused(known.run("checkout", "example.org", known.archive / "new"), 2, "in the archive")
    (tmp_path / "nowhere").symlink_to(tmp_path / "missing")
    refused(known.run("checkout", "example.org", tmp_path / "nowhere"), 2, "link")


def test_mistakes(known: Webarc, tmp_path: Path) -> None:
    out = tmp_path / "out"
    refused(known.run("checkout", "exmaple.org", out), 2, "example.org")
    refused(known.run("checkout", "example.org", out, "--at", "2025-12-31"), 2, "2026-01-01 01:00:00")
    refused(known.run("checkout", "example.org", out, "--at", "some day"), 2, "is not a time")
    refused(known.run("checkout", "example.org", out, "--at", "2026-01-01T00:30:00@example.org"), 2)
    assert not out.exists()


def test_the_future_is_the_newest_state(known: Webarc, tmp_path: Path) -> None:
    ran = known.run("checkout", "example.org", tmp_path / "out", "--at", "2999-01-01")
    assert ran.code == 0 and "2999-01-01 00:00:00 CET is in the future" in ran.err
    assert " 2999" not in ran.out
    assert (tmp_path / "out" / "a").read_bytes() == b"new"


def test_times_as_people_write_them(known: Webarc, tmp_path: Path) -> None:
    times = {"2026-01-01 01:30": b"old", "20260101010000": b"new", "2026-01-01T00:30:00Z": b"old", "2026-01-01": b"new"}
    for number, (time, expected) in enumerate(times.items()):
        assert known.run("checkout", "https://EXAMPLE.org/x", tmp_path / str(number), "--at", time).code == 0
        assert (tmp_path / str(number) / "a").read_bytes() == expected


def test_lost_bytes_are_named_and_the_rest_is_written(known: Webarc, tmp_path: Path) -> None:
    history = History(Archive.open(known.archive), hours=5)
    lie = history.document("b", Known("what it was"), "2026-01-01 07:00:00")
    history.commit({"b/data.xml": lie, "b/data.html": b"something else"}, "2026-01-01T07:00:00@example.org", "crawl")
    ran = known.run("checkout", "example.org", tmp_path / "out", "--json")
    assert ran.code == 11
    assert (ran.result()["pages"], ran.result()["missing"]) == (2, 1)
    assert "http://example.org/b" in ran.result()["problems"][0]
    assert set(files(tmp_path / "out")) == {"index.html", "a"}


@pytest.mark.parametrize("exists", [True, False])
def test_a_full_disk(tmp_path: Path, exists: bool) -> None:
    site = History(Archive.create(tmp_path / "archive"))
    site.crawl({f"p{number}": "x" * 300_000 for number in range(9)}, urls=[])
    with small_file_system(tmp_path / "disk", 2) as disk:
        folder = disk if exists else disk / "out"
        refused(Webarc(tmp_path / "archive").run("checkout", "example.org", folder), 3, "disk full")
        assert list(disk.iterdir()) == []


def test_stopped_in_the_middle_nothing_is_left(tmp_path: Path) -> None:
    site = History(Archive.create(tmp_path / "archive"))
    site.crawl({f"p{number}": f"{number}" for number in range(3_000)}, urls=[])
    process = Webarc(tmp_path / "archive").start("checkout", "example.org", tmp_path / "out")
    while not list(tmp_path.glob(".webarc-checkout-*/p1*")):
        assert process.poll() is None, process.communicate()
    process.send_signal(2)
    assert process.wait(30) == 13
    assert [path.name for path in tmp_path.iterdir()] == ["archive"]


HOLD = """
import sys, time
from pathlib import Path
from webarc.archive.checkout_folder import new_folder
with new_folder(Path(sys.argv[1])) as place:
    (place / "page").write_text("half")
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.mark.parametrize("exists", [False, True])
def test_what_a_killed_checkout_left_is_removed_by_the_next_one(known: Webarc, tmp_path: Path, exists: bool) -> None:
    home = tmp_path / "home"
    mine = home / ".webarc-checkout-of-mine"
    mine.mkdir(parents=True)
    if exists:
        (home / "site").mkdir()
    with running(HOLD, home / "site") as dead:
        (left,) = home.rglob("page")
        killed(dead)
    with running(HOLD, home / "other"):
        (living,) = (path for path in home.rglob("page") if path != left)
        ran = known.run("checkout", "example.org", home / "site")
        assert ran.code == 0, ran.err
        # That of the living one stays, and so does what only looks alike.
        assert not left.parent.exists() and living.exists() and mine.exists()
    assert files(home / "site") == {"index.html": b"<a href=/a>x</a>", "a": b"new"}


def test_json_of_an_error(known: Webarc, tmp_path: Path) -> None:
    ran = known.run("checkout", "nowhere.test", tmp_path / "out", "--json")
    assert ran.code == 2 and json.loads(ran.err)["error"] == "UnknownDomain"
    assert subprocess.run(["ls", tmp_path / "out"], capture_output=True, check=False).returncode
