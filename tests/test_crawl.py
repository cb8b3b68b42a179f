"""`webarc crawl` end to end, against a real server."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import xmlschema

from tests.crawls import Webarc
from tests.servers import Page, Site, redirect
from webarc.archive.document import parse
from webarc.archive.tags import tag_name
from webarc.schema import schema_path

SMALL = {
    "/": "<title>Home</title><link rel=stylesheet href=/s.css><a href=/a>a</a> <a href=/a/b>b</a><img src=/i.png>",
    "/a": "<title>A</title><a href=/a/b>b</a><a href=/missing>x</a>",
    "/a/b": "<title>B</title><a href=/c>c</a>",
    "/c": "<title>C</title><a href=/d>d</a>",
    "/d": "<title>D</title>",
    "/s.css": Page("body { background: url(bg.svg) }", type="text/css"),
    "/bg.svg": Page("<svg xmlns='http://www.w3.org/2000/svg'/>", type="image/svg+xml"),
    "/i.png": Page(b"\x89PNG\r\n\x1a\n" + b"\0" * 64, type="image/png"),
}


def test_a_site_is_stored_with_its_requisites(webarc: Webarc) -> None:
    with Site(SMALL) as site:
        result = webarc.crawl("--depth", "inf", site.url())
        assert result["counts"]["new"] == 8
        assert result["complete"]
        assert webarc.document(site.url("/a/b")) == b"<title>B</title><a href=/c>c</a>"
        assert webarc.commits(site.url()) == [result["commitTag"]]
        assert result["commitTag"].endswith(f"@{site.domain}")


def test_depth_counts_links_and_not_requisites(webarc: Webarc) -> None:
    with Site(SMALL) as site:
        webarc.crawl("--depth", "1", site.url())
        assert webarc.stored(site.url()) == {"%_", "a", "a/b", "s.css", "bg.svg", "i.png"}


def test_depth_zero_is_the_page_alone_with_its_requisites(webarc: Webarc) -> None:
    with Site(SMALL) as site:
        webarc.crawl("-l", "0", site.url())
        assert webarc.stored(site.url()) == {"%_", "s.css", "bg.svg", "i.png"}
        assert webarc.report("-l", "0", "--no-page-requisites", site.url())[site.url("/a")]["reason"] == "depth"


def test_every_xml_is_valid_and_tells_the_truth(webarc: Webarc) -> None:
    with Site(SMALL) as site:
        result = webarc.crawl("--depth", "inf", site.url())
        schema = xmlschema.XMLSchema(str(schema_path("arc")))
        for arc in webarc.stored(site.url()):
            data = webarc.git(site.url(), "cat-file", "blob", f"main:{arc}/data.xml")
            schema.validate(data.decode())
        meta = parse(webarc.git(site.url(), "cat-file", "blob", "main:a/data.xml"))
        assert (meta.url, meta.title, meta.mime_type, meta.domain) == (site.url("/a"), "A", "text/html", site.domain)
        assert meta.commit_tag == result["commitTag"]
        assert meta.path == f"{webarc.folder(site.url()).name}/a"
        assert meta.response.status == 200 and meta.response.file == "data.html"
        assert ("Content-Type", "text/html; charset=utf-8") in meta.response.headers


def test_the_work_tree_is_what_git_has(webarc: Webarc) -> None:
    with Site(SMALL) as site:
        webarc.crawl("--depth", "inf", site.url())
        assert webarc.git(site.url(), "status", "--porcelain") == b""
        assert (webarc.folder(site.url()) / "a" / "data.html").read_bytes() == webarc.document(site.url("/a"))


@pytest.mark.parametrize(
    "deed",
    [
        "open(path, 'a').write('more')",
        "path.write_bytes(path.read_bytes().upper())",
        "(path.parent / 'data.xml').write_text('<arc/>')",
        "(path.parent / 'thumb.txt').write_text('mine'); (path.parent / 'sub').mkdir()",
    ],
)
def test_a_filter_that_writes_to_the_temp_dir_changes_nothing(webarc: Webarc, tmp_path: Path, deed: str) -> None:
    (tmp_path / "vandal.py").write_text(f"def keep(path):\n    {deed}\n    return True\n")
    config = tmp_path / "own.toml"
    config.write_text(f'[filters]\nmodules = {{vandal = "{tmp_path / "vandal.py"}:keep"}}\nuse = ["vandal"]\n')
    with Site(SMALL) as site:
        for _ in range(2):
            ran = webarc.run("--config", config, "crawl", "--depth", "inf", site.url())
            assert ran.code == 0
            assert ("the filter 'vandal' changed" in ran.out) == ("thumb" not in deed)
            assert webarc.git(site.url(), "status", "--porcelain") == b""
            site.pages["/a/b"] = "<title>B</title>changed"
        assert webarc.document(site.url("/c")) == b"<title>C</title><a href=/d>d</a>"
        assert webarc.run("verify").code == 0


def test_what_a_filter_prints_is_no_output_of_ours(webarc: Webarc, tmp_path: Path) -> None:
    (tmp_path / "talker.py").write_text("def keep(path):\n    print('hello')\n    return True\n")
    config = tmp_path / "own.toml"
    config.write_text(f'[filters]\nmodules = {{talker = "{tmp_path / "talker.py"}:keep"}}\nuse = ["talker"]\n')
    with Site(SMALL) as site:
        assert webarc.run("--config", config, "crawl", "--json", site.url()).result()["counts"]["new"] > 1


def test_a_start_page_over_the_limit_is_named(webarc: Webarc) -> None:
    with Site(SMALL) as site:
        ran = webarc.run("crawl", "--max-size", "20", "-l", "0", site.url())
        assert ran.code == 13
        assert f"{site.url()} is larger than --max-size" in ran.out


def test_a_page_too_large_to_be_read_to_its_end_is_named(webarc: Webarc) -> None:
    with Site({"/": "<a href=/big>", "/big": "x" * (17 << 20) + "<a href=/after>"}) as site:
        ran = webarc.run("crawl", site.url())
        assert ran.code == 0
        assert (
            f"{site.url('/big')} is too large or too broken to be read to its end; links there were not followed."
            in ran.out
        )


def test_a_folder_that_is_somebody_elses_is_refused(webarc: Webarc) -> None:
    with Site(SMALL) as site:
        webarc.run("init", webarc.archive)
        folder = webarc.folder(site.url())
        folder.mkdir(parents=True)
        subprocess.run(["git", "init", "-q", "-b", "master", folder], check=True)
        ran = webarc.run("crawl", site.url())
        assert ran.code == 2, ran.out + ran.err
        assert "is a git repository that webarc did not make; move it away" in ran.out
        (folder / ".git").rename(folder.parent / "theirs")
        folder.rmdir()
        folder.write_text("a file")
        assert "is not a folder; move it away" in webarc.run("crawl", site.url()).out


def test_a_second_crawl_stores_only_what_changed(webarc: Webarc) -> None:
    with Site(SMALL, etags=True) as site:
        webarc.crawl("--depth", "inf", site.url())
        site.pages["/c"] = "<title>C2</title><a href=/d>d</a>"
        site.pages["/new"] = "<title>New</title>"
        site.pages["/d"] = "<title>D</title><a href=/new>new</a>"
        site.requests.clear()
        counts = webarc.crawl("--depth", "inf", site.url())["counts"]
        assert (counts["new"], counts["changed"], counts["unchanged"]) == (1, 2, 6)
        assert site.asked("/a")[0].headers["if-none-match"]
        assert webarc.document(site.url("/c"), "main~1") == b"<title>C</title><a href=/d>d</a>"
        assert webarc.document(site.url("/c")) == b"<title>C2</title><a href=/d>d</a>"


def test_links_of_an_unmodified_page_are_still_followed(webarc: Webarc) -> None:
    with Site(SMALL, etags=True) as site:
        webarc.crawl("--depth", "inf", site.url())
        site.pages["/d"] = "<title>D changed</title>"
        assert webarc.crawl("--depth", "inf", site.url())["counts"]["changed"] == 1


def test_redirects_are_rows_of_the_report(webarc: Webarc) -> None:
    pages = {"/": "<a href=/old>x</a><a href=/loop>y</a>", "/old": redirect("/new", 301), "/new": "<title>N</title>"}
    with Site({**pages, "/loop": redirect("/pool"), "/pool": redirect("/loop")}) as site:
        rows = webarc.report(site.url(), code=8)
        assert rows[site.url("/old")]["target"] == site.url("/new")
        assert rows[site.url("/old")]["outcome"] == "redirect"
        assert rows[site.url("/new")]["outcome"] == "stored"
        assert rows[site.url("/loop")]["reason"] == rows[site.url("/pool")]["reason"] == "redirect-loop"
        assert webarc.stored(site.url()) == {"%_", "new"}


def test_the_host_a_start_url_redirects_to_joins_the_crawl(webarc: Webarc) -> None:
    with (
        Site({"/": "<a href=/x>x</a>", "/x": "<title>X</title>"}, host="127.0.0.2") as main,
        Site({"/": redirect(main.url("/"), 301)}) as site,
    ):
        result = webarc.crawl("--allow-private", site.url())
        assert result["also"] and result["also"][0].endswith(f"@{main.domain}")
        assert webarc.stored(main.url()) == {"%_", "x"}


def test_a_cookie_wall_that_redirects_to_itself(webarc: Webarc) -> None:
    def wall(request: object) -> Page:
        if "seen=1" in getattr(request, "headers", {}).get("cookie", ""):
            return Page("<title>In</title>")
        return Page("", 302, {"Location": "/", "Set-Cookie": "seen=1; Path=/"})

    with Site({"/": wall}) as site:
        assert webarc.crawl(site.url())["counts"]["new"] == 1


def test_pages_of_other_hosts_are_left_out_and_requisites_only_if_asked_for(webarc: Webarc) -> None:
    with (
        Site({"/i.png": b"\x89PNG\r\n\x1a\n....", "/p": "<title>P</title>"}, host="127.0.0.2") as other,
        Site({"/": f"<img src={other.url('/i.png')}><a href={other.url('/p')}>p</a>"}) as site,
    ):
        rows = webarc.report(site.url())
        assert rows[other.url("/p")]["reason"] == rows[other.url("/i.png")]["reason"] == "scope"
        result = webarc.crawl("--requisites-from-anywhere", "--allow-private", site.url())
        assert webarc.stored(other.url()) == {"i.png"}
        assert webarc.commits(other.url())[0] in result["also"]
        assert b"Webarc-Kind: guest" in webarc.git(other.url(), "log", "--format=%B")


def test_a_linked_private_address_is_refused(webarc: Webarc) -> None:
    with (
        Site({"/i.png": b"\x89PNG"}, host="127.0.0.2") as other,
        Site({"/": f"<img src={other.url('/i.png')}>"}) as site,
    ):
        rows = webarc.report("--requisites-from-anywhere", site.url())
        assert rows[other.url("/i.png")]["reason"] == "address-refused"
        assert not other.requests


def test_start_urls_from_a_file_with_everything_in_it(webarc: Webarc, tmp_path: Path) -> None:
    with Site({"/": "<title>1</title>", "/b": "<title>2</title>"}) as site:
        urls = tmp_path / "urls.txt"
        urls.write_bytes(
            f"\ufeff# start\r\n\r\n{site.url()}\r\n{site.url('/b')}\r\n{site.url()}\r\nht!tp:bad url\r\n".encode()
        )
        ran = webarc.run("crawl", "--depth", "0", "--json", urls)
        assert ran.result()["counts"]["new"] == 2
        assert "urls.txt:6" in ran.err and ran.code == 2


def test_robots_are_obeyed(webarc: Webarc) -> None:
    pages = {"/": "<a href=/secret>s</a><a href=/open rel=nofollow>o</a>", "/secret": "x", "/open": "y"}
    with Site({**pages, "/robots.txt": Page("User-agent: *\nDisallow: /secret\n", type="text/plain")}) as site:
        rows = webarc.report(site.url())
        assert rows[site.url("/secret")]["reason"] == "robots"
        assert "/secret" not in site.targets() and "/open" not in site.targets()
        webarc.crawl("--no-robots", site.url())
        assert {"/secret", "/open"} <= set(site.targets())


def test_limits_stop_the_crawl_and_say_so(webarc: Webarc) -> None:
    site = Site(
        otherwise=lambda request: (
            f"<a href=/p?d={len(request.target) and int(request.target.rpartition('=')[2] or 0) + 1}>next</a>"
        )
    )
    with site:
        result = webarc.crawl("--depth", "inf", "--max-pages", "20", "--no-robots", site.url("/p?d=0"), code=13)
        assert result["reason"] == "max-pages" and not result["complete"]
        assert result["counts"]["fetched"] == 20


def test_git_commands_work_as_git_users_expect(webarc: Webarc) -> None:
    with Site(SMALL) as site:
        first = webarc.crawl("--depth", "inf", site.url())["commitTag"]
        site.pages["/a"] = "<title>A2</title><a href=/a/b>b</a>"
        webarc.crawl("--depth", "inf", site.url())
        tags = webarc.git(site.url(), "tag").decode().split()
        assert len(tags) == 2
        assert first in webarc.git(site.url(), "log", "-1", "--format=%s", tags[0]).decode()
        webarc.git(site.url(), "checkout", "-q", tags[0])
        assert b"<title>A</title>" in (webarc.folder(site.url()) / "a" / "data.html").read_bytes()
        webarc.git(site.url(), "checkout", "-q", "main")
        assert b"<title>A2</title>" in (webarc.folder(site.url()) / "a" / "data.html").read_bytes()


def test_a_crawl_leaves_no_temp_files(webarc: Webarc) -> None:
    with Site(SMALL) as site:
        webarc.crawl(site.url())
    assert list((webarc.archive / ".webarc" / "staging").iterdir()) == []
    assert (
        subprocess.run(
            ["git", "fsck", "--full"], cwd=webarc.folder(site.url()), capture_output=True, check=True
        ).returncode
        == 0
    )


def test_a_guest_that_two_crawls_bring_is_one_version(webarc: Webarc) -> None:
    picture = {"/i": Page(b"\x89PNG\r\n\x1a\n" + b"\0" * 40, type="image/png")}
    with Site(picture, host="127.0.0.3") as guest, Site(host="127.0.0.1") as one, Site(host="127.0.0.2") as two:
        one.pages["/"] = two.pages["/"] = f"<img src={guest.url('/i')}>"
        options = ("--requisites-from-anywhere", "--allow-private")
        results = webarc.run("crawl", "--json", *options, one.url(), two.url()).objects()
        assert sum(result["counts"]["new"] for result in results) == 3
        assert len(webarc.commits(guest.url())) == 1
        (webarc.archive / ".webarc" / "index.db").unlink()
        webarc.crawl(*options, one.url())
        assert len(webarc.commits(guest.url())) == 1
        guest.pages["/i"] = Page(b"GIF89a" + b"\0" * 40, type="image/gif")
        webarc.crawl(*options, one.url())
        assert webarc.files(guest.url()) == ["i/data.gif", "i/data.xml"]


def test_links_that_must_not_be_followed_are_in_the_report(webarc: Webarc) -> None:
    with Site({"/": "<a href=/a rel=nofollow>a</a>", "/a": "x"}) as site:
        assert webarc.report(site.url())[site.url("/a")]["reason"] == "nofollow"


@pytest.mark.parametrize("gone", [".git", "."])
def test_a_repository_that_is_gone_is_not_begun_anew_without_a_word(webarc: Webarc, gone: str) -> None:
    with Site({"/": "<a href=/a>a</a>", "/a": "<p>a"}) as site, Site({"/": "other"}) as other:
        webarc.crawl(site.url())
        folder = webarc.folder(site.url())
        shutil.rmtree(folder / gone)
        for _ in range(2):
            ran = webarc.run("crawl", "--json", site.url(), other.url())
            assert ran.code == 11 and "is gone, and with it 2 versions that the index knows" in ran.err, ran.err
            assert not (folder / ".git").exists() and str(folder) in ran.err and "db-recover" in ran.err
            assert webarc.commits(other.url())
            assert webarc.run("status").code == webarc.run("verify").code == 11
        if folder.exists():
            folder.rename(webarc.archive.parent / "moved")
        assert webarc.run("db-recover").code == 0
        assert webarc.crawl(site.url())["counts"]["new"] == 2
        assert webarc.run("verify").code == 0


@pytest.fixture
def edited(webarc: Webarc) -> Iterator[tuple[Webarc, Site, Path]]:
    """A work tree that is behind main, and a page that was edited by hand there."""
    with Site({"/": "<p>one"}) as site:
        tag = webarc.crawl(site.url())["commitTag"]
        folder = webarc.folder(site.url())
        webarc.git(site.url(), "checkout", "-q", tag_name(tag))
        site.pages["/"] = "<p>two"
        webarc.crawl(site.url())
        webarc.git(site.url(), "checkout", "-q", "main")
        (folder / "%_" / "data.html").write_text("<p>by hand")
        yield webarc, site, folder


@pytest.mark.parametrize("words", [("crawl",), ("list",), ("verify",), ("log",)])
def test_an_edit_that_stood_in_the_way_is_named_by_whoever_puts_it_aside(
    edited: tuple[Webarc, Site, Path], words: tuple[str, ...]
) -> None:
    webarc, site, folder = edited
    site.pages["/"] = "<p>three"
    ran = webarc.run(*words, *([site.url()] if words[0] in ("crawl", "log") else []))
    (rescued,) = (folder / ".webarc" / "rescued").rglob("data.html")
    assert ran.code == 0 and rescued.read_text() == "<p>by hand"
    said = ran.out + ran.err
    assert said.count("1 file changed by hand stood in the way") == 1 and str(folder / ".webarc" / "rescued") in said


def test_what_is_checked_out_by_hand_is_told_once(edited: tuple[Webarc, Site, Path]) -> None:
    webarc, site, _ = edited
    webarc.git(site.url(), "checkout", "-q", "-f", "--detach")
    site.pages["/"] = "<p>three"
    (warning,) = webarc.crawl(site.url())["warnings"]
    assert "has something other than main checked out" in warning
