"""What a reader sees of a document: its text, whatever bytes a server may send."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from webarc.diff.text import LARGEST_READ, TextReader, has_text, visible_text

HTML = "text/html"
# Seconds of processor time for 5 MB; a tenth is usual, and anything worse than linear takes minutes.
PATIENCE = 10.0


def seen(page: str, kind: str = HTML) -> str:
    """The text of a UTF-8 page."""
    text = visible_text(page.encode(), kind, "utf-8")
    assert text is not None
    return text


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("<p>one<p>two", "one\ntwo"),
        ("<b>Hel</b>lo <i>world</i>", "Hello world"),
        ("  a \n\t b&nbsp;&nbsp;c  ", "a b c"),
        ("a<br>b<br/>c<BR>d", "a\nb\nc\nd"),
        ("<ul><li>x<li>y</ul>z", "x\ny\nz"),
        ("<table><tr><td>1<td>2<tr><th>3</th><th>4</th></table>", "1 2\n3 4"),
        ("<div><div><div>deep</div></div></div>", "deep"),
        ("<title> The\ntitle </title><h1>Head</h1>", "The title\nHead"),
        ("<h1>Head</h1><title>late</title>", "late\nHead"),
        ("<title>page</title>x<svg><title>icon</title><text>drawn</text></svg>", "page\nxdrawn"),
        ("<pre>a\n  b\n</pre>c\nd", "a\nb\nc d"),
        ("<textarea>a\n<b>b</b></textarea>", "a\n<b>b</b>"),
        ("<xmp><i>&amp;</i></xmp>", "<i>&amp;</i>"),
        ("<select><option>one<option>two</select>", "one\ntwo"),
        ("a &lt;b&gt; &amp;amp; &#65;&#x42; &copy &eacute;", "a <b> &amp; AB © é"),
        ("&am<b>p;</b>", "&amp;"),
        ("1 < 2 > 0, a <3", "1 < 2 > 0, a <3"),
        ("<plaintext><b>all</b>", "<b>all</b>"),
        ("<custom-tag>kept</custom-tag>", "kept"),
        ("", ""),
    ],
)
def test_markup_becomes_lines(page: str, text: str) -> None:
    assert seen(page) == text


@pytest.mark.parametrize(
    "page",
    [
        "x<script>if (a < b) hidden('</p>')</script>",
        "x<SCRIPT TYPE=text/javascript>hidden</ScRiPt\n>",
        "x<style>p::after { content: 'hidden' }</style>",
        "x<noscript><p>hidden</noscript>",
        "x<template><p>hidden<template>hidden</template>hidden</template>",
        "x<template>hidden",
        "x<iframe>hidden</iframe><noframes>hidden</noframes><noembed>hidden</noembed>",
        "x<!-- hidden -- > hidden -->",
        "x<!-- hidden --!>",
        "x<!-->",
        "x<!-- hidden",
        "x<?php hidden ?>",
        "x<! hidden >",
        "x</ hidden>",
        "<p title='hidden > hidden' alt=\"hidden\" data-x=hidden>x",
        "<p title='hidden\n>\nhidden'>x",
        "x<p title='hidden>hidden",
        "x<p hidden",
        "x<script>hidden",
        '<a href=a"b>x</a>',
    ],
)
def test_what_nobody_sees_is_left_out(page: str) -> None:
    assert seen(page) == "x"
    assert seen(f"{'<p>word</p>' * 1000}{page}") == "word\n" * 1000 + "x"


def test_xhtml_may_close_and_quote_anything() -> None:
    page = "<html><head><title/><script src='a'/></head><body><p/>a<![CDATA[<b> & c]]></body></html>"
    assert seen(page, "application/xhtml+xml") == "a<b> & c"
    assert seen("<svg><style/><text>drawn</text></svg>") == "drawn"


@pytest.mark.parametrize(
    ("data", "charset", "text"),
    [
        ("é".encode(), "", "é"),
        ("é".encode("cp1252"), "", "é"),
        ("é–".encode("cp1252"), "iso-8859-1", "é–"),
        ("\ufeffé".encode(), "iso-8859-1", "é"),
        ("é".encode("utf-16"), "windows-1252", "é"),
        ("привет".encode("koi8-r"), "koi8-r", "привет"),
        (b"<meta charset=windows-1251>" + "привет".encode("cp1251"), "", "привет"),
        (b"<?xml version='1.0' encoding='gb2312'?>" + "中文".encode("gbk"), "", "中文"),
        ("中文".encode("gb18030"), "gbk", "中文"),
        ("日本語".encode("cp932"), "shift_jis", "日本語"),
        (b"<meta charset=utf-16>abc", "", "abc"),
        (b"a\xffb", "utf-8", "a\ufffdb"),
        ("é".encode(), "no-such-charset", "é"),
        (b"abc", "rot13", "abc"),
        (b"abc", "hex", "abc"),
    ],
)
def test_bytes_become_characters(data: bytes, charset: str, text: str) -> None:
    assert visible_text(data, HTML, charset) == text


def test_other_text_is_left_as_it_is() -> None:
    assert visible_text(b"{\n  'a': '<b>'}", "application/json", "") == "{\n  'a': '<b>'}"
    assert visible_text(b"<p>a</p>", "application/atom+xml", "") == "<p>a</p>"
    assert visible_text(b"a  b\r\n", "text/plain", "utf-8") == "a  b\r\n"


def test_what_is_no_text_has_none() -> None:
    for kind in ("image/png", "application/pdf", "application/octet-stream", "video/mp4", ""):
        assert visible_text(b"abc", kind, "") is None
        assert not has_text(kind)


def test_only_the_beginning_of_a_large_document_is_read() -> None:
    data = ("é" * (LARGEST_READ // 2) + "x").encode()
    text = visible_text(b"." + data, "text/plain", "")
    assert text is not None
    assert text == "." + "é" * (LARGEST_READ // 2 - 1)


FIVE = 5_000_000
HOSTILE = {
    "nested": "<div>" * 100_000 + "x" + "</div>" * 100_000,
    "open tags": "<a " * (FIVE // 3),
    "open values": '<a b="</p>' * (FIVE // 10),
    "attributes": "<a " + "b='c' " * (FIVE // 6),
    "one blank tag": "<a" + " " * FIVE,
    "signs": "<" * FIVE,
    "odd signs": "</" * (FIVE // 2),
    "comments": "<!--" * (FIVE // 4),
    "dashes": "<!--" + "- " * (FIVE // 2),
    "scripts": "<script>" * (FIVE // 8),
    "script": "<script>" + "<" * FIVE,
    "closed scripts": "<script/>" * (FIVE // 9),
    "titles": "<title>a<" * (FIVE // 9),
    "closed titles": "<title/>\n" * (FIVE // 9),
    "templates": "<template>" * (FIVE // 10),
    "pre": "<pre>\n" * (FIVE // 6),
    "ampersands": "&" * FIVE,
    "endless number": "&#" + "9" * FIVE + ";",
    "cdata": "<![CDATA[" * (FIVE // 9),
    "blanks": " \n" * (FIVE // 2),
    "one word": "x" * FIVE,
    "one line": "<i>word</i>" * (FIVE // 11),
    "our own marks": "\x01\x1e\x07\x03" * (FIVE // 4),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_no_page_takes_long(name: str) -> None:
    for kind in (HTML, "application/xhtml+xml"):
        start = time.process_time()
        seen(HOSTILE[name], kind)
        assert time.process_time() - start < PATIENCE


FRAGMENTS = [
    *("<b>", "</b>", "<p>", "</p>", "<P>", "</div>", "<div class=x>", "<div class='a>b'>", '<div title="a<b>">'),
    *('<a href=x"y>', "<a href= 'q' >", "<a/b>", "<span =x>", "<span a=b/>", '<span a = "b" c>', "</p x='>'>"),
    *("<!-- c -->", "<!-->", "<!--->", "<!-- a --!>", "<!-- a - - > b -->", "<!DOCTYPE html>", "<?php ?>", "</ x>"),
    *("<script>'<b>hid</b>'</script>", "<SCRIPT>hid</ScRiPt >", "<style>hid</style>", "<iframe>hid</iframe>"),
    *("<textarea><b>lit</b></textarea>", "<xmp><i>lit</i>&amp;</xmp>", "<noframes>hid</noframes>", "<br/>", "<BR>"),
    *("word ", "&amp;", "&am", "p;", "&lt;b&gt;", "&#65;", "&#x42;", "&nbsp;", "&copy", "&notit;", "中文", "\n"),
    *("a < b ", "< b", '="', "'", ">", "<i ", '<u a="', "<!", " <!-", "<![CDATA[ x ]]>", "<pre>a\n b", "</pre>"),
    "<p>" + "long " * 300 + "</p>",
]


@settings(max_examples=400, deadline=None)
@given(st.lists(st.sampled_from(FRAGMENTS), max_size=14))
def test_a_browser_sees_the_same_letters(fragments: list[str]) -> None:
    page = f"<!DOCTYPE html><html><head></head><body>{''.join(fragments)}"
    tree = LexborHTMLParser(page.encode())
    tree.strip_tags(["script", "style", "iframe", "noframes"], recursive=True)
    assert tree.root is not None
    assert re.sub(r"\s", "", seen(page)) == re.sub(r"\s", "", tree.root.text())


@settings(max_examples=100, deadline=None)
@given(st.lists(st.lists(st.sampled_from(FRAGMENTS), max_size=20), max_size=5))
def test_a_reader_that_remembers_reads_the_same(pages: list[list[str]]) -> None:
    reader = TextReader()
    for fragments in pages * 2:
        page = "".join(fragments)
        assert reader.text(page.encode(), HTML, "utf-8") == seen(page)
