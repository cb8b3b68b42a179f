"""RSS and Atom: what feeds name, and that pages' feeds are followed."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.crawls import Webarc
from tests.servers import Page, Route, Site
from webarc.crawler.feeds import is_feed, read_feed
from webarc.crawler.reading import is_readable, read

URL = "http://h.test/feeds/all"
RSS = """<?xml version="1.0" encoding="ISO-8859-1"?>
<!DOCTYPE rss PUBLIC "-//Netscape Communications//DTD RSS 0.91//EN" "http://my.netscape.com/publish/formats/rss-0.91.dtd">
<rss version="2.0" xmlns:media="http://search.yahoo.com/mrss/"><channel><title>caf\xe9 &nbsp; &eacute;</title>
<link>http://h.test/</link><atom:link href="/feeds/all?page=2" rel="next"/><atom:link href="/hub" rel="hub"/>
<image><url>/logo.png</url><link>http://h.test/</link></image><itunes:image href="/cover.jpg"/>
<item><link> /caf\xe9?a=1&b=2 </link><guid isPermaLink="false">http://h.test/?p=1</guid><slash:comments>5</slash:comments>
  <comments>http://h.test/1#comments</comments><enclosure url="/1.mp3" length="9" type="audio/mpeg"/>
  <description>&lt;a href="/in-the-text"&gt;</description><media:thumbnail url="/1.png"/></item>
<item><guid>http://h.test/2</guid><pubDate>x</pubDate><media:content url="/2.mp4"/></item>
<item><guid isPermaLink="true">not a url</guid><link>javascript:alert(1)</link><url>/no</url></item>
</channel></rss>""".encode("latin-1")
RDF = """<rdf:RDF xmlns="http://purl.org/rss/1.0/"><channel rdf:about="x"><link>/</link></channel>
<item rdf:about="/no"><title>1</title><link>/1</link></item></rdf:RDF>"""
ATOM = """<feed xmlns="http://www.w3.org/2005/Atom" xml:base="/blog/">
<link rel="self" href="/feeds/all"/><link href=""/>
<logo>l.png</logo><icon>/i.ico</icon><entry xml:base="2026/"><link href="1"/><link rel="edit" href="/edit"/>
<link rel="enclosure" href="1.pdf"/><link rel="http://www.iana.org/assignments/relation/replies" href="1/re"/>
<content src="1.html" type="text/html"/></entry><entry><link rel="alternate" href="2"/>
<content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><a href="/x">x</a><img src="/x.png"/></div></content>
</entry></feed>"""


def test_rss() -> None:
    feed = read_feed(RSS, URL, "application/rss+xml")
    assert feed.links == [
        *("http://h.test/", "http://h.test/feeds/all?page=2", "http://h.test/caf%C3%A9?a=1&b=2", "http://h.test/1"),
        *("http://h.test/1.mp3", "http://h.test/2", "http://h.test/2.mp4"),
    ]
    assert feed.requisites == ["http://h.test/logo.png", "http://h.test/cover.jpg", "http://h.test/1.png"]
    assert feed.problem == ""


def test_rss_1() -> None:
    assert read_feed(RDF.encode(), URL, "").links == ["http://h.test/", "http://h.test/1"]


def test_atom() -> None:
    feed = read_feed(ATOM.encode(), URL, "")
    blog = "http://h.test/blog/"
    assert feed.links == [
        *("http://h.test/feeds/all", f"{blog}2026/1", f"{blog}2026/1.pdf", f"{blog}2026/1/re", f"{blog}2026/1.html"),
        f"{blog}2",
    ]
    assert feed.requisites == [f"{blog}l.png", "http://h.test/i.ico"]


@pytest.mark.parametrize(
    ("body", "kind", "expected"),
    [
        (RSS, "text/html", True),
        (b"<rss version='2.0'>", "text/plain", True),
        (b"\xef\xbb\xbf\n<!-- x --><?xml-stylesheet href='x'?>\n<a:feed xmlns:a='x'>", "text/xml", True),
        ("<feed/>".encode("utf-16"), "application/xml", True),
        (b"<?xml version='1.0'?><!DOCTYPE html><html>", "application/xhtml+xml", False),
        (b"<html><rss>", "application/xml", False),
        (b"<urlset>", "application/xml", False),
        (b"", "application/rss+xml", False),
    ],
)
def test_a_feed_is_known_by_its_root(body: bytes, kind: str, expected: bool) -> None:
    assert is_feed(body, kind) is expected


def test_a_feed_is_read_like_a_page() -> None:
    assert all(is_readable(kind) for kind in ("application/rss+xml; charset=x", "application/atom+xml", "text/xml"))
    assert not is_readable("image/svg+xml")
    reading = read(RDF.encode(), URL, "text/xml", follow=False, agent=None)
    assert (reading.links, reading.unfollowed) == ([], ["http://h.test/", "http://h.test/1"])
    assert (reading.title, reading.charset, reading.cut) == (None, "", False)
    assert read(b"<rss><item><link>/1</link>", URL, "text/xml", follow=True, agent=None).cut


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=200), st.sampled_from([b"", b"<rss>", b"<feed><link href='", b"<rss><link>", b"<?xml "]))
def test_any_bytes_are_read(body: bytes, head: bytes) -> None:
    feed = read_feed(head + body, URL, "")
    assert all(url.startswith("http") for url in feed.links + feed.requisites)


def test_entries_of_feeds_are_crawled(webarc: Webarc) -> None:
    pages: dict[str, Route] = {
        "/": "<link rel=alternate type=application/rss+xml href=/rss>"
        "<a href=/atom>a</a><a href=/plain>p</a><a href=/broken>b</a>",
        "/rss": Page(RSS, type="application/rss+xml", etag='"r"'),
        "/atom": Page(ATOM, type="application/atom+xml"),
        "/plain": Page(RDF, type="application/xml"),
        "/broken": Page("<rss><item><link>/before</link></item><item>", type="text/xml"),
    }
    targets = ("/caf%C3%A9?a=1&b=2", "/1.mp3", "/logo.png", "/blog/2026/1", "/blog/2", "/1", "/before")
    pages |= {target: Page(target, type="text/plain") for target in targets}
    with Site(pages) as site:
        site.pages["/rss"] = Page(RSS.replace(b"http://h.test", site.url("").encode()), type="text/xml", etag='"r"')
        rows = webarc.report("--depth", "2", site.url())
        outcomes = {target: rows[site.url(target)]["outcome"] for target in targets}
        assert outcomes == dict.fromkeys(targets, "stored")
        assert webarc.crawl("--depth", "1", site.url())["warnings"] == [
            f"{site.url('/broken')} is too large or too broken to be read to its end; links there were not followed."
        ]
        # A feed that answers 304 still leads to its entries, remembered or not.
        for cache in (webarc.archive / ".webarc" / "cache").iterdir():
            cache.unlink()
        rows = webarc.report("--depth", "2", site.url())
        assert rows[site.url("/rss")]["outcome"] == rows[site.url("/1.mp3")]["outcome"] == "unchanged"
