"""Pages that a host gives for whatever name it does not know are stored, and flagged."""

from __future__ import annotations

from tests.crawls import Webarc
from tests.servers import Page, Request, Site
from tests.test_resting import rows

HONEST = {f"/p{number}": f"<title>page</title><p>{'abcdefghijklmnopqrstuvwxyz'[number]}bc words" for number in range(5)}
LINKS = "".join(f"<a href={path}>x</a>" for path in (*HONEST, "/gone/one.html", "/gone/two.html"))


def oops(request: Request) -> Page:
    return Page(
        f"<title>Oops</title><p>{request.path} is not to be had. <p>Try the <a href=/>home page</a>", etag='"o"'
    )


def flagged(found: dict[str, dict[str, object]], site: Site) -> set[str]:
    return {url.removeprefix(site.url("")) for url, row in found.items() if row.get("reason") == "soft-404"}


def test_what_looks_like_the_answer_to_a_name_that_nobody_has_is_flagged(webarc: Webarc) -> None:
    with Site({"/": LINKS, **HONEST}, otherwise=oops) as site:
        found = webarc.report(site.url())
        gone = {"/gone/one.html", "/gone/two.html"}
        assert flagged(found, site) == gone
        assert all(found[site.url(path)]["outcome"] == "stored" and webarc.document(site.url(path)) for path in gone)
        (name,) = [url for url, row in found.items() if row.get("reason") == "unknown-name"]
        assert len(site.asked(name.removeprefix(site.url("")))) == 1
        assert {path for path, row in rows(webarc, site).items() if row.error == "soft-404"} == gone
        # Unchanged pages keep their flag, without another question.
        site.requests.clear()
        assert flagged(webarc.report(site.url()), site) == gone
        assert {path for path, row in rows(webarc, site).items() if row.error == "soft-404"} == gone


def test_one_page_is_enough_if_its_title_speaks_of_it(webarc: Webarc) -> None:
    answer = Page("<title>Seite nicht gefunden</title>Hier ist nichts.")
    with Site({"/": "<a href=/a>a</a><a href=/b>b</a>", "/a": "<title>all is well"}, otherwise=answer) as site:
        assert flagged(webarc.report(site.url()), site) == {"/b"}


def test_an_honest_host_is_asked_at_most_once_and_only_with_reason(webarc: Webarc) -> None:
    with Site({"/": LINKS, **HONEST}) as site:
        assert flagged(webarc.report(site.url()), site) == set()
        assert {"/", *HONEST, "/gone/one.html", "/gone/two.html", "/robots.txt"} == set(site.targets())
        alike = dict.fromkeys(HONEST, "<title>the very same</title>")
        site.pages |= alike
        site.requests.clear()
        assert flagged(webarc.report(site.url()), site) == set()
        assert len(set(site.targets())) == len({"/", *HONEST, "/gone/one.html", "/gone/two.html", "/robots.txt"}) + 1


def test_neither_a_single_page_nor_a_crawl_without_detection_nor_robots_rules_ask(webarc: Webarc) -> None:
    alike = dict.fromkeys(HONEST, "<title>the very same</title>")
    with Site({"/": LINKS, **alike}) as site:
        webarc.crawl("--depth", "0", site.url())
        webarc.crawl("--no-trap-detection", site.url())
        site.pages["/robots.txt"] = Page("User-agent: *\nDisallow: /\nAllow: /$\nAllow: /p", type="text/plain")
        webarc.crawl(site.url())
        assert set(site.targets()) == {"/", *HONEST, "/gone/one.html", "/gone/two.html", "/robots.txt"}
