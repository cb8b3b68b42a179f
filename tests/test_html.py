"""What is read from HTML pages, well-formed or hostile."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webarc.archive.layout import path_of
from webarc.archive.urls import canonical
from webarc.crawler.html import Page, read_html
from webarc.crawler.tags import is_monstrous

DATA = Path(__file__).parent / "data"
URL = "http://h.test/dir/page.html"
# Enough harmless tags to have a page read tag by tag instead of as a tree.
PADDING = "<br>" * 12_001


def read(page: str | bytes, content_type: str = "text/html; charset=utf-8", agent: str = "webarc") -> Page:
    return read_html(page if isinstance(page, bytes) else page.encode(), URL, content_type, agent)


def names(page: Page, kind: str) -> list[str]:
    """The URLs of a kind, without what they all begin with."""
    return [link.url.removeprefix("http://h.test/dir/") for link in page.links if link.kind == kind]


LINKS = [
    ("<a href=one>1</a><a href='two'>2</a><A HREF=\"three\">3</A>", ["one", "two", "three"]),
    ("<a href='x?a=1&amp;b=2&copy=3'>", ["x?a=1&b=2&copy=3"]),
    ("<a href='  x\n y\t'>", ["x%20y"]),
    ("<a href=x#1><a href=x#2><a href=x>", ["x"]),
    ("<a href='x #1'><a href=' y#1 '><a href='#1'>", ["x%20", "y"]),
    ("<a href=#top><a href=''><a href><a name=x>", []),
    (
        "<a href=javascript:x()><a href=mailto:a@b><a href=data:,x><a href=tel:1><a href=ftp:><a href=' JavaScript:'>",
        [],
    ),
    ("<a href='java\nscript:x()'><a href=http://><a href=http://a%20b/>", []),
    ("<map><area href=area></map>", ["area"]),
    ("<iframe src=inner></iframe>", ["inner"]),
    ("<meta http-equiv=refresh content='5; url=next'>", ["next"]),
    ("<meta http-equiv=Refresh content=\"0;URL='next'\">", ["next"]),
    ("<meta http-equiv=refresh content='3,next'>", ["next"]),
    ("<meta http-equiv=refresh content=10><meta http-equiv=refresh content=';url=no'>", []),
    ("<form action=no><input type=text src=no2></form><button formaction=no3>", []),
    ("<link rel=next href=n><link rel='alternate' href=a><link rel=canonical href=c>", ["n", "a", "c"]),
    ("<link rel=preconnect href=//no.test><link rel=dns-prefetch href=//no.test><link href=no>", []),
    ("<noscript><a href=n></noscript><template><a href=t><template><a href=u></template></template>", ["n", "t", "u"]),
    ("<svg><a xlink:href=s>x</a></svg>", ["s"]),
    ("<!-- <a href=no> --><script>'<a href=no>'</script><textarea><a href=no></textarea>", []),
    ("<a href=x/y/../z/./w>", ["x/z/w"]),
    (
        "<link rel=alternate type=application/rss+xml href=rss>"
        "<link rel=alternate type=application/atom+xml href=atom>",
        ["rss", "atom"],
    ),
    ("<base href=b/><a href=''>x</a>", ["b/"]),
    ("<base href=b/><a href>x</a>", ["b/"]),
    ('<base href=b/><a href="#part">x</a>', ["b/"]),
    ("<a href='#part' rel=nofollow>x</a><base href=b/><map><area href=''></map>", ["b/"]),
    ("<base href=b/><a name=x>x</a><form action=''></form><iframe src=''></iframe><img src=''>", []),
    ("<base href='#x'><a href=''>x</a>", []),
    ("<a href='  '><a href=' #x'>", []),
    ("<base href=b/><a href=' \n'>x</a>", ["b/"]),
    ("<base href=b/><a href='  #x'>x</a>", ["b/"]),
    ("<base href=b/><a href='\u3000'>x</a>", ["b/%E3%80%80"]),
    ('<head><base href="b/"></head><a href="  ">x</a>', ["b/"]),
    ("<base href=b/><iframe srcdoc='<a href=x><a href=&quot;&quot;><a href=#y>'></iframe>", ["b/x", "b/"]),
    ("<iframe srcdoc='<base href=c/><a href=x><a href=&quot;&quot;>'></iframe>", ["c/x", "c/"]),
    ("<a href=//other.test/x>", ["http://other.test/x"]),
    ("<a href=/caf\u00e9?q=\u00e9>", ["http://h.test/caf%C3%A9?q=%C3%A9"]),
]
REQUISITES = [
    (
        "<link rel=stylesheet href=s.css><link rel='shortcut icon' href=i.ico><link rel=manifest href=m>",
        ["s.css", "i.ico", "m"],
    ),
    ("<link rel='alternate stylesheet' href=a.css><link rel=apple-touch-icon href=t.png>", ["a.css", "t.png"]),
    ("<link rel=modulepreload href=m.js><link rel=preload as=image imagesrcset='p.png 2x'>", ["m.js", "p.png"]),
    ("<img src=i.png srcset='j.png 1x, k.png 2x'>", ["i.png", "j.png", "k.png"]),
    ("<picture><source srcset='w.webp 1x'><img src=i.png></picture>", ["w.webp", "i.png"]),
    ("<script src=s.js></script><embed src=e><object data=o></object>", ["s.js", "e", "o"]),
    ("<video src=v poster=p><track src=t></video><audio src=a></audio>", ["v", "p", "t", "a"]),
    ("<input type=IMAGE src=b.gif>", ["b.gif"]),
    ("<body background=bg.gif>", ["bg.gif"]),
    ("<p style=\"background:url('x.png')\">", ["x.png"]),
    ("<p style=\"background:image-set('x.png' 2x)\">", ["x.png"]),
    (r"<p style='background:\75rl(x.png)'>", ["x.png"]),
    ("<style>@import 'i.css'; p{background:url(y.png)}</style>", ["i.css", "y.png"]),
    ("<svg><image href=i.svg /><use xlink:href=u.svg#part /><use href='#here' /></svg>", ["i.svg", "u.svg"]),
    ("<img src=data:image/png;base64,AA><img src=''>", []),
    (
        "<meta property=og:image content=o.png><meta name='og:video:secure_url' content=v.mp4>"
        "<meta property=' OG:Audio ' content=a.ogg><meta name=twitter:image content=t.png>"
        "<meta property=og:image:alt content=no><meta property=og:url content=no><meta name=og:image content=''>",
        ["o.png", "v.mp4", "a.ogg", "t.png"],
    ),
    (
        "<img class=lazy src=tiny.gif data-src=big.png data-srcset='b1.png 1x, b2.png 2x'>"
        "<picture><source data-srcset='w.webp 2x'></picture><img data-src='{{ image }}'><div data-src=no></div>",
        ["tiny.gif", "big.png", "b1.png", "b2.png", "w.webp"],
    ),
    (
        '<iframe srcdoc=\'<link rel=stylesheet href=s.css><style>@import "i.css"</style>'
        "<iframe srcdoc=&quot;&lt;img src=deep.png>&quot;></iframe>'></iframe>",
        ["s.css", "i.css", "deep.png"],
    ),
    ("<iframe srcdoc='<base href=c/><img src=x.png>'></iframe><img src=y.png>", ["y.png", "c/x.png"]),
    ("<noscript><img src=n.png></noscript><template><img src=t.png></template>", ["n.png", "t.png"]),
]


@pytest.mark.parametrize("padding", ["", PADDING], ids=["tree", "tags"])
@pytest.mark.parametrize(("page", "expected"), LINKS)
def test_links(page: str, expected: list[str], padding: str) -> None:
    assert names(read(page + padding), "link") == expected


@pytest.mark.parametrize("padding", ["", PADDING], ids=["tree", "tags"])
@pytest.mark.parametrize(("page", "expected"), REQUISITES)
def test_requisites(page: str, expected: list[str], padding: str) -> None:
    found = read(page + padding)
    assert sorted(names(found, "requisite")) == sorted(expected)
    assert names(found, "link") == []


def test_frames_of_a_frameset() -> None:
    assert names(read("<frameset><frame src=a><frame src=b></frameset>"), "link") == ["a", "b"]


def test_a_url_may_be_both_a_link_and_a_requisite() -> None:
    page = read("<a href=i.png><img src=i.png></a>")
    assert names(page, "link") == names(page, "requisite") == ["i.png"]


def test_nofollow_of_links() -> None:
    page = read(
        "<a rel='x NoFollow' href=a><a rel=nofollow href=b><a href=b><a href=c><a rel=nofollow href=c>"
        "<a rel=ugc href=d>"
    )
    assert [(link.url[-1], link.nofollow) for link in page.links] == [
        ("a", True),
        ("b", False),
        ("c", False),
        ("d", False),
    ]


@pytest.mark.parametrize(
    ("tag", "agent", "nofollow"),
    [
        ("<meta name=robots content=nofollow>", "webarc", True),
        ("<META NAME=Robots CONTENT='NoIndex, NoFollow'>", "webarc", True),
        ("<meta name=robots content=none>", "webarc", True),
        ("<meta name=robots content='index,follow'>", "webarc", False),
        ("<meta name=WebArc content=nofollow>", "webarc", True),
        ("<meta name=otherbot content=nofollow>", "webarc", False),
        ("<meta name=otherbot content=nofollow>", "OtherBot", True),
    ],
)
def test_meta_robots(tag: str, agent: str, nofollow: bool) -> None:
    page = read(f"{tag}<a href=x>", agent=agent)
    assert page.nofollow is nofollow
    assert names(page, "link") == ["x"]


@pytest.mark.parametrize("padding", ["", PADDING], ids=["tree", "tags"])
@pytest.mark.parametrize(
    ("page", "base"),
    [
        ("<a href=x><base href=/b/>", "http://h.test/b/"),
        ("<base href=c/d><base href=/no/>", "http://h.test/dir/c/d"),
        ("<base target=_top><base href=//o.test>", "http://o.test/"),
        ("<base href=http://>", URL),
        ("<base href=javascript:1><base href=/no/>", URL),
        ("<base href=data:,x>", URL),
        ("<base href=''>", URL),
        ("<template><base href=/no/></template>", URL),
        ("<template/><base href=/no/>", URL),
        ("<template><template></template><base href=/no/></template></template><base href=/b/>", "http://h.test/b/"),
        ("<template><svg></template><base href=/b/>", "http://h.test/b/"),
        ("<svg><desc><template><base href=/no/></template></desc></svg><base href=/b/>", "http://h.test/b/"),
        ("<template><p><div></template><base href=/b/>", "http://h.test/b/"),
        ("<title><template></title><base href=/b/>", "http://h.test/b/"),
    ],
)
def test_base(page: str, base: str, padding: str) -> None:
    found = read(f"{page}<a href=x>" + padding)
    assert found.base == base
    assert [link.url for link in found.links] == [canonical("x", base)]


def test_a_base_without_host_is_ignored() -> None:
    assert names(read((DATA / "base-without-host.html").read_bytes()), "link") == ["x"]


def test_line_ends_in_an_href_do_not_reach_the_wire() -> None:
    links = names(read((DATA / "line-ends-in-href.html").read_bytes()), "link")
    assert links == ["http://h.test/aHost:%20evil", "http://h.test/b"]


def test_escaped_dots_stay_inside() -> None:
    (link,) = read("<a href='..%2f..%2fetc%2fpasswd'>").links
    assert link.url == "http://h.test/dir/..%2F..%2Fetc%2Fpasswd"
    assert ".." not in path_of(link.url).split("/")
    (link,) = read("<a href='/%2e%2e/%2e%2e/etc/passwd'>").links
    assert link.url == "http://h.test/etc/passwd"


@pytest.mark.parametrize("padding", ["", PADDING], ids=["tree", "tags"])
@pytest.mark.parametrize(
    ("page", "title"),
    [
        ("<title> One\n  &amp; two\t</title><title>No</title>", "One & two"),
        ("<head></head><body><title>In the body</title>", "In the body"),
        ("<title></title>", None),
        ("<p>none", None),
        ("<title>" + "x" * 5000 + "</title>", "x" * 1000),
        ("<title><script>alert(1)</script></title>", "<script>alert(1)</script>"),
        ("<svg><title>Drawing</title></svg>", None),
    ],
)
def test_titles(page: str, title: str | None, padding: str) -> None:
    assert read(page + padding).title == title


def test_a_title_after_a_drawing() -> None:
    assert read("<body><svg><g><title>Drawing</title></g></svg><title>Page</title>").title == "Page"


def test_a_script_in_a_title_is_text() -> None:
    page = read((DATA / "script-in-title.html").read_bytes())
    assert page.title == "<script>alert(1)</script>"
    assert names(page, "link") == ["x"]


@pytest.mark.parametrize("padding", ["", PADDING], ids=["tree", "tags"])
def test_tags_that_are_none(padding: str) -> None:
    page = read((DATA / "page-in-comment.html").read_text() + padding)
    assert names(page, "link") == ["yes"]


def test_an_unclosed_quote_ends_the_page() -> None:
    body = (DATA / "unclosed-quote.html").read_bytes()
    assert names(read(body), "link") == names(read(PADDING.encode() + body), "link") == ["one"]


def test_a_head_ended_by_a_pixel() -> None:
    page = read((DATA / "head-ended-by-noscript.html").read_bytes())
    assert (page.title, page.base) == ("Late", "http://h.test/base/")
    assert [link.url for link in page.links] == [
        "http://h.test/base/x",
        "http://h.test/pixel.gif",
        "http://h.test/base/a.css",
    ]


def test_the_byte_order_mark_wins_over_meta() -> None:
    page = read((DATA / "meta-against-bom.html").read_bytes(), "text/html")
    assert (page.title, page.charset) == ("Grüße", "utf-8")


def test_a_page_in_utf_16() -> None:
    page = read((DATA / "utf-16.html").read_bytes(), "text/html")
    assert (page.title, page.charset) == ("Straße", "utf-16le")
    assert names(page, "link") == ["http://h.test/%C3%BC?q=%C3%BC"]


def test_queries_travel_in_the_encoding_of_the_page() -> None:
    page = read("<a href='/ü?q=ü€я#ü'>".encode("windows-1252", "xmlcharrefreplace"), "text/html; charset=iso-8859-1")
    assert names(page, "link") == ["http://h.test/%C3%BC?q=%FC%80%26%231103%3B"]


def test_xhtml_goes_the_same_way() -> None:
    page = (
        '<?xml version="1.0" encoding="iso-8859-1"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title>\u00e9</title>'
        '<script src="s.js" /><style/></head><body><a id="x" /><a href="y">y</a></body></html>'
    )
    found = read(page.encode("latin-1"), "application/xhtml+xml")
    assert (found.title, found.charset) == ("é", "windows-1252")
    assert (names(found, "link"), names(found, "requisite")) == (["y"], ["s.js"])


MONSTERS = {
    "open tags": b"<a " * 8_000,
    "anchors": b"<a href=x>" * 8_000,
    "deep": b"<div>" * 100_000,
    "deep, wrongly closed": b"<div></p>" * 50_000,
    "just below the guard": b"<ul><li>" * 5_999,
    "unclosed formatting": b"".join(b"<p><b id=%d>x" % number for number in range(20_000)),
    "formatting below the guard": b"".join(b"<p><b id=%d>x" % number for number in range(740)),
    "attributes": b"<a " + b" ".join(b"x%d" % number for number in range(100_000)) + b" href=x>",
    "attributes with brackets": b"<a " + b" ".join(b"x%d='>'" % number for number in range(100_000)) + b" href=x>",
    "attributes below the guard": b"<a " + b" ".join(b"%x" % number for number in range(20_000)) + b">",
    "nearly huge tags": (b"<a " * 998 + b">") * 12 + b"x" * 100_000,
    "options": b"<select>" + b"<option>x</option>" * 5_000,
    "html again": b"".join(b"<html x%d>" % number for number in range(11_000)),
    "comments": b"<!--" * 100_000,
    "scripts": b"<script>" * 100_000,
    "quotes": b'<a href="' * 100_000,
    "brackets": b"<" * 500_000,
    "end tags": b"</a " * 200_000,
    "styles": b"<p style='" * 100_000,
    "templates": b"<template>" * 11_000,
    "drawings": b"<svg><title>" * 5_900,
    "refresh": b"<meta http-equiv=refresh content='" + b"1 " * 100_000 + b"'>",
    "srcset": b"<img srcset='" + b"a (," * 200_000 + b"'>",
}


@pytest.mark.parametrize("name", MONSTERS)
def test_monsters_take_no_longer_than_their_size(name: str) -> None:
    began = perf_counter()
    page = read(MONSTERS[name])
    assert perf_counter() - began < 2
    assert len(page.links) <= 1


def test_links_of_a_monster_are_found() -> None:
    page = read(b"<title>Deep</title>" + b"<div><a href=x>" * 50_000 + b"<a href=last>")
    assert (page.title, names(page, "link")) == ("Deep", ["x", "last"])


def test_too_many_links_are_cut_and_said_so() -> None:
    page = read(b"".join(b"<a href=%d>" % number for number in range(260_000)))
    assert page.cut
    assert len(page.links) == 250_000
    assert not read("<a href=x>").cut


def test_an_ordinary_page_is_no_monster() -> None:
    assert not is_monstrous(b"<p><a href=x><span class=y>z</span></a></p>\n" * 1_400)
    assert is_monstrous(b"<div>" * 12_001)


@settings(max_examples=150, deadline=None)
@given(
    st.binary(max_size=400), st.sampled_from(["text/html", "application/xhtml+xml; charset=utf-16", "charset=gbk", ""])
)
def test_any_bytes_are_a_page(body: bytes, content_type: str) -> None:
    for page in (read(body, content_type), read(body + PADDING.encode(), content_type)):
        assert all(canonical(link.url) == link.url for link in page.links)


TAGS = st.sampled_from(
    [
        *(
            "<a href=",
            "<img src=",
            "<base href=",
            "<meta charset=",
            "<link rel=icon href=",
            "<title>",
            "</title>",
            "<style>",
        ),
        *(
            "<svg>",
            "<template>",
            "<!--",
            "-->",
            "<script>",
            "</script>",
            "'",
            '"',
            ">",
            " ",
            "x",
            "&#",
            "/",
            "?",
            "url(",
            "\0",
        ),
        *(
            "<table>",
            "<select>",
            "<b>",
            "</p>",
            "\u00e9",
            "srcset=",
            "style=",
            "<frameset>",
            "<plaintext>",
            "<![CDATA[",
        ),
    ]
)


@settings(max_examples=200, deadline=None)
@given(st.lists(TAGS, max_size=30).map("".join))
def test_any_soup_of_tags_is_a_page(soup: str) -> None:
    for page in (read(soup), read(PADDING + soup)):
        assert all(canonical(link.url) == link.url for link in page.links)
        assert page.title is None or (page.title.strip() and len(page.title) <= 1000)


@pytest.mark.parametrize("number", ["1" * 5000, "x" + "f" * 5000, "0" * 5000 + "65"])
@pytest.mark.parametrize("rest", ["", "<div>" * 200_000])
def test_a_number_too_long_for_any_character(number: str, rest: str) -> None:
    page = read_html(f"<title>&#{number};</title><a href='/&#{number};'>x</a>{rest}".encode(), "http://a/", "text/html")
    assert page.title == ("A" if number.endswith("65") else "\N{REPLACEMENT CHARACTER}")
    assert len(page.links) == 1


DRAWN = [
    "<svg><title>",
    "<svg><title>t</title><style>",
    "<svg><style><p>",
    "<svg><script>",
    "<svg><script/><textarea/><g>",
    "<svg/><svg a=b/></svg>",
    "<svg><foreignObject><style><img src=no></style></foreignObject>",
    "<svg><foreignObject><textarea><a href=no></textarea></foreignObject><textarea>",
    "<svg><desc><title><a href=no></title>",
    "<svg><![CDATA[ <a href=no> ]]>",
    "<svg><title><![CDATA[ <a href=b> ]]></title></svg>",
    "<svg><xmp></svg><textarea><a href=no></textarea>",
    "<svg><font><xmp></font></svg>",
    "<svg><font color=red><xmp><a href=no></xmp></svg>",
    "<math><mi><style><img src=no></style></mi><style>",
    "<math><title><style>",
    "<svg><svg></svg><title>",
    "<script><!-- <script></script> <a href=no> --></script>",
    "<script><!-- <script></script></script>",
    "<script><!-- </script>",
    "<title>x</title><svg><title>y</title></svg><title>z</title>",
    "<svg><title>y</title></svg><title>z</title>",
    "<svg><style>@import 's.css';</style><style><![CDATA[p { background: url(t.png) }]]></style></svg>",
]


@pytest.mark.parametrize("page", DRAWN)
def test_very_large_pages_are_read_as_the_tree_builder_reads_them(page: str) -> None:
    page += "<a href=a>x</a><img src=i><title>late</title>"
    large, small = read(page + PADDING), read(page)
    assert is_monstrous((page + PADDING).encode()) and not is_monstrous(page.encode())
    assert sorted(large.links) == sorted(small.links)
    assert names(large, "link")[-1:] == ["a"]
    assert large.title == small.title or page.startswith("<math>")


def test_drawings_do_not_make_reading_slow() -> None:
    for piece in ("<svg>", "<svg></svg>", "<svg><title>", "<svg><style>", "<svg><style><!--", "<svg><![CDATA["):
        began = perf_counter()
        read(piece * 50_000)
        assert perf_counter() - began < 5
