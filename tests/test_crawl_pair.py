"""What `webarc changes` compares when nobody names crawls, and all domains at once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.crawls import Webarc
from tests.histories import History, Page
from tests.servers import Site
from webarc.archive.store import Archive

DOMAIN = "example.org"


def words(text: str) -> Page:
    return Page(f"<html><body><p>{text}</p></body></html>")


@pytest.fixture
def site() -> Iterator[Site]:
    with Site({"/": "<a href=/a>a</a> <a href=/b>b</a>", "/a": "<p>a one", "/b": "<p>b one"}) as site:
        yield site


def changed(webarc: Webarc, domain: str, *more: str) -> tuple[str, str, list[str], str]:
    """The two crawls that were compared, the paths that changed, and what was said beside that."""
    ran = webarc.run("changes", domain, "--json", *more)
    assert ran.code == 0, ran.err
    first, *others = ran.objects()
    return first["from"], first["to"], [line["new"]["url"].rpartition("/")[2] for line in others], ran.err


def test_a_check_of_a_single_page_is_no_crawl_of_the_site(webarc: Webarc, site: Site) -> None:
    tags = [webarc.crawl(site.url("/"))["commitTag"]]
    site.pages["/a"] = "<p>a two"
    tags.append(webarc.crawl(site.url("/"))["commitTag"])
    tags.append(webarc.crawl("--depth", "0", site.url("/b"))["commitTag"])
    old, new, paths, said = changed(webarc, site.domain)
    assert (old, new, paths) == (tags[0], tags[1], ["a"])
    assert said == f"1 crawl after {tags[1]} changed nothing.\n"
    site.pages["/b"] = "<p>b two"
    tags.append(webarc.crawl("--depth", "0", site.url("/b"))["commitTag"])
    old, new, paths, said = changed(webarc, site.domain)
    assert (old, new, paths) == (tags[0], tags[3], ["a", "b"])
    assert (
        said
        == f"{tags[1]} is the last crawl that is like {tags[0]}; what single pages and guests changed since is in.\n"
    )
    assert changed(webarc, site.domain, "-2")[:3] == (tags[2], tags[3], ["b"])


@pytest.fixture
def history(tmp_path: Path) -> tuple[Webarc, History]:
    webarc = Webarc(tmp_path / "archive")
    return webarc, History(Archive.create(webarc.archive))


def test_crawls_that_are_alike_come_first(history: tuple[Webarc, History]) -> None:
    webarc, site = history
    tags = [site.crawl({"a": words("one"), "b": words("one")}, definition="weekly")]
    tags.append(site.crawl({"a": words("two")}, definition="daily"))
    assert changed(webarc, DOMAIN)[:3] == (tags[0], tags[1], ["a"])
    assert "No two of its crawls have the same start URLs and options" in changed(webarc, DOMAIN)[3]
    tags.append(site.crawl({"b": words("two")}, definition="weekly"))
    assert changed(webarc, DOMAIN) == (tags[0], tags[2], ["a", "b"], "")
    tags.append(site.crawl({}, definition="daily"))
    assert changed(webarc, DOMAIN) == (tags[1], tags[3], ["b"], "")


def test_what_guests_changed_is_in(history: tuple[Webarc, History]) -> None:
    webarc, site = history
    first = site.crawl({"a": words("one"), "b": words("one")})
    guest = site.crawl({"a": words("two")}, kind="guest")
    assert changed(webarc, DOMAIN)[:3] == (first, guest, ["a"])
    last = site.crawl({"b": words("two")})
    assert changed(webarc, DOMAIN) == (first, last, ["a", "b"], "")
    later = site.crawl({"b": words("three")}, kind="guest")
    assert changed(webarc, DOMAIN)[:3] == (first, later, ["a", "b"])
    assert changed(webarc, DOMAIN, last)[:3] == (last, later, ["b"])
    assert changed(webarc, DOMAIN, guest, later)[:3] == (guest, later, ["b"])


def test_all_domains_in_one_table_the_biggest_first(history: tuple[Webarc, History]) -> None:
    webarc, site = history
    site.crawl({"a": words("one"), "b": words("one")})
    site.crawl({"a": words("free shipping")})
    big = History(site.archive, "big.example")
    big.crawl({str(number): words(f"free {number}") for number in range(3)})
    tag = big.crawl({str(number): words(f"free shipping {number}") for number in range(2)})
    quiet = History(site.archive, "quiet.example")
    quiet.crawl({"a": words("one")})
    quiet.crawl({})
    History(site.archive, "once.example").crawl({"a": words("one")})
    ran = webarc.run("changes")
    assert ran.code == 0 and ran.err == "2 of 4 domains changed; 1 domain crawled only once.\n"
    headers, *lines = [line.split() for line in ran.out.splitlines()]
    assert headers == ["domain", "changed", "moved", "added", "removed", "unchanged", "from", "to"]
    assert [line[:6] for line in lines] == [
        ["big.example", "2", "0", "0", "0", "1"],
        [DOMAIN, "1", "0", "0", "0", "1"],
    ]
    assert lines[0][7] == tag
    objects = webarc.run("changes", "--json", "-n", "1").objects()
    assert [(line["change"], line.get("domain")) for line in objects] == [
        *(("summary", "big.example"), ("changed", None)),
        *(("summary", DOMAIN), ("changed", None)),
        ("summary", "quiet.example"),
    ]
    assert webarc.run("changes", "--html", "-").code == 2

    ran = webarc.run("when", "free shipping")
    _, *lines = [line.split() for line in ran.out.splitlines()]
    assert lines == [["big.example", "2", "2", tag], [DOMAIN, "1", "1", f"2026-01-01T02:00:00@{DOMAIN}"]]
    assert ran.code == 0 and ran.err == "On 3 pages, still there on 3; searched 10 versions of 7 pages.\n"
    found = webarc.run("when", "--json", "free shipping").objects()
    assert [line["url"].partition("/")[2] for line in found] == ["/big.example/0", "/big.example/1", f"/{DOMAIN}/a"]
    assert "Missing argument 'PHRASE'" in webarc.run("when").err


def test_one_broken_domain_does_not_hide_the_others(history: tuple[Webarc, History]) -> None:
    webarc, site = history
    broken = History(site.archive, "broken.example")
    for each in (site, broken):
        each.crawl({"a": words("one")})
        each.crawl({"a": words("two")})
    (broken.repo.git_dir / "HEAD").write_text("nonsense")
    for command in (("changes",), ("when", "two")):
        ran = webarc.run(*command)
        assert ran.code == 11 and "broken.example" in ran.err and DOMAIN in ran.out, (ran.out, ran.err)
