"""`webarc diff`: what people read, what programs read, what patch applies, and that no page makes it hang."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.crawls import Ran, Webarc, environment
from tests.histories import History, Page
from tests.servers import Page as Answer
from tests.servers import Site
from webarc.archive.store import Archive
from webarc.diff.hunks import SAME, excerpt, hunks
from webarc.diff.similarity import similarity
from webarc.diff.unified import LineDiff
from webarc.diff.words import WordDiff
from webarc.errors import Damaged

DOMAIN = "example.org"
TEXT = st.lists(st.sampled_from(["a ", "b ", "c\n", "line", "\n", ", ", "\u4e2d", "  \n "]), max_size=30).map("".join)
ESCAPE = "\x1b[2J"


def html(body: str) -> Page:
    return Page(f"<!DOCTYPE html><html><head><title>Shop</title></head><body>{body}</body></html>")


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Webarc:
    """A page of four versions, an image of two, files of one, and one that only changed its type."""
    webarc = Webarc(tmp_path_factory.mktemp("shop") / "archive")
    site = History(Archive.create(webarc.archive))
    site.crawl(
        {
            "": html("<h1>Shop</h1>\n<p>A book costs 5 EUR.</p>\n<p>Free shipping.</p>\n"),
            "image": Page("PNG" * 4000, "image/png", file="data.png"),
            "once": html("once"),
            "list.txt": Page("one\ntwo\n\tthree\n", "text/plain", file="data.txt"),
            "typed": Page("{}", "text/plain", file="data.txt"),
        }
    )
    site.crawl({"": html("<h1>Shop</h1>\n<p>A book costs 6 EUR.</p>\n<p>Free shipping.</p>\n")})
    site.crawl(
        {
            "": html(f"<h1>Shop</h1>\n<p>A book costs 6 EUR.</p>\n<p>{ESCAPE}Paid shipping.</p>\n"),
            "image": Page("PNG" * 4000 + "tail" * 500, "image/png", file="data.png"),
            "list.txt": Page("one\nTWO\n\tthree\nfour", "text/plain", file="data.txt"),
            "typed": Page("{}", "application/json", file="data.json"),
        }
    )
    site.crawl({"": html(f"<h1 class=x>Shop</h1>\n<p>A book costs 6 EUR.</p>\n<p>{ESCAPE}Paid shipping.</p>\n")})
    return webarc


def diff(webarc: Webarc, *arguments: str, code: int = 0) -> Ran:
    ran = webarc.run("diff", *arguments)
    assert ran.code == code, (ran.code, ran.out, ran.err)
    return ran


def test_words_of_the_visible_text_are_marked(shop: Webarc) -> None:
    out = diff(shop, f"{DOMAIN}/", "1", "3").out
    assert out.splitlines() == [
        "--- http://example.org/\tversion 1, 2026-01-01 01:00:00 CET",
        "+++ http://example.org/\tversion 3, 2026-01-01 03:00:00 CET",
        "@@ line 1 @@",
        "Shop",
        "Shop",
        "A book costs [-5-]{+6+} EUR.",
        r"[-Free-]{+\x1b[2JPaid+} shipping.",
    ]


def test_the_context_can_be_chosen(shop: Webarc) -> None:
    out = diff(shop, "-U", "0", f"{DOMAIN}/", "1", "2").out
    assert out.splitlines()[2:] == ["@@ line 3 @@", "A book costs [-5-]{+6+} EUR."]


@pytest.mark.parametrize(
    ("chosen", "old", "new"),
    [
        ([], 3, 4),
        (["1"], 1, 4),
        (["2", "1"], 2, 1),
        (["-4", "-3"], 1, 2),
        (["2026-01-01T01:00:00@example.org", "2026-01-01 02:30"], 1, 2),
        (["20260101000000", "now"], 1, 4),
    ],
)
def test_which_versions_are_compared(shop: Webarc, chosen: list[str], old: int, new: int) -> None:
    found = diff(shop, "--json", "--stat", f"https://{DOMAIN}#top", *chosen).result()
    assert (found["old"]["number"], found["new"]["number"]) == (old, new)
    assert "hunks" not in found


def test_as_json(shop: Webarc) -> None:
    found = diff(shop, "--json", "-U", "0", f"{DOMAIN}/", "1", "2").result()
    assert found["kind"] == "words"
    assert found["different"] is True
    assert (found["added"], found["removed"]) == (1, 1)
    assert found["similarity"] == pytest.approx(1 - 1 / 11, abs=1e-6)
    pieces = [["=", "A book costs "], ["-", "5"], ["+", "6"], ["=", " EUR."]]
    assert found["hunks"] == [{"line": 3, "lines": [pieces]}]
    assert found["old"]["commitTag"] == "2026-01-01T01:00:00@example.org"


def test_the_source_is_a_patch_that_git_applies(shop: Webarc, tmp_path: Path) -> None:
    patch = diff(shop, "--source", f"{DOMAIN}/list.txt").out
    assert "\n\\ No newline at end of file\n" in patch
    (tmp_path / "list.txt").write_text("one\ntwo\n\tthree\n")
    named = re.sub(r"^(---|\+\+\+) .*$", r"\1 list.txt", patch, flags=re.MULTILINE)
    subprocess.run(["git", "apply", "-p0", "-"], cwd=tmp_path, input=named.encode(), check=True)
    assert (tmp_path / "list.txt").read_text() == "one\nTWO\n\tthree\nfour"


def test_the_source_cannot_play_with_the_terminal(shop: Webarc) -> None:
    out = diff(shop, "--source", f"{DOMAIN}/", "2", "3").out
    assert "\x1b" not in out
    assert r"+<p>\x1b[2JPaid shipping.</p>" in out


def test_where_only_the_markup_changed_the_source_is_pointed_to(shop: Webarc) -> None:
    ran = diff(shop, "--exit-code", f"{DOMAIN}/", code=1)
    assert ran.out == ""
    assert "--source" in ran.err
    assert "-<!DOCTYPE html>" in diff(shop, "--source", f"{DOMAIN}/").out


def test_other_files_have_sizes_types_and_a_similarity(shop: Webarc) -> None:
    last = diff(shop, f"{DOMAIN}/image").out.splitlines()[-1]
    assert "12,000 -> 14,000 bytes" in last
    assert "image/png" in last
    found = diff(shop, "--json", f"{DOMAIN}/image").result()
    assert found["kind"] == "bytes"
    assert 0.8 < found["similarity"] < 0.95


def test_a_change_of_type_alone(shop: Webarc) -> None:
    out = diff(shop, f"{DOMAIN}/typed").out
    assert "Only the type differs" in out
    assert "text/plain; charset=utf-8 -> application/json; charset=utf-8" in out


def test_the_figures_alone(shop: Webarc) -> None:
    (line,) = diff(shop, "--stat", f"{DOMAIN}/", "1", "2").out.splitlines()
    assert line == "version 1 -> 2: +1 -1 words, 0.909 of them kept, 136 -> 136 bytes"
    assert "+2 -1 lines" in diff(shop, "--stat", "--source", f"{DOMAIN}/list.txt").out


def test_one_version_is_one_sentence(shop: Webarc) -> None:
    ran = diff(shop, "--exit-code", f"{DOMAIN}/once")
    assert ran.out == ""
    assert ran.err.splitlines() == ["http://example.org/once has only one version; there is nothing to compare yet."]


def test_a_version_and_itself(shop: Webarc) -> None:
    ran = diff(shop, "--exit-code", f"{DOMAIN}/", "-1")
    assert ran.out == ""
    assert "both are version 4" in ran.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((f"{DOMAIN}/", "9"), "has no version 9"),
        ((f"{DOMAIN}/", "soon"), "'soon' is not a time"),
        ((f"{DOMAIN}/", "1", "2", "3"), "two can be compared, not 3"),
        ((f"{DOMAIN}/", "--words"), "--words"),
        ((f"{DOMAIN}/onc",), f"http://{DOMAIN}/once"),
        (("nowhere.test",), "nowhere.test"),
    ],
)
def test_mistakes_are_one_sentence(shop: Webarc, arguments: tuple[str, ...], said: str) -> None:
    ran = diff(shop, *arguments, code=2)
    (line,) = ran.err.splitlines()
    assert line.startswith("webarc: ")
    assert said in line


def on_a_terminal(webarc: Webarc, *arguments: str, **more: str) -> str:
    """What a command prints when its output is a terminal."""
    leader, follower = pty.openpty()
    command = [sys.executable, "-m", "webarc", "--archive", str(webarc.archive), *arguments]
    with subprocess.Popen(command, stdout=follower, env=environment(**more), stdin=subprocess.DEVNULL) as process:
        os.close(follower)
        seen = b""
        while True:
            try:
                seen += os.read(leader, 65536)
            except OSError:
                break
    os.close(leader)
    assert process.returncode == 0
    return seen.decode().replace("\r\n", "\n")


def test_colours_on_a_terminal_only(shop: Webarc) -> None:
    arguments = ("diff", f"{DOMAIN}/", "1", "3")
    seen = on_a_terminal(shop, *arguments)
    assert "costs \x1b[31m5\x1b[0m\x1b[32m6\x1b[0m EUR." in seen
    assert ESCAPE not in seen
    assert "[-" not in seen
    assert "\x1b" not in on_a_terminal(shop, *arguments, NO_COLOR="1")
    assert "\x1b[31m" in diff(shop, "--color", "always", *arguments[1:]).out


def test_a_damaged_version_is_named(shop: Webarc, tmp_path: Path) -> None:
    copy = Webarc(tmp_path / "archive")
    subprocess.run(["cp", "-r", shop.archive, copy.archive], check=True)
    folder = copy.archive / DOMAIN / ".git" / "objects" / "pack"
    for pack in folder.glob("*.pack"):
        data = bytearray(pack.read_bytes())
        for place in range(40, len(data) - 20, 7):
            data[place] ^= 0xFF
        pack.chmod(0o644)
        pack.write_bytes(bytes(data))
    ran = copy.run("diff", f"{DOMAIN}/", "1", "2")
    assert ran.code == Damaged.exit_code, ran.err
    assert ran.out == ""
    assert "Traceback" not in ran.err


def test_versions_that_a_crawl_brought(webarc: Webarc) -> None:
    with Site({"/": "<p>Hello world</p>"}) as site:
        webarc.crawl(site.url("/"))
        site.pages["/"] = Answer("<p>Hello <b>new</b> world</p>".encode("utf-16"), type="text/html; charset=utf-16")
        webarc.crawl(site.url("/"))
        assert "Hello {+new+} world" in diff(webarc, site.url("/")).out


MANY_LINES = "".join(f"line {number} of many\n" for number in range(2000))


def long(text: str) -> str:
    """A text in the middle of so many lines that these are compared first."""
    return f"{MANY_LINES}{text}\n{MANY_LINES}end"


@settings(deadline=None, max_examples=30)
@given(TEXT, TEXT)
def test_long_texts_are_compared_as_well_as_short_ones(old: str, new: str) -> None:
    short, within = WordDiff(old, new), WordDiff(long(old), long(new))
    assert within.different == short.different
    assert within.added - within.removed == short.added - short.removed
    assert within.kept >= 16_000
    check_pieces(long(old), long(new))
    check_hunks(long(old), long(new), 2)
    assert similarity(long(old), long(new)) == similarity(long(new), long(old)) == within.similarity


@given(TEXT, TEXT)
def test_both_texts_can_be_read_off_the_pieces(old: str, new: str) -> None:
    check_pieces(old, new)


def check_pieces(old: str, new: str) -> None:
    pieces = list(WordDiff(old, new).pieces())
    kept = "".join(text for mark, text in pieces if mark != "-")
    before = "".join(text for mark, text in pieces if mark != "+")
    assert "".join(kept.split()) == "".join(new.split())
    assert "".join(before.split()) == "".join(old.split())


@given(TEXT, TEXT, st.integers(0, 3))
def test_every_change_is_in_a_hunk_at_the_right_line(old: str, new: str, context: int) -> None:
    check_hunks(old, new, context)


def check_hunks(old: str, new: str, context: int) -> None:
    pieces = list(WordDiff(old, new).pieces())
    found = hunks(pieces, context)
    shown = [piece for hunk in found for line in hunk.lines for piece in line if piece.mark != SAME]
    changed = [(mark, part) for mark, text in pieces if mark != SAME for part in text.split("\n") if part]
    assert [tuple(piece) for piece in shown] == changed
    lines = new.split("\n")
    for hunk in found:
        first = "".join(text for mark, text in hunk.lines[0] if mark != "-")
        assert "".join(first.split()) in "".join(lines[hunk.line - 1].split())
        places = [place for place, line in enumerate(hunk.lines) if any(mark != SAME for mark, _ in line)]
        assert places[0] <= context + 1
        assert len(hunk.lines) - 1 - places[-1] <= context


@given(TEXT, TEXT, st.integers(0, 200))
def test_an_excerpt_is_no_longer_than_asked_for(old: str, new: str, characters: int) -> None:
    found = excerpt(WordDiff(old, new).pieces(), characters)
    assert sum(len(text) for line in found for _, text in line) <= characters + 10


@given(TEXT, TEXT, st.integers(0, 3))
def test_hunks_of_lines_lead_from_one_source_to_the_other(old: str, new: str, context: int) -> None:
    compared = LineDiff(old, new)
    rest = compared.old.copy()
    for hunk in reversed(list(compared.hunks(context))):
        before = [line for mark, line in hunk.lines if mark != "+"]
        after = [line for mark, line in hunk.lines if mark != "-"]
        start = hunk.old_start - 1
        assert (len(before), len(after)) == (hunk.old_count, hunk.new_count)
        assert rest[start : start + hunk.old_count] == before
        assert compared.new[hunk.new_start - 1 : hunk.new_start - 1 + hunk.new_count] == after
        rest[start : start + hunk.old_count] = after
    assert "".join(rest) == new


def test_changes_read_as_people_made_them() -> None:
    def shown(old: str, new: str) -> list[str]:
        marks = {"=": "{}", "-": "[-{}-]", "+": "{{+{}+}}"}
        lines = (line for hunk in hunks(WordDiff(old, new).pieces(), 0) for line in hunk.lines)
        return ["".join(marks[mark].format(text) for mark, text in line) for line in lines]

    lines = [f"line {number}" for number in range(5)]
    assert shown("\n".join(lines), "\n".join(lines[:2] + lines[3:])) == ["[-line 2-]"]
    assert shown("\n".join(lines[:2] + lines[3:]), "\n".join(lines)) == ["{+line 2+}"]
    # A word that two rewritten passages share by chance does not tear them apart; one between small changes stays.
    assert shown("The old rules of the house", "Some entirely different text of nothing") == [
        "[-The old rules of the house-]{+Some entirely different text of nothing+}"
    ]
    assert shown("The quick brown fox.", "A quick red fox.") == ["[-The-]{+A+} quick [-brown-]{+red+} fox."]
    long = "same " * 100
    (line,) = shown(f"{long}old {long}", f"{long}new {long}")
    assert "[-old-]{+new+}" in line
    assert len(line) < 500
