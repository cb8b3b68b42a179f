"""Crawls with --sitemaps: every form is read, and one that cannot be had or read is told of."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest

from tests.crawls import Webarc
from tests.servers import Page, Route, Site

ATOM = """
<feed xmlns="http://www.w3.org/2005/Atom" xml:base="/atom/"><link rel="alternate" href="1"/>
<link rel="hub" href="/hub"/><entry><link href="2"/><id>tag:x</id></entry></feed>"""
RSS = (
    '<rss version="2.0"><channel><link>/rss/</link><item><link><![CDATA[/rss/1?a=1&b=2]]></link></item></channel></rss>'
)


def listing(*places: str) -> str:
    """A sitemap in its plain form."""
    entries = "".join(f"<url><loc>{place}</loc></url>" for place in places)
    return f'<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</urlset>'


def page(target: str) -> Page:
    return Page(f"<title>{target}</title>")


def text(body: str | bytes) -> Page:
    return Page(body, type="text/plain")


def crawl(webarc: Webarc, site: Site, *options: str, code: int = 0) -> tuple[dict[str, Any], dict[str, Any]]:
    """The result of a crawl as the report has it, and its URLs by target."""
    rows = webarc.report("--sitemaps", *options, site.url(), code=code)
    (result,) = json.loads((webarc.archive.parent / "report.json").read_text())["crawls"]
    return result, {url.removeprefix(site.url()[:-1]): row for url, row in rows.items()}


def test_every_form_of_sitemap_is_read(webarc: Webarc) -> None:
    named = ("map.txt", "blank.xml", "two.xml.gz", "atom.xml", "rss.xml", "index.xml", "bare.xml")
    pages: dict[str, Route] = {
        "/": page("/"),
        "/robots.txt": text("User-agent: *\nDisallow: /forbidden\n" + "".join(f"Sitemap: {name}\n" for name in named)),
        "/blank.xml": Page("\ufeff\n \n" + listing("/blank/1"), type="application/xml"),
        "/two.xml.gz": gzip.compress(b"<urlset><url><loc>/gz/1</loc>") + gzip.compress(b"</url></urlset>") + b"\0" * 9,
        "/atom.xml": Page(ATOM, type="application/atom+xml"),
        "/rss.xml": Page(RSS, type="application/rss+xml"),
        "/index.xml": "<sitemapindex><sitemap><loc>inner.xml</loc></sitemap></sitemapindex>",
        "/inner.xml": listing("inner/1"),
        "/bare.xml": listing("/bare?a=1&b=2"),
    }
    expected = {
        "/blank/1",
        "/gz/1",
        "/atom/1",
        "/atom/2",
        "/rss/",
        "/rss/1?a=1&b=2",
        "/inner/1",
        "/text/1",
        "/bare?a=1&b=2",
    }
    pages |= {target: page(target) for target in expected}
    with Site(pages) as site:
        site.pages["/map.txt"] = text(f"\ufeff{site.url('/text/1')}\r\nnonsense\r\n")
        result, rows = crawl(webarc, site)
        assert result["warnings"] == []
        stored = {target for target, row in rows.items() if row["outcome"] == "stored"}
        assert stored == {"/", "/robots.txt", *expected}
        assert {rows[f"/{name}"]["reason"] for name in named} == {"sitemap"}
        assert rows["/sitemap.xml"]["reason"] == "sitemap-http-404"
        assert "/hub" not in rows


def test_each_failure_is_said_and_reported(webarc: Webarc) -> None:
    cut = gzip.compress(listing(*[f"/{number}" for number in range(2000)]).encode())[:-500]
    doctype = '<!DOCTYPE urlset [<!ENTITY e "/stolen">]><urlset><url><loc>&e;</loc></url></urlset>'
    broken: dict[str, tuple[Route, str]] = {
        "/gone.xml": (Page("no", 404), "could not be had: http-404."),
        "/page.xml": ("<!DOCTYPE html><title>sorry</title>", "it is a web page."),
        "/cut.xml.gz": (cut, "it is cut short."),
        "/doctype.xml": (doctype, "it has a document type with declarations"),
        "/words.txt": (text("nothing to see here"), "it names no URL."),
        "/open.xml": ("<urlset><url><loc>/before</loc></url><url>", "it is not well-formed XML"),
        "/other.xml": ("<catalog><url/></catalog>", "its root element is 'catalog'"),
    }
    lines = ["User-agent: *", "Disallow: /secret", "Sitemap: /secret.xml", "Sitemap: ftp://h/s.xml"]
    with Site({"/": page("/"), "/before": page("/before")}) as site:
        site.pages |= {target: route for target, (route, _) in broken.items()}
        site.pages["/robots.txt"] = text("\n".join([*lines, *(f"Sitemap: {target}" for target in broken)]))
        result, rows = crawl(webarc, site)
        for target, (_, problem) in broken.items():
            (warning,) = [said for said in result["warnings"] if site.url(target) in said]
            assert "robots.txt names" in warning and problem in warning
        assert any("/secret.xml" in said and "forbidden by robots.txt" in said for said in result["warnings"])
        assert any("'ftp://h/s.xml'" in said for said in result["warnings"])
        assert len(result["warnings"]) == len(broken) + 2
        assert rows["/gone.xml"]["reason"] == "sitemap-http-404"
        assert rows["/page.xml"]["reason"] == rows["/cut.xml.gz"]["reason"] == "sitemap-unreadable"
        assert rows["/before"]["outcome"] == "stored"
        assert result["complete"]
        ran = webarc.run("crawl", "--sitemaps", site.url())
        assert f"the sitemap {site.url('/gone.xml')}" in ran.out + ran.err


@pytest.mark.parametrize(
    ("usual", "says"),
    [(Page("no", 403), "http-403"), ("<p>Sorry</p>", "it is a web page")],
)
def test_no_sitemap_at_all_is_said(webarc: Webarc, usual: Route, says: str) -> None:
    with Site({"/": page("/"), "/sitemap.xml": usual}) as site:
        result, _ = crawl(webarc, site, "--no-robots")
        (warning,) = result["warnings"]
        assert warning.startswith(f"no sitemap was found on {site.domain}: robots.txt names none") and says in warning


def test_a_sitemap_that_fails_for_now_removes_nothing(webarc: Webarc) -> None:
    options = ("--no-robots", "--prune", "unreached", "--tries", "1")
    with Site({"/": page("/"), "/only": page("/only")}) as site:
        # Without rules to obey, robots.txt is asked for all the same: it names sitemaps.
        site.pages["/robots.txt"] = text("User-agent: *\nDisallow: /\nSitemap: /map.xml")
        site.pages["/map.xml"] = listing("/only")
        assert crawl(webarc, site, *options)[0]["counts"]["new"] == 3
        site.pages["/map.xml"] = Page("busy", 503)
        result, _ = crawl(webarc, site, *options)
        assert not result["complete"] and "could not be had: http-503." in result["warnings"][0]
        site.pages["/map.xml"] = "<urlset><url><loc>/on"
        result, rows = crawl(webarc, site, *options)
        assert result["complete"] and result["warnings"] and rows["/only"]["outcome"] == "unchanged"
        assert "only" in webarc.stored(site.url())
        site.pages["/map.xml"] = listing()
        crawl(webarc, site, *options)
        assert "only" not in webarc.stored(site.url())


def test_many_sitemaps_are_asked_for_gently(webarc: Webarc) -> None:
    index = "".join(f"<sitemap><loc>/{number}.xml</loc></sitemap>" for number in range(40))
    pages: dict[str, Route] = {f"/{number}.xml": listing(f"/p{number}") for number in range(40)}
    pages |= {f"/p{number}": page(f"/p{number}") for number in range(40)}
    with Site({"/": page("/"), "/sitemap.xml": f"<sitemapindex>{index}</sitemapindex>", **pages}, delay=0.01) as site:
        result, _ = crawl(webarc, site, "--connections", "2")
        assert (result["counts"]["new"], result["warnings"]) == (41, [])
        assert site.busiest <= 2


def test_wget_reads_no_sitemaps_and_that_is_said(webarc: Webarc) -> None:
    with Site({"/": page("/")}) as site:
        assert "wget reads no sitemaps" in crawl(webarc, site, "--engine", "wget")[0]["warnings"][0]
