"""`webarc changes`: what came, went, moved and changed in a whole site."""

from __future__ import annotations

import random
import re
import resource
import subprocess
from html import escape
from pathlib import Path
from typing import Any

import pytest
from lxml import html as markup

from tests.crawls import Ran, Webarc
from tests.histories import History, Page
from tests.servers import Site
from webarc.archive.store import Archive
from webarc.errors import Damaged

DOMAIN = "example.org"
WORDS = [f"w{number}" for number in range(3000)]
HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>\x1b[2J\u202e\x00"


def prose(seed: int, count: int = 200) -> list[str]:
    return random.Random(seed).choices(WORDS, k=count)


def page(words: list[str], title: str | None = None) -> Page:
    return Page(f"<html><body><p>{' '.join(words)}</p></body></html>", title=title)


def replaced(words: list[str], count: int) -> list[str]:
    """The same words but for the first so many."""
    return [f"new{number}" for number in range(count)] + words[count:]


def changes(webarc: Webarc, *arguments: str, code: int = 0) -> Ran:
    ran = webarc.run("changes", *arguments)
    assert ran.code == code, (ran.code, ran.out, ran.err)
    return ran


def listed(webarc: Webarc, *arguments: str) -> dict[str, list[Any]]:
    """Paths by kind of change."""
    found: dict[str, list[Any]] = {"changed": [], "moved": [], "added": [], "removed": []}
    for line in changes(webarc, DOMAIN, "--json", *arguments).objects()[1:]:
        old, new = (line[side] and line[side]["url"].removeprefix(f"http://{DOMAIN}/") for side in ("old", "new"))
        found[line["change"]].append((old, new) if line["change"] == "moved" else new or old)
    return found


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Webarc:
    """Three crawls of a site with everything that can happen to a page."""
    webarc = Webarc(tmp_path_factory.mktemp("site") / "archive")
    history = History(Archive.create(webarc.archive))
    history.crawl(
        {
            "": page(prose(0)),
            "little": page(prose(1)),
            "much": page(prose(2)),
            "markup": page(prose(3)),
            "old/same": page(prose(4)),
            "old/like": page(prose(5)),
            "old/unlike": page(prose(6)),
            "old/short": page(["not", "found"]),
            "old/a.gif": Page("GIF" * 300, "image/gif", file="data.gif"),
            "old/b.gif": Page("GIF" * 300, "image/gif", file="data.gif"),
            "back": page(prose(7)),
        }
    )
    history.crawl({"back": page(prose(8)), "between": page(prose(9))})
    history.crawl(
        {
            "little": page(replaced(prose(1), 2)),
            "much": page([escape(HOSTILE.replace("1", "3")), *replaced(prose(2), 150)], HOSTILE),
            "markup": Page(page(prose(3)).body.replace("<p>", "<p class=x>")),
            "new/same": page(prose(4)),
            "new/like": page(replaced(prose(5), 10)),
            "new/unlike": page(replaced(prose(6), 60)),
            "new/short": Page("<p>not found</p>"),
            "new/b.gif": Page("GIF" * 300, "image/gif", file="data.gif"),
            "back": page(prose(7)),
        },
        gone=("old/same", "old/like", "old/unlike", "old/short", "old/a.gif", "old/b.gif"),
    )
    return webarc


EXPECTED = {
    "changed": ["much", "little", "markup"],
    "moved": [("old/b.gif", "new/b.gif"), ("old/same", "new/same"), ("old/like", "new/like")],
    "added": ["between", "new/short", "new/unlike"],
    "removed": ["old/a.gif", "old/short", "old/unlike"],
}


def test_every_kind_of_change_is_found_most_changed_first(site: Webarc) -> None:
    first, *others = changes(site, DOMAIN, "-3", "--json").objects()
    assert first == {
        "change": "summary",
        "domain": DOMAIN,
        "from": "2026-01-01T01:00:00@example.org",
        "to": "2026-01-01T03:00:00@example.org",
        **{kind: len(pages) for kind, pages in EXPECTED.items()},
        "unchanged": 2,
        "uncertain": 0,
        "unknown": 0,
    }
    assert listed(site, "-3") == EXPECTED
    scores = {line["new"]["url"].rpartition("/")[2]: line["score"] for line in others if line["change"] == "changed"}
    assert scores["much"] == pytest.approx(0.75, abs=0.05)
    assert scores["little"] == pytest.approx(0.01, abs=0.001)
    assert scores["markup"] == 0.0
    moved = {line["new"]["url"].rpartition("/")[2]: line["similarity"] for line in others if line["change"] == "moved"}
    assert moved == {"b.gif": 1.0, "same": 1.0, "like": pytest.approx(0.95, abs=0.001)}


def test_the_last_two_crawls_are_compared_unless_asked(site: Webarc) -> None:
    assert listed(site)["changed"] == ["back", *EXPECTED["changed"]]
    assert listed(site, "-3", "-2") == {"changed": ["back"], "moved": [], "added": ["between"], "removed": []}
    assert listed(site, "2026-01-01 01:30", "2026-01-01T02:00:00@example.org")["added"] == ["between"]


def test_from_the_newer_to_the_older_everything_is_the_other_way_round(site: Webarc) -> None:
    found = listed(site, "-1", "-3")
    assert found["added"] == EXPECTED["removed"]
    assert found["removed"] == EXPECTED["added"]
    assert found["changed"] == EXPECTED["changed"]
    assert {(new, old) for old, new in found["moved"]} == set(EXPECTED["moved"])


def test_as_a_table(site: Webarc) -> None:
    first, headers, *lines = changes(site, DOMAIN, "-3", "-n", "1").out.splitlines()
    assert first.endswith(": 3 changed, 3 moved, 3 added, 3 removed, 2 unchanged.")
    assert headers.split() == ["change", "score", "words", "page"]
    assert [line.split()[0] for line in lines] == ["changed", "moved", "added", "removed"]
    assert lines[0].split()[1:] == ["0.767", "+179", "-150", f"http://{DOMAIN}/much"]


def test_one_web_page_that_needs_nothing_and_can_do_nothing(site: Webarc, tmp_path: Path) -> None:
    target = tmp_path / "report.html"
    target.write_text("old")
    ran = changes(site, DOMAIN, "-3", "--html", str(target))
    assert "3 changed" in ran.out
    text = target.read_text()
    tree = markup.document_fromstring(text)
    names = {element.tag for element in tree.iter() if isinstance(element.tag, str)}
    assert not names & {"script", "img", "link", "iframe", "object", "form", "base"}
    assert not [name for element in tree.iter() for name in element.attrib if name.startswith("on")]
    assert "default-src 'none'" in text
    assert "\x1b" not in text and "\x00" not in text
    assert "<script>alert(1)</script>" in tree.text_content()
    assert "<script>alert(3)</script>" in tree.text_content()
    assert {address for element in tree.iter("a") for address in [element.get("href")]} == {
        f"http://{DOMAIN}/{path}"
        for path in (
            *EXPECTED["changed"],
            *EXPECTED["added"],
            *EXPECTED["removed"],
            *(path for pair in EXPECTED["moved"] for path in pair),
        )
    }
    assert "new149" in "".join(element.text_content() for element in tree.iter("ins"))
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]


def test_the_report_can_be_piped_and_fails_in_a_sentence(site: Webarc, tmp_path: Path) -> None:
    out = changes(site, DOMAIN, "--html", "-").out
    assert out.startswith("<!DOCTYPE html>")
    assert out.endswith("</html>\n")
    ran = changes(site, DOMAIN, "--html", str(tmp_path / "none" / "report.html"), code=3)
    assert len(ran.err.splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("exampel.org",), "did you mean example.org"),
        ((DOMAIN, "-9"), "-9"),
        ((DOMAIN, "2025"), "had not been crawled by 2026-01-01 00:59:59 CET; its first crawl is 2026-01-01T01:00:00@"),
        ((DOMAIN, "1", "2", "3"), "two can be compared, not 3"),
        ((DOMAIN, "--hmtl", "x"), "--hmtl"),
    ],
)
def test_mistakes_are_one_sentence(site: Webarc, arguments: tuple[str, ...], said: str) -> None:
    ran = changes(site, *arguments, code=2)
    (line,) = ran.err.splitlines()
    assert line.startswith("webarc: ")
    assert said in line


def test_one_crawl_is_one_sentence(webarc: Webarc) -> None:
    History(Archive.create(webarc.archive)).crawl({"": "once"})
    ran = changes(webarc, DOMAIN)
    assert ran.out == ""
    assert ran.err.splitlines() == [f"{DOMAIN} was crawled only once; there is nothing to compare yet."]


def test_what_crawls_of_a_real_site_found(webarc: Webarc) -> None:
    body = " ".join(prose(1))
    with Site({"/": "<a href=/a>a</a> <a href=/b>b</a>", "/a": f"<p>{body}", "/b": "<p>first words here"}) as server:
        webarc.crawl("--depth", "2", server.url("/"))
        server.pages["/"] = "<a href=/c>c</a> <a href=/b>b</a>"
        server.pages |= {"/c": f"<p>{body}", "/b": "<p>second words here", "/a": (404, {}, "gone")}
        webarc.crawl("--depth", "2", server.url("/"))
        found = changes(webarc, server.url("/"), "--json").objects()[1:]
    paths = [(line["change"], *(line[side] and line[side]["url"][-2:] for side in ("old", "new"))) for line in found]
    assert ("moved", "/a", "/c") in paths
    assert ("changed", "/b", "/b") in paths


def test_copies_without_number_are_moved_one_by_one(webarc: Webarc) -> None:
    history = History(Archive.create(webarc.archive))
    gif = Page("GIF" * 10, "image/gif", file="data.gif")
    history.crawl({"": "home", **{f"old/{number}.gif": gif for number in range(300)}})
    moved = {f"new/{number}.gif": gif for number in range(0, 300, 2)}
    history.crawl(moved, gone=tuple(f"old/{number}.gif" for number in range(300)))
    found = listed(webarc)
    assert len(found["moved"]) == 150
    assert all(old.rpartition("/")[2] == new.rpartition("/")[2] for old, new in found["moved"])
    assert len(found["removed"]) == 150


def test_a_shared_menu_does_not_make_pages_alike(webarc: Webarc) -> None:
    """Every page has the same 400 words and 30 of its own; it still finds its own counterpart."""
    menu = prose(99, 400)
    history = History(Archive.create(webarc.archive))
    history.crawl({"": "home", **{f"old/{number}": page(menu + prose(number, 30)) for number in range(120)}})
    after = {f"new/{number}": page(replaced(menu, 1) + prose(number, 30)) for number in range(120)}
    history.crawl(after, gone=tuple(f"old/{number}" for number in range(120)))
    pairs = listed(webarc)["moved"]
    right = [pair for pair in pairs if pair[0].rpartition("/")[2] == pair[1].rpartition("/")[2]]
    assert len(right) > 100


def test_a_damaged_version_is_named_and_the_rest_compared(site: Webarc, tmp_path: Path) -> None:
    copy = Webarc(tmp_path / "archive")
    subprocess.run(["cp", "-r", site.archive, copy.archive], check=True)
    folder = copy.archive / DOMAIN
    blob = copy.git(f"http://{DOMAIN}/", "rev-parse", "main:much/data.html").decode().strip()
    # The packs are unpacked, so that one object can be taken away.
    for pack in (folder / ".git" / "objects" / "pack").glob("*.pack"):
        moved = pack.rename(tmp_path / pack.name)
        with moved.open("rb") as packed:
            subprocess.run(["git", "-C", folder, "unpack-objects", "-q"], stdin=packed, check=True)
        pack.with_suffix(".idx").unlink()
    (folder / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    ran = changes(copy, DOMAIN, "-3", code=Damaged.exit_code)
    assert "much" in ran.err
    assert re.search(r"^changed +\? +http://example.org/much$", ran.out, re.MULTILINE)
    assert re.search(r"^changed +0.010", ran.out, re.MULTILINE)


@pytest.mark.slow
def test_ten_thousand_pages_take_seconds(webarc: Webarc) -> None:
    history = History(Archive.create(webarc.archive))
    history.crawl({f"{number}": page(prose(number)) for number in range(10_000)})
    after = {f"{number}": page(replaced(prose(number), 20)) for number in range(500)}
    moved = {f"moved/{number}": page(replaced(prose(number), 5)) for number in range(500, 700)}
    history.crawl(after | moved, gone=tuple(str(number) for number in range(500, 700)))
    webarc.run("list")
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    found = changes(webarc, DOMAIN).out.splitlines()[0]
    assert found.endswith(": 500 changed, 200 moved, 0 added, 0 removed, 9,300 unchanged.")
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before < 10
