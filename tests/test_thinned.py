"""Pages whose old versions were thinned out or forgotten: nothing is said to begin with the first one that is left."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.archives import DOMAIN
from tests.crawls import Webarc
from tests.histories import History, Page
from webarc.archive.store import Archive

TAGS = [f"2026-01-01T0{hour}:00:00@{DOMAIN}" for hour in range(1, 6)]


def page(words: str) -> Page:
    return Page(f"<p>{words}</p>")


def history(archive: Path) -> tuple[Webarc, History]:
    """Five crawls; `late` came with the third one, `middle` was something else in between, `guest` has no report."""
    webarc = Webarc(archive)
    site = History(Archive.create(webarc.archive))
    both = [site.outcome("news"), site.outcome("middle")]
    all_of_them = [site.outcome("late"), *both[::-1]]
    site.crawl({"news": page("cheap shipping one"), "middle": page("first")}, urls=both[::-1])
    site.crawl({"news": page("cheap shipping two"), "guest": page("g one")}, urls=both[::-1])
    site.crawl({"news": page("free shipping"), "middle": page("second"), "late": page("l one")}, urls=all_of_them)
    site.crawl({"news": page("free shipping four"), "guest": page("g two"), "late": page("l two")}, urls=all_of_them)
    site.crawl({"news": page("free five"), "middle": page("third"), "late": page("l three")}, urls=all_of_them)
    return webarc, site


@pytest.fixture(scope="module")
def thinned(tmp_path_factory: pytest.TempPathFactory) -> Webarc:
    """Of `news` 4 and 5, of `middle` and `late` 2 and 3, of `guest` 2 is left."""
    webarc, site = history(tmp_path_factory.mktemp("thinned") / "archive")
    assert webarc.run("retain", "--keep", "last=2", "--yes").code == 0
    ran = webarc.run("forget", site.url("guest"), "--version", "1", "--reason", "why", "--yes")
    assert ran.code == 0, ran.err
    return webarc


@pytest.fixture(scope="module")
def middle(tmp_path_factory: pytest.TempPathFactory) -> Webarc:
    """Of `middle` the second of three versions is forgotten."""
    webarc, site = history(tmp_path_factory.mktemp("middle") / "archive")
    assert webarc.run("forget", site.url("middle"), "--version", "2", "--reason", "why", "--yes").code == 0
    return webarc


def out(webarc: Webarc, *words: str) -> str:
    ran = webarc.run(*words)
    assert ran.code == 0, (ran.out, ran.err)
    return ran.out + ran.err


def test_a_phrase_did_not_appear_in_the_first_version_that_is_left(thinned: Webarc) -> None:
    ran = thinned.run("when", f"{DOMAIN}/news", "free")
    said = (
        f"  appeared by 2026-01-01 04:00:00 CET in or before version 4 ({TAGS[3]}; versions 1 to 3 were thinned out), "
    )
    assert said + "still there\n" in ran.out
    assert "searched 2 versions of 1 page, 3 more were thinned out or forgotten before" in ran.err
    assert re.search(r"  by 2026-01-01 \d\d:\d\d:\d\d CET$", thinned.run("when", "free").out, re.MULTILINE)
    (found,) = thinned.run("when", "--json", f"{DOMAIN}/news", "free").result()["ranges"]
    assert (found["missingBefore"], found["missingBetween"]) == ([1, 2, 3], [])


def test_a_phrase_disappeared_in_a_version_that_is_gone_perhaps(middle: Webarc) -> None:
    said = out(middle, "when", f"{DOMAIN}/middle", "first")
    assert f"disappeared by 2026-01-01 05:00:00 CET in or before version 3 ({TAGS[4]}; version 2 was forgotten)" in said
    assert f"appeared 2026-01-01 01:00:00 CET in version 1 ({TAGS[0]})" in said
    assert "searched 2 versions of 1 page, 1 more was thinned out or forgotten before" in said


def test_a_page_that_only_changed_was_not_added(thinned: Webarc) -> None:
    """`news` was there all the time, `late` came with the third crawl; of `guest` nothing is known but the gap."""
    first, *others = thinned.run("changes", "--json", DOMAIN, TAGS[1], TAGS[4]).objects()
    kinds = {(line["new"] or line["old"])["url"].rpartition("/")[2]: line["change"] for line in others}
    assert kinds == {"news": "changed", "guest": "changed", "late": "added", "middle": "changed"}
    assert (first["changed"], first["added"], first["removed"]) == (3, 1, 0)
    (news,) = (line for line in others if line["new"]["url"].endswith("/news"))
    assert (news["old"], news["score"], news["missing"]) == (None, None, [1, 2, 3])
    text = out(thinned, "changes", DOMAIN, TAGS[1], TAGS[4])
    assert re.search(rf"^changed +\? +http://{DOMAIN}/news \(versions 1 to 3 were thinned out\)$", text, re.MULTILINE)
    backwards = thinned.run("changes", "--json", DOMAIN, TAGS[4], TAGS[1]).objects()
    assert (backwards[0]["changed"], backwards[0]["added"], backwards[0]["removed"]) == (3, 0, 1)
    assert "versions 1 to 3 were thinned out" in out(thinned, "changes", "--html", "-", DOMAIN, TAGS[1], TAGS[4])


def test_a_page_that_seems_unchanged_may_have_been_something_else(middle: Webarc) -> None:
    summary = middle.run("changes", "--json", DOMAIN, TAGS[1], TAGS[2]).objects()[0]
    assert (summary["changed"], summary["unchanged"], summary["unknown"]) == (1, 1, 1)
    assert "Of 1 page the versions of these times were thinned out or forgotten" in out(
        middle, "changes", DOMAIN, *TAGS[1:3]
    )
    newer = middle.run("changes", "--json", DOMAIN, TAGS[2], TAGS[4]).objects()[0]
    assert (newer["uncertain"], newer["unknown"]) == (1, 0)
    assert "Of 1 page a version of one of these times may have been" in out(middle, "changes", DOMAIN, TAGS[2], TAGS[4])


@pytest.fixture(scope="module")
def returning(tmp_path_factory: pytest.TempPathFactory) -> Webarc:
    """Six crawls; of each page the newest version is left; `back` was gone in the fourth, `late` came in the third."""
    webarc = Webarc(tmp_path_factory.mktemp("returning") / "archive")
    site = History(Archive.create(webarc.archive))
    for number in range(1, 7):
        names = ["news", *(["back"] if number != 4 else []), *(["late"] if number > 2 else [])]
        pages = {name: page(f"{name} {number}") for name in names} | ({"same": page("same")} if number == 1 else {})
        sightings = [site.outcome(name) for name in sorted([*names, "same"])]
        if number == 4:
            sightings = sorted([*sightings, site.outcome("back", 404)])
        site.crawl(pages, gone=("back",) if number == 4 else (), urls=sightings)
    assert webarc.run("retain", "--keep", "last=1", "--yes").code == 0
    return webarc


@pytest.mark.parametrize(
    ("crawls", "kinds"),
    [
        (("-5", "-4"), {"news": "unknown", "late": "unknown", "back": "changed"}),
        (("-4", "-3"), {"news": "unknown", "late": "unknown", "back": "removed"}),
        (("-3", "-4"), {"news": "unknown", "late": "unknown", "back": "added"}),
        (("-3", "-2"), {"news": "unknown", "late": "unknown", "back": "unknown"}),
        (("-2", "-1"), {"news": "changed", "late": "changed", "back": "changed"}),
        (("-6", "-1"), {"news": "changed", "late": "added", "back": "changed"}),
    ],
)
def test_what_nobody_can_tell_is_counted_as_such(
    returning: Webarc, crawls: tuple[str, str], kinds: dict[str, str]
) -> None:
    first, *others = returning.run("changes", "--json", DOMAIN, *crawls).objects()
    found = {(line.get("url") or (line["new"] or line["old"])["url"]).rpartition("/")[2]: line for line in others}
    assert {name: line["change"] for name, line in found.items()} == kinds
    unknown = sum(kind == "unknown" for kind in kinds.values())
    assert (first["unknown"], first["unchanged"]) == (unknown, 1)
    said = out(returning, "changes", DOMAIN, *crawls)
    assert (f"{unknown} unknown." in said) == bool(unknown)
    assert ("were thinned out or forgotten: whether they changed, came or went cannot be told" in said) == bool(unknown)


def test_the_report_names_what_nobody_can_tell(returning: Webarc) -> None:
    said = out(returning, "changes", "--html", "-", DOMAIN, "-3", "-2")
    assert "<h2>Unknown</h2>" in said and "<td>version 4 was thinned out</td>" in said
    assert "3 unknown" in said


def test_the_log_begins_where_it_is_left(thinned: Webarc, middle: Webarc) -> None:
    text = out(thinned, "log", f"{DOMAIN}/news")
    assert " after 3 " in text and " new " not in text
    gaps = {
        row["number"]: row["missingBefore"] for row in middle.run("log", "--json", f"{DOMAIN}/middle").objects()[1:]
    }
    assert gaps == {1: [], 3: [2]}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (f"diff {DOMAIN}/guest", "has only one version left; version 1 was forgotten, so there is nothing to compare"),
        (f"get {DOMAIN}/news --version 2", "has no version 2; it has 4 to 5; 3 more were thinned out or forgotten"),
        (f"get {DOMAIN}/news --at 2026-01-01T02:30:00+01:00", "the first that is left is 4, of 2026-01-01 04:00:00"),
    ],
)
def test_what_is_left_is_not_all_there_was(thinned: Webarc, words: str, said: str) -> None:
    ran = thinned.run(*words.split())
    assert ran.code in (0, 2) and said in ran.err, (ran.out, ran.err)


@pytest.mark.parametrize(
    "words",
    [
        f"get {DOMAIN}/middle --at 2026-01-01T03:30:00+01:00",
        f"diff {DOMAIN}/middle {TAGS[2]} 3",
    ],
)
def test_an_older_version_stands_in(middle: Webarc, words: str) -> None:
    assert "version 2 was forgotten; it may have been current then, this is version 1." in out(middle, *words.split())


def test_a_version_that_is_named_is_no_stand_in(middle: Webarc, tmp_path: Path) -> None:
    for words in (f"diff {DOMAIN}/middle 1 3", f"get {DOMAIN}/middle --commit {TAGS[0]}"):
        assert middle.run(*words.split()).err == ""
    assert "version 2 was forgotten; these are the last two that are left" in out(middle, "diff", f"{DOMAIN}/middle")
    said = out(middle, "checkout", DOMAIN, str(tmp_path / "site"), "--at", TAGS[3])
    assert "Of 1 page the version of then may have been thinned out or forgotten" in said
    assert middle.run("checkout", DOMAIN, tmp_path / "newest").err == ""


def test_what_was_forgotten_before_came_anew(tmp_path: Path) -> None:
    webarc, site = history(tmp_path / "archive")
    assert webarc.run("forget", site.url("late"), "--reason", "why", "--yes").code == 0
    site.hours = 24 * 365 * 5
    site.crawl({"news": page("six")}, urls=[site.outcome("news")])
    site.crawl({"late": page("anew")}, urls=[site.outcome("late"), site.outcome("news")])
    summary, added = webarc.run("changes", "--json", DOMAIN).objects()
    assert (summary["added"], added["change"], added["new"]["number"]) == (1, "added", 4)
