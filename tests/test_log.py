"""`webarc log`: what happened to a page, and the crawls of a domain."""

from __future__ import annotations

import random
import sqlite3
from pathlib import Path

import pytest

from tests.crawls import Webarc
from tests.histories import History, Page
from tests.servers import Site
from webarc.archive.store import Archive
from webarc.archive.tombstones import Tombstone, render

DAY = "2026-01-01"


def page(*words: str) -> Page:
    return Page(f"<title>T</title><script>hidden {len(words)}</script><p>{' '.join(words)}</p>", title="T\x1b[2J")


@pytest.fixture(scope="module")
def webarc(tmp_path_factory: pytest.TempPathFactory) -> Webarc:
    """One page with every kind of entry, an image, and tombstones of another page."""
    webarc = Webarc(tmp_path_factory.mktemp("log") / "archive")
    site = History(Archive.create(webarc.archive))
    ok = site.outcome
    image = Page("\x00png", "image/png", file="data.png")
    site.crawl({"a": page("one", "two", "two"), "i": image}, urls=[ok("a"), ok("i")])
    site.crawl({"a": page("two", "three", "four"), "i": Page("\x00png2", "image/png", file="data.png")}, urls=None)
    site.crawl({}, ("a",), urls=[ok("a", 404), ok("i")])
    site.crawl({"a": page("two", "three", "four", "five")}, urls=[ok("a"), ok("i")])
    site.crawl({}, ("a",), urls=[ok("a", 301, target=site.url("b")), ok("i")])
    site.crawl({"g": "guest"}, kind="guest")
    tag = f"{DAY}T09:00:00@example.org"
    hashes, tags = ("0" * 64,) * 3, (tag,) * 3
    stone = Tombstone(site.url("f"), "f", (1, 2, 5), f"{DAY} 09:00:00", "a wish\x1b[2J", "me", hashes, tags)
    files: dict[str, bytes | None] = {}
    for name, data in render([stone], "example.org", tag):
        files[f".webarc/forgotten/{name}"] = data
    site.hours += 1
    site.commit(files, tag, "forget")
    return webarc


def test_the_entries_of_a_page_newest_first(webarc: Webarc) -> None:
    rows = webarc.run("log", "example.org/a", "--json").objects()
    assert [(row.get("event", row.get("number")), row["crawlTime"][11:13]) for row in rows] == [
        ("moved", "05"),
        (3, "04"),
        ("gone", "03"),
        (2, "02"),
        (1, "01"),
    ]
    assert (rows[0]["target"], rows[0]["status"], rows[2]["status"]) == ("http://example.org/b", 301, 404)
    assert rows[2]["commitTag"] == f"{DAY}T03:00:00@example.org"
    changes = [(row["bytesChange"], row["wordsAdded"], row["wordsRemoved"]) for row in rows if "number" in row]
    # `hidden N` is no visible text, so it counts in bytes only.
    assert changes == [(5, 1, 0), (3, 2, 2), (None, None, None)]


def test_a_page_for_people(webarc: Webarc) -> None:
    ran = webarc.run("log", "example.org/a")
    assert ran.code == 0 and ran.err == "" and "\x1b" not in ran.out
    lines = [line.split() for line in ran.out.splitlines()]
    assert lines[0] == ["number", "time", "status", "size", "change", "words", "commitTag", "title"]
    assert lines[1] == [
        "-",
        DAY,
        "05:00:00",
        "CET",
        "301",
        "moved",
        f"{DAY}T05:00:00@example.org",
        "to",
        "http://example.org/b",
    ]
    assert lines[2][0] == "3" and lines[2][4:] == (
        ["200", "67", "B", "+5", "B", "+1", "-0", f"{DAY}T04:00:00@example.org", "T\\x1b[2J"]
    )
    assert lines[3] == ["-", DAY, "03:00:00", "CET", "404", "gone", f"{DAY}T03:00:00@example.org"]
    assert lines[5][4:8] == ["200", "59", "B", "new"]


def test_files_without_text_have_bytes_only(webarc: Webarc) -> None:
    newest, _ = webarc.run("log", "example.org/i", "--json").objects()
    assert (newest["bytesChange"], newest["wordsAdded"]) == (1, None)


def test_a_span_and_a_number_of_entries(webarc: Webarc) -> None:
    def hours(*options: str) -> list[str]:
        return [row["crawlTime"][11:13] for row in webarc.run("log", "example.org/a", "--json", *options).objects()]

    assert hours("-n", "2") == ["05", "04"]
    assert hours("--since", f"{DAY} 02:00", "--until", f"{DAY} 03:00") == ["03", "02"]
    # 00:00 UTC is 01:00 CET; a time without seconds includes its whole last minute.
    assert hours("--until", "202601010000") == ["01"]
    late = webarc.run("log", "example.org/a", "--since", "2027-01-01")
    assert (late.code, late.out) == (0, "") and f"newest entry is of {DAY} 05:00:00" in late.err


def test_a_forgotten_page_has_its_tombstone(webarc: Webarc) -> None:
    ran = webarc.run("log", "example.org/f")
    assert "forgotten" in ran.out and "versions 1-2 5, by me: a wish\\x1b[2J" in ran.out
    (stone,) = webarc.run("log", "example.org/f", "--json").objects()
    assert (stone["event"], stone["numbers"], stone["reason"]) == ("forgotten", [1, 2, 5], "a wish\x1b[2J")
    got = webarc.run("get", "example.org/f")
    assert got.code == 2 and f"forgotten {DAY} 09:00:00 CET: a wish" in got.err


def test_the_crawls_of_a_domain(webarc: Webarc) -> None:
    rows = webarc.run("log", "example.org", "--json").objects()
    assert [(row.get("event", "crawl"), row["commitTag"][11:13]) for row in rows] == [
        ("forgotten", "09"),
        ("guest", "06"),
        *[("crawl", f"0{hour}") for hour in (5, 4, 3, 2, 1)],
    ]
    assert (
        rows[1]["versions"] == 1 and rows[2]["counts"] == {"fetched": 5, "unchanged": 1} and rows[2]["complete"] is True
    )
    people = webarc.run("log", "EXAMPLE.org", "-n", "3").out
    assert len(people.splitlines()) == 4 and "as a guest of another domain" in people and "forgotten: http" in people
    hours = webarc.run("log", "example.org", "--json", "--since", f"{DAY} 02:00", "--until", f"{DAY} 03:00").objects()
    assert [row["commitTag"][11:13] for row in hours] == ["03", "02"]
    never = webarc.run("log", "example.org", "--until", "2025")
    assert (never.code, never.out) == (0, "") and "has no crawl in that time" in never.err


def test_mistakes_are_one_sentence(webarc: Webarc) -> None:
    mistakes = {
        ("log", "example.org/a", "--since", "soon"): "'soon' is not a time",
        ("log", "exampel.org"): "did you mean example.org?",
        ("log", "example.org/aa"): "the nearest it has: http://example.org/a",
        ("log", "example.org/a", "-n", "0"): "-n",
    }
    for arguments, said in mistakes.items():
        ran = webarc.run(*arguments)
        assert (ran.code, ran.out) == (2, "") and said in ran.err and ran.err.count("\n") == 1, ran.err


def test_a_damaged_version_costs_its_own_figures_only(tmp_path: Path) -> None:
    site = History(Archive.create(tmp_path / "archive"))
    for words in (["a"], ["a", "b"], ["a", "b", "c"]):
        site.crawl({"p": page(*words)})
    webarc = Webarc(site.archive.root)
    assert webarc.run("log", "example.org/p").code == 0
    with sqlite3.connect(site.archive.index_file) as index:
        index.execute("UPDATE version SET data_blob = NULL WHERE number = 1")
    ran = webarc.run("log", "example.org/p", "--json")
    assert ran.code == 0 and "version 1 of http://example.org/p cannot be read" in ran.err
    assert [row["wordsAdded"] for row in ran.objects()] == [1, None, None]


def test_words_of_very_much_are_not_counted(tmp_path: Path) -> None:
    site = History(Archive.create(tmp_path / "archive"))
    for number in range(12):
        site.crawl({"p": Page(f"<p>{number}</p>" + "<b>x</b>" * 125_000), "huge": Page(f"{number}" + "x " * 1_100_000)})
    webarc = Webarc(site.archive.root)
    ran = webarc.run("log", "example.org/p", "--json")
    counted = [row["wordsAdded"] is not None for row in ran.objects()]
    assert counted == [True] * 6 + [False] * 6 and "newest versions only" in ran.err
    assert {row["wordsAdded"] for row in webarc.run("log", "example.org/huge", "--json").objects()} == {None}
    assert webarc.run("log", "example.org/p", "--json", "-n", "2").err == ""


def test_a_real_crawl_has_its_figures(tmp_path: Path) -> None:
    webarc = Webarc(tmp_path / "archive")
    with Site({"/": "<title>Home</title><a href=/p>x</a>", "/p": "<p>one two</p>"}) as site:
        webarc.crawl(site.url())
        site.pages["/p"] = "<p>one three four</p>"
        webarc.crawl(site.url())
        site.pages["/p"] = (404, {}, "gone")
        webarc.crawl(site.url())
        url = site.url()
    removed, second, first = webarc.run("log", f"{url}p", "--json").objects()
    assert removed["event"] == "gone" and removed["status"] == 404
    assert (second["wordsAdded"], second["wordsRemoved"], first["bytesChange"]) == (2, 1, None)
    crawls = webarc.run("log", url.removeprefix("http://").rstrip("/"), "--json").objects()
    assert [(crawl["counts"]["changed"], crawl["counts"]["gone"]) for crawl in crawls] == [(0, 1), (1, 0), (0, 0)]


def test_words_are_counted_as_diff_and_changes_count_them(tmp_path: Path) -> None:
    site = History(Archive.create(tmp_path / "archive"))
    many = [f"w{number}" for number in range(6_000)]
    texts = ["one two, three.", "three two; one!", " ".join(many), " ".join(many[3_000:] + many[:3_000])]
    for text in texts:
        site.crawl({"p": page(text)})
    webarc = Webarc(site.archive.root)
    newest, _, second, _ = webarc.run("log", "example.org/p", "--json").objects()
    stat = webarc.run("diff", "--stat", "example.org/p", "1", "2").out
    assert f"+{second['wordsAdded']} -{second['wordsRemoved']} words" in stat and second["wordsAdded"] == 4
    _, change = webarc.run("changes", "example.org", "--json").objects()
    assert (change["wordsAdded"], change["wordsRemoved"]) == (3_000, 3_000)
    assert (newest["wordsAdded"], newest["wordsRemoved"]) == (3_000, 3_000)
    assert change["score"] == pytest.approx(0.5, abs=0.001)


def test_words_of_pages_that_are_hard_to_compare_are_not_all_counted(tmp_path: Path) -> None:
    site = History(Archive.create(tmp_path / "archive"))
    chance = random.Random(1)
    for _ in range(6):
        site.crawl({"p": Page(f"<p>{' '.join(chance.choices(['yes', 'no'], k=100_000))}</p>")})
    ran = Webarc(site.archive.root).run("log", "example.org/p", "--json")
    counted = [row["wordsAdded"] is not None for row in ran.objects()]
    assert counted[0] and not counted[-2] and "newest versions only" in ran.err
