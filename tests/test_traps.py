"""Names that hurt: every trap of the hostile web's line 33 in one site, stored apart and read back by URL."""

from __future__ import annotations

import hashlib
from pathlib import Path

from tests.crawls import Webarc
from tests.servers import Page, Request, Site
from webarc.archive.document import parse
from webarc.archive.layout import arc_of
from webarc.archive.urls import canonical

TRAPS = [
    *("/.git/hooks/post-commit", "/.GIT/config", "/git~1/x", "/.gitattributes", "/.gitignore", "/.webarc/crawls/x"),
    *("/data.xml", "/data.html", "/a", "/a/b", "/d", "/d/", "/d/index.html", "/q?x=1", "/q%3Fx=1", "/Case", "/case"),
    *("/" + "n" * 299 + "a", "/" + "n" * 299 + "b", "/%2541", "/A", "/caf%C3%A9", "/cafe%CC%81", "/q?x=/../../etc"),
    *("/" + "s/" * 1000, "/" + "p" * 6000, "/d//", "/con", "/-rf", "/x.", "/data.files/y", "/refs.lock", "/a%0Ab"),
]
SCRIPT = "#!/bin/sh\ntouch {mark}\n"


def test_every_trap_is_stored_apart_and_found_by_url(webarc: Webarc, tmp_path: Path) -> None:
    mark = tmp_path / "executed"
    bodies = {trap: SCRIPT.format(mark=mark) + f"# {number} $Id$\r\n" for number, trap in enumerate(TRAPS)}
    pages = {trap: Page(body, type="text/plain") for trap, body in bodies.items()}
    with Site({"/": "".join(f'<a href="{trap}">x</a>' for trap in TRAPS), **pages}) as site:
        result = webarc.crawl(site.url())
        assert result["counts"]["new"] == len(TRAPS) + 1
        site.pages["/a"] = Page("changed", type="text/plain")
        assert webarc.crawl(site.url())["counts"]["changed"] == 1
        bodies["/a"] = "changed"
        for trap, body in bodies.items():
            check_trap(webarc, site.url(trap), body.encode())
        assert len(webarc.stored(site.url())) == len(TRAPS) + 1
    assert not mark.exists(), "something that was crawled has been executed"
    assert webarc.git(site.url(), "fsck", "--full", "--strict") == b""


def check_trap(webarc: Webarc, url: str, body: bytes) -> None:
    arc = arc_of(canonical(url))
    assert webarc.document(url) == body, url
    meta = parse(webarc.git(url, "cat-file", "blob", f"main:{arc}/data.xml"))
    assert meta.url == canonical(url)
    assert meta.response.sha256 == hashlib.sha256(body).hexdigest()
    assert (webarc.folder(url) / arc / meta.response.file).read_bytes() == body


def test_line_ends_and_keywords_come_back_byte_for_byte(webarc: Webarc) -> None:
    body = b"a\r\nb\n$Id$ $Revision$\r\x00\xff"
    with Site({"/": Page(body, type="application/x-thing")}) as site:
        webarc.crawl(site.url())
        assert webarc.document(site.url()) == body


def test_a_title_with_characters_that_xml_forbids(webarc: Webarc) -> None:
    title = "a\x01b\ufffe & <i>"
    with Site({"/": Page(f"<title>{title}</title>")}) as site:
        webarc.crawl(site.url())
        meta = parse(webarc.git(site.url(), "cat-file", "blob", "main:%_/data.xml"))
        assert meta.title == title


def test_a_password_in_a_url_is_written_nowhere(webarc: Webarc) -> None:
    def guarded(request: Request) -> Page:
        return Page("<title>x</title>", 200 if "authorization" in request.headers else 401)

    with Site({"/": guarded}) as site:
        url = site.url().replace("http://", "http://anna:hunter2secret@")
        ran = webarc.run("crawl", "--json", "--report", webarc.archive.parent / "r.json", url)
        assert ran.code == 0, ran.err
        assert "hunter2secret" not in ran.out + ran.err
        assert "authorization" in site.asked("/")[-1].headers
    for file in webarc.archive.parent.rglob("*"):
        if file.is_file():
            assert b"hunter2secret" not in file.read_bytes(), file
    assert b"hunter2secret" not in webarc.git(site.url(), "log", "-p")


def test_the_users_own_git_settings_change_nothing(webarc: Webarc, tmp_path: Path) -> None:
    home = tmp_path / "home"
    hooks = home / "hooks"
    hooks.mkdir(parents=True)
    mark = tmp_path / "hooked"
    for name in ("post-commit", "reference-transaction", "post-checkout"):
        (hooks / name).write_text(f"#!/bin/sh\ntouch {mark}\n")
        (hooks / name).chmod(0o755)
    (home / "ignore").write_text("*.log\nbuild/\n*\n")
    (home / "attributes").write_text("* text eol=lf ident\n")
    (home / ".gitconfig").write_text(
        f"[core]\nhooksPath={hooks}\nexcludesFile={home}/ignore\nattributesFile={home}/attributes\nautocrlf=input\n"
        "[user]\nname=Somebody\nemail=some@body\n[commit]\ngpgSign=true\n"
    )
    pages = {"/": "<a href=/x.log>l</a><a href=/build/y>b</a>", "/x.log": Page("a\r\n$Id$", type="text/plain")}
    with Site({**pages, "/build/y": Page("b", type="text/plain")}) as site:
        ran = webarc.run("crawl", "--json", site.url(), HOME=str(home))
        assert ran.code == 0 and ran.result()["counts"]["new"] == 3
        assert webarc.document(site.url("/x.log")) == b"a\r\n$Id$"
        assert webarc.git(site.url(), "log", "--format=%an <%ae>") == b"webarc <webarc@localhost>\n"
    assert not mark.exists()
