"""Pages and their parts that are named in unusual ways, or in old encodings: a crawl finds them all."""

from __future__ import annotations

import shutil

from tests.crawls import Webarc
from tests.servers import Page, Route, Site
from webarc.archive.document import parse
from webarc.archive.layout import arc_of

HEAD_SCRIPT = b"<head><script>/*" + b"x" * 1100 + b"*/</script>"
ANY = Page("p {}", type="text/css")
MP4 = Page(b"x", type="video/mp4")
PNG = Page(b"\x89PNG\r\n\x1a\n", type="image/png")


def title(webarc: Webarc, url: str) -> str | None:
    """The title that the archive has for a page."""
    data = webarc.git(url, "cat-file", "blob", f"main:{arc_of(url)}/data.xml")
    return parse(data).title


def crawled(webarc: Webarc, pages: dict[str, Route], *options: str) -> list[str]:
    """Crawl a site; returns what was asked for, which must be all there is and no more."""
    with Site(pages) as site:
        result = webarc.crawl("--depth", "inf", "--no-trap-detection", *options, site.url())
        asked = [target for target in site.targets() if target != "/robots.txt"]
        assert sorted(asked) == sorted(pages)
        assert result["counts"]["new"] == len(pages)
        return asked


def test_pages_in_old_encodings_have_their_titles_and_lead_where_they_do_in_a_browser(webarc: Webarc) -> None:
    late = HEAD_SCRIPT + "<meta charset=Shift_JIS><title>表①</title></head><a href='/q?x=表'>x</a>".encode("cp932")
    euc_jp = b"<title>" + b"\xad\xa1\xad\xb7\xad\xea" + b"</title><a href='/q?y=\xad\xa1'>x</a>"
    iso_2022_jp = b"<meta charset=iso-2022-jp><title>\x1b$B-!-7-j\x1b(B</title><a href=/after>x</a>"
    koi8 = "<meta charset=koi8><title>Привет</title><a href='/q?z=я'>x</a>".encode("koi8-r")
    gbk = "<title>中文</title><a href='/q?w=中'>x</a>".encode("gbk")
    misleading = "<a title='<meta charset=koi8-r>'><title>Größe</title><a href='/q?v=ö'>x</a>".encode()
    user_defined = b"<meta charset=x-user-defined><title>caf\xe9</title>"
    pages: dict[str, Route] = {
        "/": "".join(f"<a href=/{name}>x</a>" for name in ("late", "euc", "iso", "koi8", "gbk", "meta", "user")),
        "/late": Page(late, type="text/html"),
        "/euc": Page(euc_jp, type="text/html; charset=EUC-JP"),
        "/iso": Page(iso_2022_jp, type="text/html"),
        "/koi8": Page(koi8, type="text/html"),
        "/gbk": Page(gbk, type="text/html; xcharset=foo; charset=gbk"),
        "/meta": Page(misleading, type="text/html"),
        "/user": Page(user_defined, type="text/html"),
        "/after": "",
        **dict.fromkeys(("/q?x=%95%5C", "/q?y=%AD%A1", "/q?z=%D1", "/q?w=%D6%D0", "/q?v=%C3%B6"), "x"),
    }
    with Site(pages) as site:
        webarc.crawl("--no-trap-detection", site.url())
        assert sorted(site.targets()) == sorted([*pages, "/robots.txt"])
        titles = {name: title(webarc, site.url(name)) for name in ("/late", "/euc", "/iso", "/koi8", "/gbk", "/meta")}
        assert titles == {
            "/late": "表①",
            "/euc": "①Ⅲ㈱",
            "/iso": "①Ⅲ㈱",
            "/koi8": "Привет",
            "/gbk": "中文",
            "/meta": "Größe",
        }
        assert title(webarc, site.url("/user")) == "café"
        assert site.url("/euc") in webarc.run("when", site.domain, "①Ⅲ㈱").out


def test_parts_that_are_named_in_unusual_ways(webarc: Webarc) -> None:
    crawled(
        webarc,
        {
            "/": """<link rel=stylesheet href=/s.css><link rel=manifest href=/site.json>
                <meta property=og:image content=/og.png><meta name=twitter:image content=/twitter.png>
                <img src=/tiny.gif data-src=/big.png data-srcset='/b1.png 1x, /b2.png 2x'>
                <iframe srcdoc='<img src=/framed.png><p style=&quot;background:url(/framed.css.png)&quot;>'></iframe>
                <video src=/hls/main.m3u8></video><embed src=/dash/main.mpd>""",
            "/s.css": Page(r"p { background: url(/foo\28 1\29 .png) }", type="text/css"),
            "/foo(1).png": PNG,
            "/site.json": Page('{"icons": [{"src": "i.png"}], "screenshots": [{"src": "j.png"}]}', type="text/json"),
            "/hls/main.m3u8": Page("#EXTM3U\n#EXT-X-STREAM-INF:X=1\nlow/list.m3u8", type="application/x-mpegURL"),
            "/hls/low/list.m3u8": Page('#EXTM3U\n#EXT-X-MAP:URI="i.mp4"\n#EXTINF:9,\n1.ts', type="text/plain"),
            "/dash/main.mpd": Page(
                '<MPD xmlns="urn:mpeg:dash:schema:mpd:2011" mediaPresentationDuration="PT5S"><Period><AdaptationSet>'
                '<SegmentTemplate media="$Number$.m4s" duration="4"/><Representation/></AdaptationSet></Period></MPD>',
                type="application/dash+xml",
            ),
            **dict.fromkeys(("/hls/low/i.mp4", "/hls/low/1.ts", "/dash/1.m4s", "/dash/2.m4s"), MP4),
            **dict.fromkeys(
                ("/og.png", "/twitter.png", "/tiny.gif", "/big.png", "/b1.png", "/b2.png", "/framed.png"), PNG
            ),
            **dict.fromkeys(("/framed.css.png", "/i.png", "/j.png"), PNG),
        },
    )  # fmt: skip


def test_pages_that_are_linked_in_unusual_ways(webarc: Webarc) -> None:
    crawled(
        webarc,
        {
            "/": "<base href=/docs/><a href=''>x</a><link rel=alternate type=application/rss+xml href=/feed>",
            "/docs/": "<iframe srcdoc='<a href=framed>x</a>'></iframe>",
            "/docs/framed": "x",
            "/feed": "x",
        },
    )


def test_a_very_large_page_is_read_behind_drawings_and_scripts(webarc: Webarc) -> None:
    fill = "<br>" * 12_001
    crawled(
        webarc,
        {
            "/": f"{fill}<svg><title>t<a href=/a>a</a></svg><a href=/b>b</a><svg><style><p></p><a href=/script>c</a>",
            "/script": f"{fill}<script><!--<script></script><a href=/no></a></script><a href=/after>x</a>",
            **dict.fromkeys(("/a", "/b", "/after"), "x"),
        },
    )


def test_what_only_the_headers_said_is_remembered(webarc: Webarc) -> None:
    links = '</s.css>; rel=preload; as=style, <n>; rel="next", </pic.png>; rel=icon'
    page = Page(
        "<a href='/q?x=表'>x</a>".encode("cp932"),
        headers=[("Link", links), ("Link", "</feed>; rel=alternate, <no>; rel=shortlink")],
        type="text/html; charset=shift_jis",
        etag='"1"',
    )
    pages: dict[str, Route] = {
        # As servers do, only what may have changed comes with a 304.
        "/d/": lambda request: Page("", 304, type="") if "if-none-match" in request.headers else page,
        "/d/n": Page("x", etag='"2"'),
        "/q?x=%95%5C": Page("x", etag='"3"'),
        "/feed": Page("x", etag='"4"'),
        "/s.css": ANY,
        "/pic.png": PNG,
    }
    with Site(pages) as site:
        first = depths(webarc, site)
        assert first == {"/d/": 0, "/d/n": 1, "/q?x=%95%5C": 1, "/feed": 1, "/s.css": 0, "/pic.png": 0}
        assert depths(webarc, site) == first
        shutil.rmtree(webarc.archive / ".webarc" / "cache")
        assert depths(webarc, site) == first


def test_headers_of_what_is_not_read_itself_are_read_and_remembered(webarc: Webarc) -> None:
    def unchanged(page: Page) -> Route:
        return lambda request: Page("", 304, type="") if "if-none-match" in request.headers else page

    def answer(body: bytes, kind: str, name: str) -> Route:
        headers = [("Link", f"</{name}/next>; rel=next, </{name}/s.css>; rel=stylesheet")]
        return unchanged(Page(body, type=kind, headers=headers, etag='"1"'))

    pages: dict[str, Route] = {
        "/d/": "<a href=doc>x</a><img src=pic>",
        "/d/doc": answer(b"%PDF-1.4", "application/pdf; charset=utf-8", "pdf"),
        "/d/pic": answer(b"\x89PNG\r\n\x1a\n", "image/png", "png"),
        **dict.fromkeys(("/pdf/next", "/png/next"), "x"),
        **dict.fromkeys(("/pdf/s.css", "/png/s.css"), ANY),
    }
    with Site(pages) as site:
        first = depths(webarc, site)
        assert first == {
            "/d/": 0,
            "/d/doc": 1,
            "/d/pic": 0,
            "/pdf/next": 2,
            "/pdf/s.css": 1,
            "/png/next": 1,
            "/png/s.css": 0,
        }
        assert depths(webarc, site) == first
        shutil.rmtree(webarc.archive / ".webarc" / "cache")
        assert depths(webarc, site) == first
        assert depths(webarc, site) == first


def depths(webarc: Webarc, site: Site) -> dict[str, int | None]:
    """How far from the start page a crawl found every URL; None for what it only knows from before."""
    rows = webarc.report("--no-trap-detection", site.url("/d/")).values()
    return {row["url"].removeprefix(site.url("")): row["depth"] if not row.get("mark") else None for row in rows}
