"""Pages read without a tree: what is found is what the tree builder finds, and nothing makes it slow."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from webarc.crawler.elements import ITSELF, Findings
from webarc.crawler.html import read_html, read_thoroughly
from webarc.crawler.quick import read_quickly

AGENT = "webarc"


def quickly(page: str) -> list[Any] | None:
    found = Findings(AGENT)
    return shown(found) if read_quickly(page.encode(), found) else None


def thoroughly(page: str) -> list[Any]:
    found = Findings(AGENT)
    read_thoroughly(page.encode(), found)
    return shown(found)


def shown(found: Findings) -> list[Any]:
    # An anchor that leads to the page itself says nothing but under a base, where pages are not read quickly.
    links = [link for link in found.links.items() if link[0] != ITSELF]
    return [found.title, links, list(found.requisites), found.base, found.nofollow, found.frames]


PLAIN = [
    '<!DOCTYPE html><html lang="en"><head><title>T &amp; t</title></head><body class="a b"><a href="x">y</a></body>',
    '<a href="1#a"></a><a href="#b"></a><a class="c" href="2"></a><a href="3" rel="nofollow"></a><a href=\'4\'></a>',
    '<a href="3" rel="ugc NoFollow"></a><a href="3"></a><a name="here"></a><a href=""></a><a href="5 #x"></a><a href>',
    '<a href="x?a=1&amp;b=2&copy=3&reg;&lt"></a><a href="&#47;x&#x2f;y"></a><a href="a<b>c" title=">"></a>',
    '<A HREF="x" rel=nofollow>y</A><a HREF=http://h/?a=b/><a href=y/z/><img SRC=i />',
    '<meta name="robots" content="nofollow"><meta name="webarc" content="x"><meta charset="utf-8">',
    '<meta http-equiv="refresh" content="5; url=next"><link rel="next" href="n"/><link rel="stylesheet" href="s" />',
    '<img src="i" srcset="j 1x, k 2x"><input type="image" src="b"><input disabled type=text><video src="v" poster="p">',
    '<base href="/b/"><base href="/c/"><iframe src="f"><a href="no"></iframe><object data="o"></object>',
    '<script src="s"></script><script>if (a < b) "<a href=\'no\'>"</script><style>@import "i"; p{x:url(y)}</style>',
    '<!-- <a href="no"> - -- --><!----><!--[if IE]><a href="no"><![endif]--><?xml version="1.0"?><a href="x">',
    "<title></title><title>second</title>",
    '<meta property="og:image" content="o.png"><meta name="twitter:image:src" content="t.png"><meta name="og:video"/>',
    '<meta property="og:image:alt" content="no"><meta property="og:title" content="og:image"><img data-src="l">',
    '<img class="lazy" data-src="l.png" data-srcset="m.png 2x">',
    '<iframe srcdoc="<img src=&quot;i&quot;>" src="s"></iframe>',
    '<table><tr><td><a href="1"></a></td><td>x</tr></table><a href="2">',
    '<table class="t"><caption><a href="1"></a></caption>\n<tbody><tr><th><table><tr><td></table></th></tr></table>',
    '<select name="s"><option value="1">1</option></select><textarea rows="2"><a href="no"></textarea><a href>',
    '<P>a<BR>b</P><UL><LI>c</LI></UL><br/><br /><hr\n/><my-tag some-name="x"></my-tag><ol type=1></ol>',
    '<p style="color:red">a < b && c <3 </><a href="x">',
    '<a href="x">\u00e9\u4e00\U0001f600</a><a href="\u00e9">',
    '<div\nclass="x"\tid=\'y\'\r\n hidden><a\nhref="x\ry"\ntitle="y">',
    "",
    "no tags",
]
ODD = [
    *('<P HREF="x">', "<IMG src=x>", '<a href ="x">', '<a href= "x">', '<a href="x"title="y">', "<a href='x>"),
    *(
        "<div title=\"<a href='x'>\">",
        '<div title="a" <a href="x">',
        "<div <a>",
        "</div <a>",
        "</div a='<a>'>",
        "</P x>",
    ),
    *(
        "<svg></svg>",
        "<math>",
        "<template></template>",
        "<plaintext>",
        "<xmp></xmp>",
        "<noembed></noembed>",
        "<noframes>",
    ),
    *(
        "<frameset>",
        '<frame src="x">',
        '<image href="x">',
        "<select><a>",
        "<textarea>",
        "<title>x",
        "<title id=x></title>",
    ),
    *("<script>x", "<script><!-- </script>", "<script>x</SCRIPT>", "<style>x</style >", "<iframe>x", "<![CDATA[x]]>"),
    *("<!-- x --!>", "<!-->", "<!--->", "<!-- x", "<!x>", "\0", '<p style="x:url(y)">', "<p style='&lpar;'>"),
    *(
        '<body background="b">',
        "<body background=b>",
        '<img style="x:url(y)" src="z">',
        '<a style="x:url(y)" href="z">',
    ),
    *('<a href="x" style="x:url(y)">', '<meta STYLE="x:url(y)">', '<table background="x">', '<table><a href="x">'),
    *('<table><tr><a href="x">', '<table><tr><td></td><a href="x">', '<table title="<tr>"><a href="x">'),
    *(
        '<a href="&#1;">',
        "<title>&#x80;</title>",
        '<img src="&#xfdd0;">',
        '<div class="x',
        '<a href="x',
        "<a",
        "<p style=",
    ),
]


@pytest.mark.parametrize("page", PLAIN)
def test_plain_pages_are_read_quickly(page: str) -> None:
    assert quickly(page) == thoroughly(page)


@pytest.mark.parametrize("page", ODD)
def test_odd_pages_are_not(page: str) -> None:
    assert quickly(page) is None
    assert quickly(f'<p>x</p>{page}<a href="y">') is None


@pytest.mark.parametrize(
    "page",
    [
        b'\xef\xbb\xbf<a href="x">',
        b'<a href="\xff\xc3">\xe2\x82</a><a href="\xe2\x82"><title>\xc3\x28</title>',
        b'<a href="a\1b">\1</a><a href="\1">',
        b'<a href="$1">${2}<a href="\\1">',
        b"<a href='x\xa0#f'><a href=\"y\xc2\xa0#f\">",
        b'\0<a href="x\0y">',
    ],
)
def test_bytes_of_all_kinds(page: bytes) -> None:
    found = read_html(page, "http://h.test/", "text/html; charset=utf-8")
    told = Findings(AGENT)
    read_thoroughly(page.decode("utf-8-sig", "replace").encode(), told)
    tree = read_html(b"<svg></svg>" + page.removeprefix(b"\xef\xbb\xbf"), "http://h.test/", "text/html; charset=utf-8")
    assert found.links == tree.links
    assert found.title == told.title


def test_a_page_of_tags_without_end_is_left_to_others_in_time() -> None:
    for page in (
        "<a " * 300_000,
        '<a x="' * 200_000,
        "<!--" * 300_000,
        "<script>" * 200_000,
        "<p a=b" + " c=d" * 300_000,
    ):
        began = perf_counter()
        assert quickly(page) is None
        assert perf_counter() - began < 2


NAMES = st.sampled_from(
    [
        *("a", "a", "a", "a", "p", "b", "i", "div", "span", "li", "ul", "form", "button", "h1", "nobr", "font", "my-x"),
        *("table", "table", "tbody", "tr", "tr", "td", "td", "th", "caption", "col", "colgroup", "select", "option"),
        *("img", "link", "meta", "base", "area", "script", "style", "title", "iframe", "textarea", "input", "object"),
        *("video", "source", "noscript", "html", "head", "body", "br", "P", "A", "TD", "SCRIPT", "TITLE", "Div"),
        *("svg", "math", "template", "noframes", "xmp", "frameset", "frame", "image"),
    ]
)
VALUES = st.sampled_from(
    [
        *(
            "",
            "x",
            "y/z",
            "#f",
            "u#f",
            "x #f",
            "u\u00a0#f",
            "a b",
            "a\nb",
            "a\r\nb",
            " x ",
            "a,b 2x",
            "\u00e9",
            "1",
            "*",
        ),
        *(
            "robots",
            "nofollow",
            "refresh",
            "0;url=r",
            "stylesheet",
            "next",
            "image",
            "url(i)",
            "color:red",
            "@import 'x'",
        ),
        *(
            "a&amp;b",
            "a&lt=c",
            "&copy",
            "&copy;",
            "&notit;",
            "&#39;",
            "&#1;",
            "&#x80;",
            "&#x1f600;",
            "&ampx",
            "&am;",
            "&",
        ),
        *("a<b", "a>b", "<a>", "</a>", "--", "-->", "'q", "`", "=", "/", "\0", "</script>", '<a href="no">'),
    ]
)
KEYS = st.sampled_from(
    [
        *(
            "href",
            "href",
            "href",
            "src",
            "rel",
            "name",
            "content",
            "http-equiv",
            "type",
            "class",
            "id",
            "data",
            "srcset",
        ),
        *("style", "background", "xlink:href", "title", "HREF"),
    ]
)
BLANKS = st.sampled_from([" ", " ", " ", "\n", "\t", "  ", "\r\n", "", "/", "\f", "\v", "\u00a0"])
FORMS = st.sampled_from(['{}="{}"'] * 12 + ["{}='{}'", "{}={}", "{}", '{} ="{}"', '{}= "{}"', '{}="{}', "{}=", '"{}'])


@st.composite
def attributes(draw: st.DrawFn) -> str:
    return draw(BLANKS) + draw(FORMS).format(draw(KEYS), draw(VALUES))


PLAIN_ATTRIBUTES = st.builds(' {}="{}"'.format, KEYS, st.sampled_from(["x", "y", "u#f", "nofollow", "a&amp;b", "next"]))
STARTS = st.builds("<{}{}>".format, NAMES, st.lists(PLAIN_ATTRIBUTES, max_size=3).map("".join))
ODD_STARTS = st.builds(
    "<{}{}{}".format,
    NAMES,
    st.lists(attributes(), max_size=3).map("".join),
    st.sampled_from([">", ">", ">", "/>", " />", " >", "", "/ >"]),
)
ENDS = st.builds("</{}{}".format, NAMES, st.sampled_from([">"] * 9 + [" >", "/>", "", ' a="<p>">']))
TEXTS = st.sampled_from(
    ["text", " ", "\n", "\r", "&amp;", "&notit;", "<", "< ", "</", "</>", "<3", "&lt", "\u00e9", ">", '"', "'", "-->"]
)
OTHERS = st.sampled_from(
    [
        *("<!--", "-->", "<!-- c -->", "<!---->", "<!-->", "<!--->", "--!>", "<!-- <a href='no'> -->", "<!x>", "\0"),
        *("<!DOCTYPE html>", "<?xml?>", "<?a", "<![CDATA[", "]]>", "<script>", "</script>", "<title>t</title>"),
        *("<style>p{x:url(y)}</style>", "<script>'<a>'</script>", "<table><tr><td>", "</td></tr></table>", "</td><td>"),
        *("<tr>", "<td>", "</table>"),
    ]
)
PAGES = st.lists(st.one_of(STARTS, STARTS, ENDS, TEXTS, OTHERS, ODD_STARTS), max_size=14).map("".join)
PLAIN_PAGES = st.lists(st.one_of(STARTS, STARTS, ENDS, TEXTS, OTHERS), max_size=25).map("".join)


@settings(max_examples=500, deadline=None)
@given(st.one_of(PAGES, PLAIN_PAGES))
@example("<a href='1'><table>x<tr><td><a href='2'></table>")
def test_what_is_read_quickly_is_what_the_tree_says(page: str) -> None:
    found = quickly(page)
    assert found is None or found == thoroughly(page)


MANY = 50_000
HOSTILE = {
    "anchors": "<a " * MANY,
    "hrefs": '<a href="' * MANY,
    "attributes": "<a " + 'x="" ' * MANY,
    "many attributes": '<img a="" b="" c="" d="" e="" f="" g="" h="" ' * 10_000,
    "closed attributes": ("<div" + ' x=""' * 59 + "!>") * 2000,
    "comments": "<!--" * MANY,
    "dashes": "<!--" + "-" * 2_000_000,
    "scripts": "<script>" * MANY,
    "script": "<script>" + "<" * 2_000_000,
    "titles": "<title>" * MANY,
    "selects": "<select>" * MANY + "<option>" * MANY,
    "divs": "<div>" * 100_000,
    "tables": "<table>" * MANY,
    "cells": "<table><tr><td>" * MANY,
    "loose": "<table>" + "<tr>" * MANY + " " * MANY,
    "text": "x" * 2_000_000,
    "no end": "<a href='" + "x" * 2_000_000,
    "signs": "<" * 2_000_000,
    "ends": "</" * 1_000_000,
    "blanks": "<p" + " " * 2_000_000,
    "names": "<" + "p" * 2_000_000,
    "references": '<a href="' + "&#" * MANY + '">',
    "styles": "style=" * MANY,
    "values": "<p " + "style='" * MANY,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_pages_take_no_time(name: str) -> None:
    page = HOSTILE[name]
    start = perf_counter()
    quickly(page)
    quickly('<p>a</p><a href="x">' + page)
    assert perf_counter() - start < 2


def test_time_grows_with_length_only() -> None:
    page = '<div class="x"><a href="y"><b><i>z</i></b></a>' * 10_000
    start = perf_counter()
    assert len(read_html(page.encode(), "http://h.test/", "text/html").links) == 1
    assert perf_counter() - start < 2
