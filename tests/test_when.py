"""`webarc when`: the whole history of a phrase, and the cache that makes it quick, whatever happens to that."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from tests.crawls import Webarc
from tests.disks import small_file_system
from tests.histories import History, Page
from webarc.archive.catalog import Catalog
from webarc.archive.store import Archive
from webarc.diff.occurrences import find
from webarc.diff.phrases import Phrase
from webarc.diff.textcache import TextCache, cache_file, forget_text
from webarc.sql.index import Index

DOMAIN = "example.org"


@pytest.fixture
def site(webarc: Webarc) -> History:
    """An empty domain in the archive of the command line."""
    return History(Archive.create(webarc.archive))


def search(webarc: Webarc, phrase: str, *options: str, place: str = DOMAIN, code: int = 0) -> dict[str, Any]:
    """What `webarc when --json` finds: for each path its ranges, as the numbers of versions or what ended them."""
    ran = webarc.run("when", "--json", *options, place, phrase)
    assert ran.code == code, (ran.out, ran.err)
    return {
        found["url"].partition(f"{DOMAIN}/")[2]: [_range(each) for each in found["ranges"]] for found in ran.objects()
    }


def _range(found: dict[str, Any]) -> tuple[int, int | str]:
    if found["disappeared"]:
        return found["appeared"]["number"], found["disappeared"]["number"]
    return found["appeared"]["number"], "removed" if found["pageRemoved"] else "there"


def holders(site: History, phrase: str, *, word: bool = False) -> dict[str, list[tuple[int, bool]]]:
    """The same search without the command line: for each path, when it appeared and whether it is there."""
    index = Index.at(site.archive.index_file)
    with closing(index), Catalog(site.archive, index) as catalog:
        answer = find(catalog, DOMAIN, Phrase(phrase, word=word), pytest.fail)
    return {
        each.url.rpartition("/")[2]: [(stay.appeared.number, stay.is_open()) for stay in each.stays]
        for each in answer.occurrences
    }


def file_of(webarc: Webarc) -> Path:
    return cache_file(Archive.open(webarc.archive), DOMAIN)


# -- what is found ------------------------------------------------------------------------------------------------


def test_every_appearance_and_every_end(webarc: Webarc, site: History) -> None:
    site.crawl({"a": "old words", "b": "new phrase", "c": "nothing", "d": "a new phrase here"})
    site.crawl({"a": "a <b>New</b> phrase", "b": "other"}, ("d",))
    site.crawl({"a": "gone", "d": "new phrase again", "c": "now the new phrase"})
    site.crawl({"a": "new  \n phrase", "c": "still the new phrase"})
    assert search(webarc, "new phrase") == {
        "b": [(1, 2)],
        "d": [(1, "removed"), (2, "there")],
        "a": [(2, 3), (4, "there")],
        "c": [(2, "there")],
    }
    assert list(search(webarc, "new phrase")) == ["b", "d", "a", "c"]
    assert list(search(webarc, "new phrase", "-n", "2")) == ["b", "d"]


def test_versions_are_told_in_full(webarc: Webarc, site: History) -> None:
    first = site.crawl({"a": Page("the phrase", title="T")})
    second = site.crawl({}, ("a",))
    found = webarc.run("when", "--json", DOMAIN, "phrase").result()
    (only,) = found["ranges"]
    assert found["url"] == only["appeared"]["url"] == f"http://{DOMAIN}/a"
    assert found["stillThere"] is False
    assert set(only["appeared"]) == {
        *("number", "url", "crawlTime", "commitTag", "status", "mimeType", "size", "sha256", "title")
    }
    assert (only["appeared"]["commitTag"], only["appeared"]["crawlTime"]) == (first, "2026-01-01 01:00:00")
    assert only["disappeared"] is None
    assert only["pageRemoved"] == {"crawlTime": "2026-01-01 02:00:00", "commitTag": second}


def test_people_read_lines(webarc: Webarc, site: History) -> None:
    site.crawl({"a": "phrase", "b": "phrase"})
    site.crawl({"a": "other"}, ("b",))
    site.crawl({"a": "phrase"})
    ran = webarc.run("when", DOMAIN, "phrase")
    assert ran.out == (
        "http://example.org/a\n"
        "  appeared 2026-01-01 01:00:00 CET in version 1 (2026-01-01T01:00:00@example.org), "
        "disappeared 2026-01-01 02:00:00 CET in version 2 (2026-01-01T02:00:00@example.org)\n"
        "  appeared 2026-01-01 03:00:00 CET in version 3 (2026-01-01T03:00:00@example.org), still there\n"
        "http://example.org/b\n"
        "  appeared 2026-01-01 01:00:00 CET in version 1 (2026-01-01T01:00:00@example.org), "
        "page removed 2026-01-01 02:00:00 CET (2026-01-01T02:00:00@example.org)\n"
    )
    assert ran.err == "On 2 pages, still there on 1; searched 4 versions of 2 pages.\n"


def test_nothing_found_is_said_and_no_failure(webarc: Webarc, site: History) -> None:
    site.crawl({"a": "some words"})
    ran = webarc.run("when", DOMAIN, "no\x1b[31m words")
    assert (ran.code, ran.out) == (0, "'no\\x1b[31m words' is in none of 1 version of 1 page.\n")
    ran = webarc.run("when", "--json", DOMAIN, "no words")
    assert (ran.code, ran.out) == (0, "")
    assert "in none of 1 version" in ran.err


@pytest.mark.parametrize(
    ("page", "phrase"),
    [
        ("<b>Hello</b> world", "hello world"),
        ("<b>Hel</b>lo<br>world", "HELLO WORLD"),
        ("<td>one</td><td>two</td>", "one two"),
        ("<title>In the title</title>x", "the title"),
        ("<p>say one</p><p>two</p><p>three</p><p>one</p>", "one two three"),
        ("<p>say one</p><p>say one two</p><p>three</p>", "one two three"),
        ("Stra&szlig;e", "STRASSE"),
        ("caf\u00e9", "cafe\u0301"),
        ("cafe&#x301;", "CAF\u00c9"),
        ("Donau&shy;dampf\u200bschiff", "donaudampfschiff"),
        ("a&nbsp;&nbsp;b", " a  b "),
        ("a \u200b b", "a b"),
        ("<p>a</p><p>&shy;</p><p>b</p>", "a b"),
        ("<i>" + "x" * 1200 + " e</i>\u0301t", "\u00e9t"),
        ("<p>\u2f00\n\u2f01</p>", "\u2f00\u2f01"),
        ("\u6211\u7231\n\u5317\u4eac", "\u7231\u5317"),
        ("\u6211\u7231<b>\u5317</b>\u4eac", "\u7231 \u5317\u4eac"),
        ("\u0e20\u0e32\u0e29\u0e32\u0e44\u0e17\u0e22", "\u0e29\u0e32\u0e44"),
        ("\u041f\u0420\u0418\u0412\u0415\u0422", "\u043f\u0440\u0438\u0432\u0435\u0442"),
        ("5 &lt; 6 &amp; 7", "< 6 &"),
        ("\U0001f600\U0001f601", "\U0001f601"),
    ],
)
def test_a_phrase_is_found_as_people_read_it(site: History, page: str, phrase: str) -> None:
    site.crawl({"a": page})
    assert holders(site, phrase) == {"a": [(1, True)]}


def test_a_phrase_that_nobody_sees_is_not_found(webarc: Webarc, site: History) -> None:
    site.crawl(
        {
            "a": "<script>secret()</script><style>.secret {}</style><p title=secret>x<!-- secret --><template>secret",
            "b.css": Page("p { content: 'secret' }", "text/css", file="data.css"),
            "c.js": Page("// secret", "text/javascript", file="data.js"),
            "d.png": Page("secret", "image/png", file="data.png"),
            "e.txt": Page("a <b>secret</b>", "text/plain", file="data.txt"),
        }
    )
    assert search(webarc, "secret") == {"e.txt": [(1, "there")]}
    assert search(webarc, "secret", place=f"http://{DOMAIN}/c.js") == {"c.js": [(1, "there")]}
    assert search(webarc, "secret", place=f"http://{DOMAIN}/d.png") == {}


@pytest.mark.parametrize(
    ("page", "phrase", "found"),
    [
        ("the cat sat", "cat", True),
        ("(cat)", "cat", True),
        ("concatenate", "cat", False),
        ("concatenate a cat", "cat", True),
        ("cats", "cat", False),
        ("tom\u00e1cat", "cat", False),
        ("cat1", "cat", False),
        ("a++b", "++", True),
        ("\u6211\u7231\u5317\u4eac", "\u7231\u5317", True),
        ("black cat", "black cat", True),
        ("black cats", "black cat", False),
    ],
)
def test_whole_words(site: History, page: str, phrase: str, found: bool) -> None:
    site.crawl({"a": page})
    assert bool(holders(site, phrase, word=True)) is found
    assert holders(site, phrase)


def test_whole_words_are_an_option(webarc: Webarc, site: History) -> None:
    site.crawl({"a": "cat", "b": "cats"})
    assert search(webarc, "cat", "--word") == {"a": [(1, "there")]}


def test_one_page_alone(webarc: Webarc, site: History) -> None:
    site.crawl({"a": "phrase", "b": "phrase"})
    assert search(webarc, "phrase", place="example.org/b") == {"b": [(1, "there")]}


def test_a_page_that_is_no_text_for_a_while(webarc: Webarc, site: History) -> None:
    site.crawl({"a": "phrase"})
    site.crawl({"a": Page("phrase", "image/png", file="data.png")})
    site.crawl({"a": "phrase"})
    assert search(webarc, "phrase") == {"a": [(1, 2), (3, "there")]}


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ((DOMAIN, " \n"), "phrase is empty"),
        (("exmaple.org", "x"), "example.org"),
        (("http://example.org/zz", "x"), "http://example.org/a"),
    ],
)
def test_mistakes_are_one_sentence(webarc: Webarc, site: History, arguments: tuple[str, ...], word: str) -> None:
    site.crawl({"a": "x"})
    ran = webarc.run("when", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("webarc: ")
    assert word in ran.err
    assert len(ran.err.splitlines()) == 1


def test_a_version_that_is_lost_in_git_is_named_and_passed_over(webarc: Webarc, site: History) -> None:
    for text in ("phrase 1", "phrase 2", "phrase 3"):
        site.crawl({"a": text, "b": text})
    lose(site, "phrase 2")
    ran = webarc.run("when", "--json", DOMAIN, "phrase")
    assert ran.code == 11
    assert "version 2 of http://example.org/a was left out" in ran.err
    assert [_range(each) for each in ran.objects()[0]["ranges"]] == [(1, "there")]


def test_many_versions_and_large_pages(webarc: Webarc, site: History) -> None:
    filler = " ".join(f"word{number}" for number in range(40_000))
    site.crawl({f"p{number}": f"<p>page {number}</p>" for number in range(1100)})
    for number in range(4):
        site.crawl({"large": f"{filler} {number} the end"})
    for _ in range(2):
        assert search(webarc, "page 1099") == {"p1099": [(1, "there")]}
        assert search(webarc, "39999 2 the end") == {"large": [(3, 4)]}
    ran = webarc.run("when", DOMAIN, "page")
    assert "On 1,100 pages, still there on 1,100; searched 1,104 versions of 1,101 pages." in ran.err


# -- the cache ----------------------------------------------------------------------------------------------------


def lose(site: History, text: str) -> None:
    """Take the blob with this text out of git."""
    done = subprocess.run(
        ["git", "hash-object", "--stdin"], cwd=site.repo.folder, input=text, capture_output=True, text=True, check=True
    )
    name = done.stdout.strip()
    file = site.repo.git_dir / "objects" / name[:2] / name[2:]
    if not file.exists():
        unpack(site)
    file.unlink()


def unpack(site: History) -> None:
    """Make every object a file of its own."""
    for pack in (site.repo.git_dir / "objects" / "pack").glob("*.pack"):
        data = pack.read_bytes()
        for ending in (".pack", ".idx"):
            pack.with_suffix(ending).unlink()
        subprocess.run(["git", "unpack-objects", "-q"], cwd=site.repo.folder, input=data, check=True)


def test_only_what_is_new_is_read_from_git(webarc: Webarc, site: History) -> None:
    site.crawl({"a": "phrase one", "b": "phrase"})
    assert search(webarc, "phrase") == {"a": [(1, "there")], "b": [(1, "there")]}
    site.crawl({"a": "nothing", "c": "phrase three"})
    lose(site, "phrase one")
    lose(site, "phrase")
    assert search(webarc, "phrase") == {"a": [(1, 2)], "b": [(1, "there")], "c": [(1, "there")]}


def test_the_same_bytes_of_another_charset_are_another_text(webarc: Webarc, site: History) -> None:
    site.crawl({"a": Page("\u00e9t\u00e9", "text/plain", file="data.txt")})
    assert search(webarc, "\u00e9t\u00e9") == {"a": [(1, "there")]}
    site.crawl({"a": Page("\u00e9t\u00e9", "text/html", file="data.html")})
    assert search(webarc, "\u00e9t\u00e9") == {"a": [(1, "there")]}


def damages(good: bytes) -> Iterator[bytes | None]:
    """The file gone, empty, cut, replaced, and with a bit turned in many places."""
    yield from (None, b"", good[:100], good[: len(good) // 2], b"no database " * 999, b"\0" * len(good))
    for place in range(0, len(good), max(len(good) // 80, 1)):
        yield good[:place] + bytes([good[place] ^ 0x40]) + good[place + 1 :]


def test_a_damaged_cache_is_begun_anew(site: History) -> None:
    filler = " ".join(f"word{number * 7919 % 10007}" for number in range(400))
    for version in range(3):
        site.crawl({f"p{number}": f"version {version} {filler} of {number}" for number in range(12)})
    expected = {f"p{number}": [(2, False)] for number in range(12)}
    assert holders(site, "version 1") == expected
    file = cache_file(site.archive, DOMAIN)
    good = file.read_bytes()
    for damage in damages(good):
        file.unlink()
        if damage is not None:
            file.write_bytes(damage)
        assert holders(site, "version 1") == expected
        assert holders(site, "version 1") == expected


def test_a_cache_of_another_version_is_begun_anew(site: History) -> None:
    site.crawl({"a": "phrase"})
    assert holders(site, "phrase") == {"a": [(1, True)]}
    with closing(sqlite3.connect(cache_file(site.archive, DOMAIN))) as database:
        database.execute("DELETE FROM part")
        database.execute("ALTER TABLE part DROP COLUMN revision")
        database.execute("UPDATE schema_version SET version = version + 1")
        database.commit()
    assert holders(site, "phrase") == {"a": [(1, True)]}
    with TextCache(cache_file(site.archive, DOMAIN)) as cache:
        assert len(cache.parts("a")) == 1


def test_many_at_once_and_some_of_them_killed(webarc: Webarc, site: History) -> None:
    for version in range(3):
        site.crawl({f"p{number}": f"version {version} of page {number}" for number in range(400)})
    webarc.run("log", DOMAIN)
    for _ in range(2):
        started = [webarc.start("when", "--json", DOMAIN, "version 1 of") for _ in range(7)]
        for number, process in enumerate(started[:4]):
            time.sleep(0.25)
            os.kill(process.pid, signal.SIGKILL)
            started[number].communicate()
        answers = {process.communicate()[0] for process in started[4:]}
        assert {process.returncode for process in started[4:]} == {0}
        assert [len(answer.splitlines()) for answer in answers] == [400]
    with closing(sqlite3.connect(file_of(webarc))) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert database.execute("SELECT COUNT(*), COUNT(DISTINCT arc) FROM part").fetchone() == (400, 400)


def test_where_nothing_can_be_written(tmp_path: Path) -> None:
    with small_file_system(tmp_path / "disk", 30) as disk:
        webarc = Webarc(disk / "archive")
        site = History(Archive.create(webarc.archive))
        site.crawl({"a": "phrase", "b": "other"})
        webarc.run("log", DOMAIN)
        for cached in (False, True):
            if cached:
                assert search(webarc, "phrase") == {"a": [(1, "there")]}
                lose(site, "phrase")
            subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
            assert search(webarc, "phrase") == {"a": [(1, "there")]}
            assert file_of(webarc).exists() is cached
            subprocess.run(["mount", "-o", "remount,rw", str(disk)], check=True)


def test_a_full_disk_only_costs_time(site: History, tmp_path: Path) -> None:
    site.crawl({f"p{number}": f"phrase {number}" for number in range(50)})
    expected = {f"p{number}": [(1, True)] for number in range(50)}
    with small_file_system(tmp_path / "disk", 2) as disk:
        (site.archive.internal / "cache").symlink_to(disk)
        for room in (0, 4_096, 20_000, 60_000):
            with (disk / "ballast").open("wb", buffering=0) as ballast, suppress(OSError):
                while True:
                    ballast.write(bytes(4096))
            os.truncate(disk / "ballast", (disk / "ballast").stat().st_size - room)
            assert holders(site, "phrase") == expected
        (disk / "ballast").unlink()
        assert holders(site, "phrase") == expected
        with closing(sqlite3.connect(cache_file(site.archive, DOMAIN))) as database:
            assert database.execute("SELECT COUNT(*) FROM part").fetchone() == (50,)


def test_what_is_forgotten_leaves_no_trace(site: History) -> None:
    site.crawl({f"p{number}": f"phrase {number}" for number in range(50)} | {"a": "secret one"})
    site.crawl({"a": "secret two"})
    assert holders(site, "secret") == {"a": [(1, True)]}
    file = cache_file(site.archive, DOMAIN)
    with TextCache(file) as cache:
        ((part, _),) = cache.parts("a")
        ((kept, _),) = cache.parts("p7")
    assert part.packed in contents(file)
    blob = subprocess.run(
        ["git", "rev-parse", "main~1:a/data.html"], cwd=site.repo.folder, capture_output=True, text=True, check=True
    )
    forget_text(site.archive, DOMAIN, [blob.stdout.strip()])
    for start in range(len(part.packed) - 16):
        assert part.packed[start : start + 16] not in contents(file)
    assert kept.packed in contents(file)
    with TextCache(file) as cache:
        assert cache.parts("a") == []
    assert holders(site, "secret") == {"a": [(1, True)]}


def test_a_damaged_cache_is_forgotten_whole(site: History) -> None:
    forget_text(site.archive, DOMAIN, ["0" * 40])
    site.crawl({"a": "secret"})
    assert holders(site, "secret")
    file = cache_file(site.archive, DOMAIN)
    file.write_bytes(b"secret" + file.read_bytes()[6:])
    forget_text(site.archive, DOMAIN, ["0" * 40])
    assert contents(file) == b""


def contents(file: Path) -> bytes:
    """Everything in the file and those that belong to it."""
    return b"".join(each.read_bytes() for each in file.parent.glob(f"{file.name}*") if each.is_file())
