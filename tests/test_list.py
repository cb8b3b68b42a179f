"""`webarc list`: domains, URLs and versions that fulfil a condition."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.crawls import Webarc
from tests.histories import History, Page
from webarc.archive.store import Archive

VERSION = ["number", "url", "crawlTime", "commitTag", "status", "mimeType", "size", "sha256", "title"]


@pytest.fixture(scope="module")
def webarc(tmp_path_factory: pytest.TempPathFactory) -> Webarc:
    """Two domains: /a has two versions, /gone is gone, /evil has a title that talks to terminals."""
    webarc = Webarc(tmp_path_factory.mktemp("list") / "archive")
    archive = Archive.create(webarc.archive)
    site = History(archive)
    site.crawl({"a": Page("one", title="Front"), "gone": "x", "paper.pdf": Page("%PDF", "application/pdf")})
    site.crawl({"a": Page("three", title="Front page"), "evil": Page("e", title="\x1b]0;owned\x07 100 %")}, ("gone",))
    History(archive, "other.org:8080").crawl({"": "home"}, kind="guest")
    return webarc


def test_domains_with_their_figures(webarc: Webarc) -> None:
    ran = webarc.run("list")
    assert ran.code == 0 and ran.err == ""
    assert [line.split() for line in ran.out.splitlines()[1:]] == [
        ["example.org", "3", "5", "14", "B", "2026-01-01", "01:00:00", "CET", "2026-01-01", "02:00:00", "CET"],
        ["other.org:8080", "1", "1", "4", "B", "2026-01-01", "01:00:00", "CET", "2026-01-01", "01:00:00", "CET"],
    ]
    first, second = webarc.run("list", "--json").objects()
    assert first == {
        "domain": "example.org",
        "pages": 3,
        "versions": 5,
        "size": 14,
        "firstCrawl": "2026-01-01 01:00:00",
        "lastCrawl": "2026-01-01 02:00:00",
    }
    assert second["domain"] == "other.org:8080"


def test_the_urls_of_a_domain(webarc: Webarc) -> None:
    listed = webarc.run("list", "https://example.org/", "--json").objects()
    assert list(listed[0]) == [*VERSION, "versions", "current"]
    assert [(row["url"], row["number"], row["versions"]) for row in listed] == [
        ("http://example.org/a", 2, 2),
        ("http://example.org/evil", 1, 1),
        ("http://example.org/paper.pdf", 1, 1),
    ]
    everything = webarc.run("list", "example.org", "--all")
    assert "http://example.org/gone (gone)" in everything.out and "http://example.org/a (gone)" not in everything.out
    assert len(everything.out.splitlines()) == 5


def test_what_pages_call_themselves_cannot_talk_to_the_terminal(webarc: Webarc) -> None:
    for arguments in (("list", "example.org"), ("list", "--where", "title LIKE '%owned%'")):
        ran = webarc.run(*arguments)
        assert "\\x1b]0;owned\\x07 100 %" in ran.out and "\x1b" not in ran.out


def test_versions_that_fulfil_a_condition(webarc: Webarc) -> None:
    rows = webarc.run("list", "--json", "--where", "number = 1 AND mimeType = 'text/html'").objects()
    assert [list(row) for row in rows] == [VERSION] * 4
    assert [row["url"] for row in rows] == [
        "http://example.org/a",
        "http://example.org/evil",
        "http://example.org/gone",
        "http://other.org:8080/",
    ]
    (only,) = webarc.run("list", "--json", "example.org", "--where", "current = 1 AND title LIKE 'front%'").objects()
    assert (only["number"], only["title"], only["size"]) == (2, "Front page", 5)
    nothing = webarc.run("list", "--where", "status = 404")
    assert (nothing.code, nothing.out) == (0, "") and "no version fulfils the condition" in nothing.err


def test_mistakes_are_one_sentence(webarc: Webarc, tmp_path: Path) -> None:
    mistakes = {
        ("list", "exampel.org"): "did you mean example.org?",
        ("list", "--where", "load_extension('x') = 1"): "'LOAD_EXTENSION' is not allowed",
        ("list", "--all"): "--all is for the URLs of a domain",
    }
    for arguments, said in mistakes.items():
        ran = webarc.run(*arguments)
        assert (ran.code, ran.out) == (2, "") and said in ran.err and ran.err.count("\n") == 1, ran.err
    nowhere = Webarc(tmp_path / "none").run("list")
    assert nowhere.code == 2 and "holds no archive" in nowhere.err
    empty = Webarc(Archive.create(tmp_path / "empty").root).run("list")
    assert (empty.code, empty.out) == (0, "") and "webarc crawl" in empty.err


def test_one_broken_repository_does_not_hide_the_others(tmp_path: Path) -> None:
    archive = Archive.create(tmp_path / "archive")
    for name in ("a.org", "b.org"):
        History(archive, name).crawl({"": "home"})
    (archive.repository("a.org").git_dir / "config").write_text("[core\n")
    History(archive, "c.org").crawl({"": "home"})
    webarc = Webarc(archive.root)
    ran = webarc.run("list", "--json")
    assert [row["domain"] for row in ran.objects()] == ["b.org", "c.org"]
    assert ran.code == 3 and "a.org" in ran.err
    shutil.rmtree(archive.repository("c.org").folder)
    ran = webarc.run("list", "--json", "--where", "number = 1")
    # Of a repository that is gone, the index is the last to know.
    assert sorted(row["url"] for row in ran.objects()) == ["http://b.org/", "http://c.org/"]
    assert ran.code == 3 and "a.org" in ran.err and "the repository of c.org is gone" in ran.err


@pytest.mark.parametrize("gone", [".git", "."])
def test_a_repository_that_is_gone_is_named_each_time(tmp_path: Path, gone: str) -> None:
    archive = Archive.create(tmp_path / "archive")
    for name in ("a.org", "b.org"):
        History(archive, name).crawl({"": "home"})
    webarc = Webarc(archive.root)
    assert webarc.run("list").code == 0
    shutil.rmtree(archive.repository("a.org").folder / gone)
    for arguments in (("list", "--json"), ("list", "--json"), ("list", "--json", "--where", "number = 1")):
        ran = webarc.run(*arguments)
        assert ran.code == 11 and len(ran.objects()) == 2 and ran.err.count("\n") == 1, (ran.out, ran.err)
        assert "the repository of a.org is gone, and with it 1 version that the index knows" in ran.err


MAIN = "refs/heads/main"
BROKEN = [(MAIN, None), ("refs", None), ("HEAD", None), (MAIN, ""), (MAIN, "nonsense"), (MAIN, "1" * 40)]


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize(("name", "content"), BROKEN)
def test_a_domain_whose_refs_are_broken_is_named_and_not_shown_as_empty(
    tmp_path: Path, name: str, content: str | None, known: bool
) -> None:
    archive = Archive.create(tmp_path / "archive")
    for domain in ("a.org", "b.org"):
        History(archive, domain).crawl({"": "home"})
    webarc = Webarc(archive.root)
    if known:
        assert webarc.run("list").code == 0
    place = archive.repository("a.org").git_dir / name
    if content is not None:
        place.write_text(content)
    elif place.is_dir():
        shutil.rmtree(place)
    else:
        place.unlink()
    ran = webarc.run("list", "--json")
    shown = {row["domain"]: row["versions"] for row in ran.objects()}
    # What the index knows of it is still true; and it is not thrown away.
    assert shown == ({"a.org": 1, "b.org": 1} if known else {"b.org": 1})
    assert ran.code == 11 and ran.err.count("\n") == 1, ran.err
    assert "a.org" in ran.err and "webarc verify --repair" in ran.err
    ran = webarc.run("list", "a.org")
    assert ran.code == 11 and "webarc verify --repair" in ran.err and ("http://a.org/" in ran.out) == known
