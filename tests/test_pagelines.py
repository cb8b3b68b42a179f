"""Versions of a page read in pieces have the lines that they have when each is read as a whole."""

from __future__ import annotations

import random
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webarc.diff.packing import Texts
from webarc.diff.pagelines import PageLines
from webarc.diff.phrases import letters, settled
from webarc.diff.text import LARGEST_READ, TextReader

HTML = "text/html"
DATA = Path(__file__).parent / "data"
FRAGMENTS = [
    *("<b>", "</b>", "<p>", "</p>\n", "<P>\n", "<div>\n", "</div>\n", "<div class='a>\nb'>\n", '<i title="a>\n<b>">\n'),
    *(
        "<br>\n",
        "<td>",
        "</td>\n",
        "<span>\n",
        "</span>\n",
        "<custom-tag>\n",
        "<li>one</li>\n",
        "<li>two</li>\n",
        ">\n",
    ),
    *("<script>a>\n'<b>hid</b>'>\n</script>", "<script>\n", "</script>\n", "<SCRIPT>x>\ny</ScRiPt >\n", "<script/>\n"),
    *("<style>a>\nb</style>\n", "<style>", "</style>", "<iframe>\n", "</iframe>\n", "<noscript>", "</noscript>\n"),
    *("<!-- a>\nb -->\n", "<!--", "-->\n", "<!-->\n", "<!--->\n", "<!DOCTYPE html>\n", "<?php a>\n ?>\n", "</ x>\n"),
    *("<![CDATA[ x>\n y ]]>\n", "<![CDATA[", "]]>\n", "<plaintext>\n", "<xmp>\n<i>&amp;", "</xmp>\n", "<listing>\n"),
    *(
        "<textarea>\n",
        "</textarea>\n",
        "<textarea>a>\n<b>lit</b>\n</textarea>\n",
        "<pre>\n",
        "</pre>\n",
        "<pre>a\n b>\n",
    ),
    *(
        "<title>\n",
        "</title>\n",
        "<title>One</title>",
        "<title>Two>\nlines</title>\n",
        "<title/>\n",
        "<title> </title>\n",
    ),
    *("<p><title>Late</title>\n", "text <title>In it</title>\n", "<svg><title>icon</title></svg>\n"),
    *(
        "<template>\n",
        "</template>\n",
        "<p>a<template>hid</template>b\n",
        "<frameset>\n",
        "<noframes>a>\n</noframes>\n",
    ),
    *(
        "word ",
        "WORD",
        "two words\n",
        "&amp;",
        "&am",
        "p;",
        "&lt;",
        "&lt>\n",
        "&#65;",
        "&#x4",
        "2;",
        "&nbsp;",
        "&notit;",
    ),
    *("\n", "\r\n", "\r", "\t", " ", "\f", "\v", "\x1c", "\x85", "\xa0", "\0", "\ufeff", "\u2028", "\ufffd"),
    *("\x01", "\x02", "\x03", "\x04", "\x05", "\x06", "\x07", "\x1e", "\x07>\n", "\u00ad", "\u200b\n", "&shy;\n"),
    *("\u4e2d", "\u6587\n", "\u4e2d</b>\n", "\u2e80", "\u2e80\n", "e", "\u0301", "\u0327", "\u1100", "\u1161"),
    *("\u00df", "\u0130", "\u03a3", "\ufb01", "\u212b", "\U0001f600", "</p><p>\u0301\n", "&#x301;", "&#0;", "&#xd800;"),
    *(
        "a < b\n",
        "< b",
        '="',
        "'",
        ">",
        "<i ",
        '<u a="',
        "<!",
        " <!-",
        "</",
        "<p a=b>\n",
        "<a href= 'q' >\n",
        "<span =x>\n",
    ),
    "<p>" + "long " * 300 + "</p>\n",
    "<p>" + "<i>odd</i >\n" * 100,
]
CHARSETS = [
    "utf-8",
    "",
    "windows-1252",
    "iso-8859-2",
    "koi8-r",
    "shift_jis",
    "utf-16",
    "gb2312",
    "iso-2022-jp",
    "utf-7",
]
MARKS = [
    b"",
    b"",
    b"\xef\xbb\xbf",
    b"\xef\xbb\xbf\xef\xbb\xbf",
    b"\xff\xfe",
    b'<meta charset="windows-1251">\n',
    b"\xe3",
]


class Reader:
    """Reads versions of a page in both ways."""

    def __init__(self) -> None:
        self.texts = Texts()
        self._lines = PageLines(TextReader(letters).markup, self.texts)

    def in_pieces(self, data: bytes, charset: str = "utf-8") -> bytes | None:
        """The numbers of the lines of a version."""
        return self._lines.numbers(data, charset)

    def as_a_whole(self, data: bytes, charset: str = "utf-8") -> bytes:
        """The same, read without a memory."""
        text = TextReader(letters).text(data, HTML, charset) or ""
        return self.texts.numbers(filter(None, settled(text).split("\n")))

    def check(self, data: bytes, charset: str = "utf-8") -> bool:
        """Whether a version could be read in pieces, and then has the same lines."""
        numbers = self.in_pieces(data, charset)
        assert numbers in (None, self.as_a_whole(data, charset))
        return numbers is not None


fragments = st.lists(st.sampled_from(FRAGMENTS), max_size=25)


def edited(pieces: list[str], place: int, other: list[str]) -> list[str]:
    """Another version of a page."""
    place %= len(pieces) + 1
    return pieces[:place] + other + pieces[place + len(other) // 2 :]


@settings(max_examples=600, deadline=None)
@given(
    fragments,
    st.lists(st.tuples(st.integers(0, 30), st.lists(st.sampled_from(FRAGMENTS), max_size=3)), max_size=4),
    st.sampled_from(MARKS),
    st.sampled_from(CHARSETS),
    st.sampled_from(("\n", "\r\n")),
)
def test_every_version_has_the_same_lines(
    page: list[str], edits: list[tuple[int, list[str]]], mark: bytes, charset: str, end: str
) -> None:
    reader = Reader()
    for place, other in [(0, list[str]()), *edits, (0, [])]:
        page = edited(page, place, other)
        text = "".join(page).replace("\n", end)
        reader.check(mark + text.encode(), charset)
        # Without its last letter a page ends within something.
        reader.check(mark + text.encode()[:-1], charset)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.binary(max_size=60), max_size=4), st.sampled_from(CHARSETS))
def test_bytes_that_are_no_text(pages: list[bytes], charset: str) -> None:
    reader = Reader()
    for data in pages:
        reader.check(data.replace(b"\x01", b">\n").replace(b"\x02", b"<p>"), charset)


def documents() -> list[bytes]:
    """Pages that somebody wrote: those of the tests, and of this machine's packages."""
    places = (*DATA.rglob("*.html"), *sorted(Path("/usr/share/doc").rglob("*.html"))[:150])
    return [data for place in places if place.is_file() and len(data := place.read_bytes()) < 200_000]


def test_pages_that_were_written_by_somebody() -> None:
    chance = random.Random(7)
    for data in documents():
        reader = Reader()
        for _ in range(4):
            reader.check(data)
            start, length = chance.randrange(len(data) + 1), chance.randrange(40)
            other = chance.choice(FRAGMENTS).encode()
            data = data[:start] + chance.choice((b"", other, data[start:], data[:500])) + data[start + length :]
            data = data[:200_000]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_usual_pages_are_read_in_pieces(end: str) -> None:
    reader = Reader()
    for day in range(3):
        page = (
            f"<!DOCTYPE html>\n<html>\n<head>\n<title>Day {day}</title>\n<script>if (1 > 0)\n a('<b>\n')</script>\n"
            f"</head>\n<body>\n<p>one <b>two</b>\n<i>three</i>\nfour {day}</p>\n<!-- a>\nb -->\n<p>five</p>\n</body>\n"
        ).replace("\n", end)
        assert reader.check(page.encode())
        assert reader.in_pieces(page.encode(), "koi8-r") is not None


@pytest.mark.parametrize(
    "pages",
    [
        (b"<p>a</p>\n<p>b", b"<p>a</p>\n<p>b>\n<p>c", b"<p>a</p>\n<p>b"),
        (b"<p>a</p>\n<p>b</b>\n", b"<p>a</p>\n<p>b</b", b"<p>a</p>\n<p>b</b>\n<p", b"<p", b"", b"<p>\n"),
        (b"a <title>One</title>\n<p><title>Two</title>\n", b"<p><title>Two</title>\na <title>One</title>\n"),
        (b"<p>a\n<b>\nb</b>\n<p>c</p>\n", b"a<b>\n<i>\nb</i>\n</p>\n<i>\nc"),
    ],
)
def test_pieces_that_are_easily_mistaken(pages: tuple[bytes, ...]) -> None:
    reader = Reader()
    assert all(reader.check(page) for page in pages)


LARGE = 1_000_000
HOSTILE: dict[str, Callable[[int], str]] = {
    "scripts": lambda size: "<script>\n>" * (size // 10),
    "short scripts": lambda size: "a<script>\n>\n</script>\n" * (size // 22),
    "closed scripts": lambda size: "<script/>\n" * (size // 10),
    "closed titles": lambda size: "<title/>\n" * (size // 9),
    "pre": lambda size: "<pre>\n" * (size // 6),
    "one pre": lambda size: "<pre>" + "<b>\n" * (size // 4),
    "blanks": lambda size: "<b>\n" * (size // 4) + "a",
    "blanks between words": lambda size: ("a" + "<b>\n" * 500) * (size // 2_001),
    "words": lambda size: "a<b>\n" * (size // 5),
    "comments": lambda size: "<!--\n>\n-->\n" * (size // 11),
    "open comments": lambda size: "<!-- >\n" * (size // 7),
    "open values": lambda size: "<a b='>\n" * (size // 8),
    "values": lambda size: "<a b='>\n'>\n" * (size // 11),
    "textareas": lambda size: "<textarea>\n" * (size // 11),
    "titles": lambda size: "<title>\n</title>\n" * (size // 17),
    "templates": lambda size: "<p>\n" * (size // 8) + "<template>\n" * (size // 22),
    "all different": lambda size: "".join(f"<p>{number}</p>\n" for number in range(size // 14)),
    "all different and hidden": lambda size: "".join(f"<!--{number}-->\n" for number in range(size // 14)),
    "one line": lambda size: "<i x='>'>word</i >" * (size // 18),
    "odd line": lambda size: "<p>\n<script>" + "<" * 3_000 + "</script>" + "<I x='>'>word</i >" * (size // 18),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_time_grows_with_the_length_only(name: str) -> None:
    def seconds(size: int) -> float:
        reader, data = Reader(), HOSTILE[name](size).encode()
        start = time.process_time()
        for version in (data, b"a" + data):
            reader.in_pieces(version)
        return time.process_time() - start

    assert Reader().check(HOSTILE[name](50_000).encode()) is (name not in ("templates", "odd line"))
    # Ten times as much would take a hundred times as long, if it were quadratic.
    assert seconds(LARGE) < 30 * max(seconds(LARGE // 10), 0.02)


def test_memory_does_not_grow_with_the_versions() -> None:
    reader = Reader()
    tracemalloc.start()
    for version in range(60):
        reader.in_pieces("".join(f"<!-- {version} {number:01000} -->\n" for number in range(2_000)).encode())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # They have 120 MB together.
    assert peak < 70_000_000


def test_more_than_is_read_of_a_page_is_not_read_in_pieces() -> None:
    assert Reader().in_pieces(b"<p>\n" * (LARGEST_READ // 4 + 1)) is None
