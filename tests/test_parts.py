"""What documents other than pages name: Link headers, web manifests, playlists."""

from __future__ import annotations

import json
from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webarc.crawler.dash import read_dash
from webarc.crawler.hls import read_hls
from webarc.crawler.link_header import read_link_header
from webarc.crawler.manifest import read_manifest
from webarc.crawler.reading import is_readable, read

URL = "http://h.test/v/doc"
ROOT = "http://h.test/v/"


def short(urls: list[str]) -> list[str]:
    return [url.removeprefix(ROOT) for url in urls]


@pytest.mark.parametrize(
    ("value", "links", "requisites"),
    [
        ("<s.css>; rel=stylesheet", [], ["s.css"]),
        ('<s.css>;rel="preload";as=style, <m.js>; rel=modulepreload, <i.ico>; rel="shortcut ICON"', [],
         ["s.css", "m.js", "i.ico"]),
        ('<?page=2>; rel="next", <?page=0>; rel=prev,<a.xml>;type="application/rss+xml";rel=alternate',
         ["doc?page=2", "doc?page=0", "a.xml"], []),
        ('<a,b>; title="x, <no>; rel=next"; rel=next, , <c>;rel=previous', ["a,b", "c"], []),
        ("<a>; REL = next", ["a"], []),
        ("<a>; rel=next; rel=stylesheet", ["a"], []),
        ("<a>; rel=shortlink, <b>; rel=preconnect, <c>; rel='next', <d>, e; rel=next, <f", [], []),
        ('<a>; rel=next; anchor="/other"', [], []),
        ("<x.png>; rel=preload; as=image; imagesrcset=\"y.png 2x, z.png 3x\"", [], ["x.png", "y.png", "z.png"]),
        ("<caf\xc3\xa9>; rel=next", ["caf%C3%A9"], []),
        ("<javascript:x>; rel=next, <#part>; rel=next, <>; rel=stylesheet", [], []),
    ],
)  # fmt: skip
def test_link_headers(value: str, links: list[str], requisites: list[str]) -> None:
    found = read_link_header(value, URL)
    assert (short(found.links), short(found.requisites), found.unfollowed) == (links, requisites, [])


def test_link_headers_obey_nofollow_as_pages_do() -> None:
    def said(*, follow: bool, agent: str | None) -> tuple[list[str], list[str]]:
        reading = read(b"", URL, "text/html", follow=follow, agent=agent, link="<a>; rel=next, <b>; rel='x nofollow'")
        reading = read(b"", URL, "text/html", follow=follow, agent=agent, link='<a>;rel=next,<b>;rel="next nofollow"')
        return short(list(reading.links)), short(list(reading.unfollowed))

    assert said(follow=True, agent="webarc") == (["a"], ["b"])
    assert said(follow=False, agent="webarc") == ([], ["a", "b"])
    assert said(follow=True, agent=None) == (["a", "b"], [])


def test_link_headers_come_on_top_of_what_a_document_names() -> None:
    body = b"<a href=a>a</a><img src=i>"
    reading = read(body, URL, "text/html", follow=True, agent="webarc", link="<a>;rel=next,<b>;rel=next,<i>;rel=icon")
    assert (short(list(reading.links)), short(list(reading.requisites))) == (["a", "b"], ["i"])


def test_a_manifest_names_its_images() -> None:
    manifest = {
        "name": "x",
        "start_url": "no",
        "icons": [{"src": "a.png"}, {"src": 5}, {}, "no", {"src": "data:,x"}, {"src": "/b.svg", "sizes": "any"}],
        "screenshots": [{"src": "c.png"}],
        "shortcuts": [{"url": "no", "icons": [{"src": "d.png"}]}, {"icons": "no"}, 7],
    }
    assert short(read_manifest(b"\xef\xbb\xbf" + json.dumps(manifest).encode(), URL)) == [
        "a.png",
        "http://h.test/b.svg",
        "c.png",
        "d.png",
    ]


@pytest.mark.parametrize(
    "body",
    [
        b"", b"{", b'"icons"', b'{"icons": "x"}', b'{"icons": {"src": "x"}}', b'[{"icons": [{"src": "x"}]}]',
        b'{"icons":' + b"[" * 100_000, b'{"icons":' + b"1" * 100_000 + b"}", b'{"other": [{"src": "x"}]}',
        b'{"icons": [{"src": "x"}]}' + b" " * 1_100_000,
    ],
)  # fmt: skip
def test_what_is_no_manifest(body: bytes) -> None:
    assert read_manifest(body, URL) == []


HLS = """#EXTM3U
#EXT-X-DEFINE:NAME="host",VALUE="/cdn"
#EXT-X-KEY:METHOD=AES-128,URI="key.bin?x=1,2",IV=0x1
#EXT-X-MAP:URI="init.mp4",BYTERANGE="100@0"
#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",URI="audio/a.m3u8"
#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=1,URI="iframes.m3u8"
#EXT-X-KEY:METHOD=SAMPLE-AES,URI="skd://key"
# a comment
#EXTINF:9.0,a title,URI="no"
seg 1.ts\r
#EXTINF:9.0,

{$host}/seg2.ts
{$unknown}/no.ts
seg 1.ts
"""


def test_an_hls_playlist_names_its_parts() -> None:
    assert short(read_hls(HLS.encode(), URL)) == [
        "key.bin?x=1,2",
        "init.mp4",
        "audio/a.m3u8",
        "iframes.m3u8",
        "seg%201.ts",
        "http://h.test/cdn/seg2.ts",
    ]


def dash(inner: str, attributes: str = 'mediaPresentationDuration="PT10S"') -> list[str]:
    body = f'<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011" {attributes}>{inner}</MPD>'
    return short(read_dash(body.encode(), URL))


@pytest.mark.parametrize(
    ("inner", "parts"),
    [
        (
            '<Period><AdaptationSet><Representation id="1"><BaseURL>a.mp4</BaseURL><SegmentBase indexRange="0-9"/>'
            "</Representation><Representation><BaseURL> b.mp4 </BaseURL></Representation></AdaptationSet></Period>",
            ["a.mp4", "b.mp4"],
        ),
        (
            '<BaseURL>x/</BaseURL><BaseURL>copy/</BaseURL><Period><BaseURL>y/</BaseURL><AdaptationSet><SegmentTemplate '
            'initialization="$RepresentationID$-i.mp4" media="$RepresentationID$-$Number%05d$$$.m4s" duration="4" '
            'startNumber="7"/><Representation id="v" bandwidth="9"/></AdaptationSet></Period>',
            ["x/y/v-i.mp4", "x/y/v-00007$.m4s", "x/y/v-00008$.m4s", "x/y/v-00009$.m4s"],
        ),
        (
            '<Period><AdaptationSet><SegmentTemplate timescale="2" media="$Bandwidth$/$Time$.m4s"><SegmentTimeline>'
            '<S t="10" d="4" r="1"/><S d="3"/><S t="30" d="1" r="-1"/><S t="32" d="5"/></SegmentTimeline>'
            '</SegmentTemplate><Representation bandwidth="8"/></AdaptationSet></Period>',
            ["8/10.m4s", "8/14.m4s", "8/18.m4s", "8/30.m4s", "8/31.m4s", "8/32.m4s"],
        ),
        (
            '<Period><AdaptationSet><SegmentTemplate media="$Number$.m4s" timescale="10"/><Representation>'
            '<SegmentTemplate duration="40" endNumber="2"/></Representation></AdaptationSet></Period>',
            ["1.m4s", "2.m4s"],
        ),
        (
            '<Period><AdaptationSet><Representation><BaseURL>d/</BaseURL><SegmentList><Initialization sourceURL="i"/>'
            '<SegmentURL media="1.m4s"/><SegmentURL media="2.m4s" index="2.sidx"/></SegmentList></Representation>'
            "</AdaptationSet></Period>",
            ["d/i", "d/1.m4s", "d/2.m4s", "d/2.sidx"],
        ),
        (
            '<Period duration="PT4S"><AdaptationSet><SegmentTemplate media="a$Number$" duration="4"/><Representation/>'
            '</AdaptationSet></Period><Period start="PT4S"><AdaptationSet><SegmentTemplate media="b$Number$" '
            'duration="4"/><Representation/></AdaptationSet></Period>',
            ["a1", "b1", "b2"],
        ),
        ('<Period xmlns:x="http://www.w3.org/1999/xlink" x:href="period.xml"/>', ["period.xml"]),
        ('<Period><AdaptationSet><SegmentTemplate media="once.mp4"/><Representation/></AdaptationSet></Period>',
         ["once.mp4"]),
        ("<Period><AdaptationSet><SegmentTemplate duration='1'/><Representation/></AdaptationSet></Period>", []),
        ("<BaseURL>http://</BaseURL><Period><AdaptationSet><Representation/></AdaptationSet></Period>", []),
    ],
)  # fmt: skip
def test_a_dash_presentation_names_its_parts(inner: str, parts: list[str]) -> None:
    assert dash(inner) == parts


def test_a_presentation_without_duration_has_what_is_known() -> None:
    template = '<SegmentTemplate initialization="i" media="$Number$" duration="4"/><Representation/>'
    assert dash(f"<Period><AdaptationSet>{template}</AdaptationSet></Period>", "") == ["i"]


@pytest.mark.parametrize(
    "body",
    [
        b"", b"<MPD>", b"<other/>", b"<MPD/>" + b" " * 5_000_000,
        b'<!DOCTYPE MPD [<!ENTITY a "x">]><MPD><BaseURL>&a;</BaseURL></MPD>',
        b'<!DOCTYPE MPD [<!ENTITY a SYSTEM "file:///etc/passwd">]><MPD><BaseURL>&a;</BaseURL></MPD>',
    ],
)  # fmt: skip
def test_what_is_no_presentation(body: bytes) -> None:
    assert read_dash(body, URL) == []


@pytest.mark.parametrize(
    "segments",
    [
        '<SegmentTemplate media="$Number$" duration="1" timescale="999999999999999"/>',
        '<SegmentTemplate media="$Time$"><SegmentTimeline><S d="0" r="999999999999999"/></SegmentTimeline>'
        "</SegmentTemplate>",
        '<SegmentTemplate media="$Number$" endNumber="999999999999999" startNumber="1"/>',
        f'<SegmentTemplate media="{"x" * 100_000}$Number$" duration="1"/>',
    ],
)
def test_no_presentation_asks_for_more_than_is_bearable(segments: str) -> None:
    began = perf_counter()
    period = f"<Period duration='P9DT1S'><AdaptationSet>{segments}{'<Representation/>' * 100}</AdaptationSet></Period>"
    assert len(dash(period)) <= 100_000
    assert perf_counter() - began < 5


def test_no_playlist_takes_long() -> None:
    began = perf_counter()
    for piece in ('#EXT-X-KEY:URI="', "{$a}", '#EXT-X-DEFINE:NAME="a",VALUE="' + "b" * 999 + '"\n{$a}\n', "x\n", ',"'):
        assert len(read_hls(b"#EXTM3U\n" + piece.encode() * 20_000, URL)) <= 100_000
        read_link_header("<a>; rel=" + piece * 5_000, URL)
    assert perf_counter() - began < 5


@given(st.binary(max_size=200), st.text(max_size=100))
def test_any_bytes_are_read(body: bytes, value: str) -> None:
    for kind in ("application/json", "audio/mpegurl", "application/dash+xml", "application/octet-stream", "text/xml"):
        assert is_readable(kind)
        read(body, URL, kind, follow=True, agent="webarc", link=value)


@pytest.mark.parametrize(
    ("kind", "body", "parts"),
    [
        ("text/plain; charset=utf-8", b"#EXTM3U\nx.ts", ["x.ts"]),
        ("application/octet-stream", b'\xef\xbb\xbf{"icons": [{"src": "i.png"}]}', ["i.png"]),
        ("application/xml", b'<MPD><Period><AdaptationSet><Representation><BaseURL>x.mp4</BaseURL></Representation>'
         b"</AdaptationSet></Period></MPD>", ["x.mp4"]),
        ("text/plain", b"x.ts", []),
        ("video/mp4", b"#EXTM3U\nx.ts", []),
    ],
)  # fmt: skip
def test_servers_without_types_are_met_halfway(kind: str, body: bytes, parts: list[str]) -> None:
    assert short(list(read(body, URL, kind, follow=True, agent=None).requisites)) == parts
