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
        == f"{tags[1]} is the last crawl that is like {tags[0]}; what other crawls and guests changed since is in.\n"
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
    assert (
        changed(webarc, DOMAIN)[3]
        == "No two of its crawls that followed links and found something have the same start "
        "URLs and options; these are two different ones.\n"
    )
    tags.append(site.crawl({"b": words("two")}, definition="weekly"))
    assert changed(webarc, DOMAIN) == (tags[0], tags[2], ["a", "b"], "")
    tags.append(site.crawl({}, definition="daily"))
    assert changed(webarc, DOMAIN) == (tags[1], tags[3], ["b"], "")


def test_a_crawl_in_front_that_is_like_no_other_hides_nothing(webarc: Webarc, site: Site) -> None:
    tags = [webarc.crawl(site.url("/"))["commitTag"]]
    site.pages["/a"] = "<p>a two"
    tags.append(webarc.crawl(site.url("/"))["commitTag"])
    webarc.crawl(site.url("/mistyped"), code=8)
    ran = changed(webarc, site.domain)
    assert ran == (*tags, ["a"], f"1 crawl after {tags[1]} found nothing and changed nothing.\n")
    webarc.crawl("--depth", "1", site.url("/"))
    said = f"2 crawls after {tags[1]} changed nothing, 1 of them found nothing.\n"
    assert changed(webarc, site.domain) == (*tags, ["a"], said)
    site.pages["/b"] = "<p>b two"
    other = webarc.crawl("--depth", "2", site.url("/"))["commitTag"]
    old, new, paths, said = changed(webarc, site.domain)
    assert (old, new, paths) == (tags[0], other, ["a", "b"])
    assert (
        said
        == f"{tags[1]} is the last crawl that is like {tags[0]}; what other crawls and guests changed since is in.\n"
    )


def test_a_crawl_that_failed_is_not_compared(history: tuple[Webarc, History]) -> None:
    webarc, site = history
    site.crawl({}, found=False)
    first = site.crawl({"a": words("one")})
    assert webarc.run("changes", DOMAIN).err == (
        f"only one crawl of {DOMAIN} found something; there is nothing to compare yet.\n"
    )
    site.crawl({}, found=False)
    last = site.crawl({"a": words("two")})
    site.crawl({}, found=False)
    assert changed(webarc, DOMAIN)[:3] == (first, last, ["a"])


def test_what_is_odd_about_a_pair_is_true_and_told_of_every_domain(history: tuple[Webarc, History]) -> None:
    webarc, site = history
    before = site.crawl({"a": words("one")}, definition="page", depth="0")
    only = site.crawl({"a": words("two")}, definition="wide")
    said = (
        f"Only one of its crawls followed links and found something, {only}; it is compared with the state before it."
    )
    assert changed(webarc, DOMAIN) == (before, only, ["a"], f"{said}\n")
    last = site.crawl({"a": words("three")}, definition="page", depth="0")
    assert changed(webarc, DOMAIN) == (before, last, ["a"], f"{said}\n")
    pages = History(site.archive, "pages.example")
    tags = [pages.crawl({"a": words(each)}, depth="0") for each in ("one", "two")]
    assert changed(webarc, "pages.example") == (*tags, ["a"], "")
    guest = History(site.archive, "guest.example")
    for each in ("one", "two"):
        guest.crawl({"a": words(each)}, kind="guest")
    assert changed(webarc, "guest.example")[3] == "Only crawls of other domains found something of it.\n"

    ran = webarc.run("changes")
    assert ran.err.splitlines() == [
        f"{DOMAIN}: {said}",
        "guest.example: Only crawls of other domains found something of it.",
        "3 of 3 domains changed.",
    ]
    summaries = [line for line in webarc.run("changes", "--json").objects() if line["change"] == "summary"]
    told = {line["domain"]: line.get("remarks") for line in summaries}
    assert told[DOMAIN] == [said] and told["pages.example"] is None
    assert webarc.run("changes", DOMAIN, "--json").objects()[0]["remarks"] == [said]


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
    _, *lines = [line.split(maxsplit=3) for line in ran.out.splitlines()]
    first = "2026-01-01 02:00:00 CET"
    assert tag.startswith("2026-01-01T02:00:00@")
    assert lines == [["big.example", "2", "2", first], [DOMAIN, "1", "1", first]]
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
