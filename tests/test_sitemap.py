"""Sitemaps in all their forms."""

from __future__ import annotations

import gzip
from pathlib import Path
from time import perf_counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webarc.crawler.sitemap import read_sitemap

DATA = Path(__file__).parent / "data"
URL = "http://h.test/sitemap.xml"
NAMESPACE = "http://www.sitemaps.org/schemas/sitemap/0.9"
SMALL = f"""<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="{NAMESPACE}" xmlns:image="http://www.google.com/schemas/sitemap-image/1.1">
<url><loc> http://h.test/a?x=1&amp;y=2 </loc><lastmod>2026-01-01</lastmod>
  <image:image><image:loc>http://h.test/no.png</image:loc></image:image></url>
<url><loc><![CDATA[http://h.test/b]]></loc></url>
<url><loc>/c#part</loc></url><url><loc>ftp://h.test/no</loc></url><url><loc>http://h.test/b</loc></url><url/>
</urlset>"""
PAGES = ["http://h.test/a?x=1&y=2", "http://h.test/b", "http://h.test/c"]


@pytest.mark.parametrize(
    "body",
    [
        SMALL.encode(),
        gzip.compress(SMALL.encode()),
        SMALL.replace("UTF-8", "UTF-16").encode("utf-16"),
        SMALL.replace(f' xmlns="{NAMESPACE}"', "").encode(),
        b"\xef\xbb\xbf\r\n\t " + SMALL.encode(),
        SMALL.replace("UTF-8", "UTF-16").encode("utf-16-be"),
        gzip.compress(SMALL[:300].encode()) + gzip.compress(b"") + gzip.compress(SMALL[300:].encode()) + b"\0padding",
        SMALL.replace("&amp;", "&").replace("/b", "/\x0bb").encode(),
        SMALL.replace("<urlset", "<!DOCTYPE urlset SYSTEM 'http://h.test/x.dtd'><!-- <html> --><urlset").encode(),
        SMALL.replace("<url", "<s:url").replace("</url", "</s:url").replace("loc>", "s:loc>").encode(),
    ],
    ids=[
        "plain",
        "gzip",
        "utf-16",
        "no namespace",
        "blanks",
        "utf-16 unmarked",
        "members",
        "broken",
        "doctype",
        "prefix",
    ],
)
def test_a_list_of_pages(body: bytes) -> None:
    found = read_sitemap(body, URL)
    assert (found.pages, found.sitemaps, found.problem) == (PAGES, [], "")


def test_an_index_of_sitemaps() -> None:
    body = f"<sitemapindex xmlns='{NAMESPACE}'><sitemap><loc>http://h.test/1.xml.gz</loc></sitemap></sitemapindex>"
    found = read_sitemap(body.encode(), URL)
    assert (found.pages, found.sitemaps) == ([], ["http://h.test/1.xml.gz"])


@pytest.mark.parametrize("body", [b"http://h.test/a\r\nhttps://h.test/b\n\njunk\nhttp://h.test/a\n"])
def test_plain_text(body: bytes) -> None:
    assert read_sitemap(b"\xef\xbb\xbf" + body, URL).pages == ["http://h.test/a", "https://h.test/b"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_document_type_is_refused(encoding: str) -> None:
    body = (DATA / "sitemap-doctype.xml").read_text().encode(encoding)
    found = read_sitemap(body, URL)
    assert found.pages == []
    assert "document type" in found.problem


def test_what_comes_before_an_error_counts() -> None:
    found = read_sitemap((DATA / "sitemap-not-closed.xml").read_bytes(), URL)
    assert found.pages == ["http://h.test/1", "http://h.test/2"]
    assert "well-formed" in found.problem


def test_a_cut_gzip_file() -> None:
    found = read_sitemap((DATA / "sitemap-cut-short.xml.gz").read_bytes(), URL)
    assert 0 < len(found.pages) < 200
    assert found.problem


def test_a_gzip_bomb_is_cut() -> None:
    body = gzip.compress(b"<urlset>" + b" " * (200 * 1024 * 1024), 1)
    began = perf_counter()
    found = read_sitemap(body, URL)
    assert perf_counter() - began < 5
    assert (found.pages, bool(found.problem)) == ([], True)


def test_broken_gzip_is_named() -> None:
    assert "gzip" in read_sitemap(b"\x1f\x8bnonsense", URL).problem


def test_no_more_pages_than_the_protocol_allows() -> None:
    pages = [f"http://h.test/{number}" for number in range(50_100)]
    entries = "".join(f"<url><loc>{page}</loc></url>" for page in pages)
    items = "".join(f"<item><link>{page}</link></item>" for page in pages)
    for body in (f"<urlset>{entries}</urlset>", "\n".join(pages), f"<rss>{items}</rss>"):
        found = read_sitemap(body.encode(), URL)
        assert found.pages == pages[:50_000]
        assert "more than 50,000 URLs" in found.problem


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (gzip.compress(b"") * 100_000, "too many parts"),
        (b"<urlset>" + b"<a>" * 2_000_000, "too many elements"),
        (b"<urlset>" + b"<a/>" * 2_100_000, "too many elements"),
        (b"<urlset>&<![CDATA[" * 1_000_000, "well-formed"),
        (b"<!--" * 1_000_000, "well-formed"),
        (b"<!DOCTYPE x [ " * 1_000_000, "document type"),
        (b"<urlset><url><loc>" + b"x" * 10_000_000 + b"</loc></url></urlset>", ""),
    ],
    ids=["members", "deep", "wide", "cdata", "comments", "doctypes", "long"],
)
def test_a_hostile_file_costs_little(body: bytes, problem: str) -> None:
    began = perf_counter()
    found = read_sitemap(body, URL)
    assert perf_counter() - began < 10
    assert (found.pages, problem in found.problem) == ([], True)


def test_entities_of_other_encodings_are_not_obeyed(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("stolen")
    doctype = f'<!DOCTYPE urlset [<!ENTITY e SYSTEM "{tmp_path.as_uri()}/secret">]>'
    declared = f"{doctype}<urlset><url><loc>/&e;</loc></url></urlset>"
    for encoding in ("utf-7", "cp037", "utf-16", "utf-8"):
        body = f'<?xml version="1.0" encoding="{encoding}"?>{declared}'.encode(encoding)
        assert read_sitemap(body, URL).pages == []


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=200), st.sampled_from([b"", b"<", b"<urlset><url><loc>", b"\x1f\x8b\x08", b"http://"]))
def test_any_bytes_are_read(body: bytes, head: bytes) -> None:
    assert read_sitemap(head + body, URL).sitemaps == []
