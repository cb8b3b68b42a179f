"""Redirects that come back: curl's view of what can be reached, circles, chains without an end."""

from __future__ import annotations

import json
import shutil
import subprocess
from base64 import b64encode
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import quote, unquote

import pytest

from tests.crawls import Webarc
from tests.servers import Page, Reply, Request, Route, Site, redirect

LINKS = "<a href=/a>a</a>"


def bake(cookie: str, target: str) -> Page:
    """A redirect that sets a cookie."""
    return Page(b"", 302, {"Location": target, "Set-Cookie": f"{cookie}; Path=/"})


def walled(
    cookie: str, refusal: Reply, text: str = "<title>In</title><a href=/behind>b</a>"
) -> Callable[[Request], Reply]:
    """A page for those who bring a cookie."""
    return lambda request: text if cookie in request.headers.get("cookie", "") else refusal


def curl(url: str) -> int:
    """The status that `curl -L -b ''` ends with."""
    command = ["curl", "-s", "-L", "-b", "", "-o", "/dev/null", "-w", "%{http_code}", url]
    return int(subprocess.run(command, capture_output=True, text=True, check=False).stdout)


@pytest.fixture
def sites() -> Iterator[list[Site]]:
    """Three hosts."""
    with ExitStack() as stack:
        yield [stack.enter_context(Site(host=f"127.0.0.{number}")) for number in (1, 2, 3)]


def check_reached(webarc: Webarc, site: Site, *options: str) -> None:
    """The page and what is behind it are there, as curl says."""
    assert curl(site.url("/a")) == 200
    rows = webarc.report("--allow-private", *options)
    assert rows[site.url("/a")]["outcome"] == rows[site.url("/behind")]["outcome"] == "stored"
    assert webarc.document(site.url("/behind")) == b"<title>Behind</title>"
    assert b"In" in (webarc.document(site.url("/a")) or b"")


@pytest.mark.parametrize(("start", "baker"), [("/", "first"), ("/a", "second")])
def test_a_cookie_wall_that_sends_back(webarc: Webarc, sites: list[Site], start: str, baker: str) -> None:
    site, *_ = sites
    first = bake("ok=1", "/check") if baker == "first" else redirect("/check")
    second = bake("ok=1", "/a") if baker == "second" else redirect("/a")
    site.pages |= {"/": LINKS, "/a": walled("ok=1", first), "/check": second, "/behind": "<title>Behind</title>"}
    check_reached(webarc, site, site.url(start))


@pytest.mark.parametrize("way", ["says from where", "sets a cookie before"])
@pytest.mark.parametrize("start", ["/", pytest.param("/a", marks=pytest.mark.slow)])
def test_a_wall_on_another_host(webarc: Webarc, sites: list[Site], start: str, way: str) -> None:
    site, other, third = sites
    back = quote(site.url("/a"), safe="")
    if way == "says from where":
        first: Reply = redirect(other.url(f"/login?service={back}"))
        third.pages["/token"] = redirect(site.url("/session"))
        site.pages["/session"] = bake("in=1", "/a")
    else:
        first = bake("in=1", other.url("/login"))
        third.pages["/token"] = redirect(site.url("/a"))
    other.pages["/login"] = redirect(third.url(f"/token?for={back}"))
    site.pages |= {"/": LINKS, "/a": walled("in=1", first), "/behind": "<title>Behind</title>"}
    check_reached(webarc, site, site.url(start))
    if start == "/":
        assert not webarc.folder(other.url()).exists(), "a host on the way is no part of the crawl"


def test_a_redirect_that_leaves_for_good_is_not_followed_further(webarc: Webarc, sites: list[Site]) -> None:
    site, other, _ = sites
    site.pages |= {"/": LINKS, "/a": bake("sid=1", other.url("/x"))}
    other.pages |= {"/x": "<title>Theirs</title><a href=/y>y</a>", "/y": "y"}
    rows = webarc.report("--allow-private", site.url())
    assert (rows[other.url("/x")]["outcome"], rows[other.url("/x")]["reason"]) == ("skipped", "scope")
    assert other.url("/y") not in rows and not webarc.folder(other.url()).exists()
    site.pages["/a"] = redirect(other.url("/z"))
    assert webarc.report("--allow-private", site.url())[other.url("/z")]["reason"] == "scope"
    assert "/z" not in other.targets(), "nothing says that it would come back"


def test_pages_that_share_a_wall(webarc: Webarc, sites: list[Site]) -> None:
    site, *_ = sites
    pages = [f"/p{number}" for number in range(12)]
    site.pages["/"] = "".join(f"<a href={page}>x</a>" for page in pages)
    site.pages["/wall"] = lambda request: bake(
        request.target.partition("?")[2] + "=1", "/" + request.target.partition("?")[2]
    )
    for page in pages:
        site.pages[page] = walled(f"{page[1:]}=1", redirect(f"/wall?{page[1:]}"), f"<title>{page}</title>")
    rows = webarc.report(site.url())
    assert all(rows[site.url(page)]["outcome"] == "stored" for page in pages)


def test_start_pages_behind_one_wall(webarc: Webarc, sites: list[Site]) -> None:
    """The wall lets the visitor in and sends everybody to the home page: all are asked for before anybody is in."""
    site, *_ = sites
    pages = [f"/p{number}" for number in range(6)]
    wall = Page(b"", 302, {"Location": "/wall"}, delay=0.2)
    site.pages |= {page: walled("in=1", wall, f"<title>{page}</title>") for page in pages}
    site.pages |= {"/wall": bake("in=1", "/home"), "/home": "home"}
    rows = webarc.report(*map(site.url, pages))
    assert {rows[site.url(page)]["outcome"] for page in (*pages, "/home")} == {"stored"}


def gated(cookie: str, gate: str, page: str, text: str) -> Callable[[Request], Reply]:
    """A page behind a gate that sends back to the page that was asked for last."""
    return walled(cookie, bake(f"{gate}={page}", f"/{gate}"), text)


def opening(cookie: str, gate: str) -> Callable[[Request], Reply]:
    """The gate: it lets in with a cookie and reads from another one where to send its visitor."""

    def route(request: Request) -> Reply:
        return bake(cookie, "/" + request.headers["cookie"].partition(f"{gate}=")[2].split(";")[0])

    return route


@pytest.mark.parametrize("connections", ["1", "4"])
def test_pages_that_share_a_gate_although_the_host_has_set_a_cookie_before(
    webarc: Webarc, sites: list[Site], connections: str
) -> None:
    """A second gate, a level deeper, has nothing before it but the cookies of the first one."""
    site, *_ = sites
    outer, inner = [f"o{number}" for number in range(6)], [f"i{number}" for number in range(6)]
    deeper = "".join(f"<a href=/{page}>x</a>" for page in inner)
    site.pages["/"] = Page("".join(f"<a href=/{page}>x</a>" for page in outer), headers={"Set-Cookie": "t=1"})
    site.pages |= {f"/{page}": gated("in1=1", "first", page, f"{page}{deeper}") for page in outer}
    site.pages |= {f"/{page}": gated("in2=1", "second", page, page) for page in inner}
    site.pages |= {"/first": opening("in1=1", "first"), "/second": opening("in2=1", "second")}
    rows = webarc.report("--connections", connections, site.url())
    assert {rows[site.url(f"/{page}")]["outcome"] for page in (*outer, *inner)} == {"stored"}


def test_pages_that_each_have_to_be_let_in_alone(webarc: Webarc, sites: list[Site]) -> None:
    """The gate lets in to one page at a time, whichever was asked for last."""
    site, *_ = sites
    pages = [f"p{number}" for number in range(6)]
    site.pages["/"] = Page("".join(f"<a href=/{page}>x</a>" for page in pages), headers={"Set-Cookie": "t=1"})

    def gate(request: Request) -> Reply:
        page = request.headers["cookie"].partition("last=")[2].split(";")[0]
        return bake(f"{page}=in", f"/{page}")

    site.pages |= {f"/{page}": walled(f"{page}=in", bake(f"last={page}", "/gate"), page) for page in pages}
    site.pages["/gate"] = gate
    rows = webarc.report(site.url())
    assert {rows[site.url(f"/{page}")]["outcome"] for page in pages} == {"stored"}


@pytest.mark.parametrize("ends", ["; Path=/", "; Path=/s", "; Path=/; Max-Age=1"])
def test_the_same_cookie_for_another_place_or_after_its_end_is_a_new_one(
    webarc: Webarc, sites: list[Site], ends: str
) -> None:
    site, *_ = sites
    late = "Max-Age" in ends

    def place(page: str, text: str) -> Callable[[Request], Reply]:
        path = ends.replace("/s", f"/{page}")
        return walled("ok=1", redirect(f"/gate?{page}{path}"), text)

    def gate(request: Request) -> Reply:
        page, _, attributes = request.target.partition("?")[2].partition(";")
        return Page(b"", 302, {"Location": f"/{page}/", "Set-Cookie": f"ok=1;{unquote(attributes)}"})

    site.otherwise = lambda request: gate(request) if request.target.startswith("/gate") else Page("no", 404)
    site.pages |= {
        "/": "<a href=/s1/>x</a>",
        "/s1/": place("s1", "<a href=/between>x</a>"),
        "/between": Page("<a href=/s2/>x</a>", delay=1.2 if late else 0),
        "/s2/": place("s2", "<a href=/s2/x>x</a>"),
        "/s2/x": "x",
    }
    assert webarc.report(site.url())[site.url("/s2/x")]["outcome"] == "stored"


@pytest.mark.parametrize("start", ["/", "/a"])
@pytest.mark.parametrize("other_is_given", [False, True])
def test_a_sign_on_that_names_only_where_to_return(
    webarc: Webarc, sites: list[Site], start: str, other_is_given: bool
) -> None:
    """As in OAuth: the page is remembered in a cookie; the host of the login may be a start URL of its own."""
    site, other, _ = sites
    back = quote(site.url("/callback"), safe="")
    site.pages |= {"/": Page(LINKS, headers={"Set-Cookie": "sid=7; Path=/"}), "/behind": "<title>Behind</title>"}
    site.pages["/a"] = walled("in=1", bake("sid=7", other.url(f"/authorize?redirect_uri={back}")))
    site.pages["/callback?code=1"] = bake("in=1", "/a")
    other.pages |= {"/authorize?redirect_uri=" + back: redirect(site.url("/callback?code=1")), "/": "home"}
    check_reached(webarc, site, site.url(start), *([other.url()] if other_is_given else []))


@pytest.mark.parametrize("late", [0, 1])
def test_what_is_kept_of_a_host_that_two_start_urls_lead_to(webarc: Webarc, sites: list[Site], late: int) -> None:
    *starts, third = sites
    for number, site in enumerate(starts):
        away = Page(b"", 302, {"Location": third.url(f"/y{number}")}, delay=0.5 * (number == late))
        site.pages["/"] = away
        third.pages |= {f"/y{number}": f"<a href=/z{number}>z</a>", f"/z{number}": f"z{number}"}
    assert webarc.run("crawl", "--allow-private", *(site.url() for site in starts)).code == 0
    assert webarc.stored(third.url()) == {"y0", "y1", "z0", "z1"}


def test_a_page_of_another_crawl_that_a_start_url_moved_to(webarc: Webarc, sites: list[Site]) -> None:
    """It is crawled after all others, unless the other crawl has asked for it."""
    site, other, _ = sites
    site.pages["/"] = redirect(other.url("/new"), 301)
    other.pages |= {"/": "home", "/new": "<a href=/next>x</a>", "/next": "next"}
    assert webarc.run("crawl", "--allow-private", site.url(), other.url()).code == 0
    assert webarc.stored(other.url()) == {"%_", "new", "next"}
    asked = len(other.requests)
    other.pages["/"] = "<a href=/new>x</a>"
    assert webarc.run("crawl", "--allow-private", site.url(), other.url()).code == 0
    assert Counter(other.targets()[asked:])["/next"] == 1


def test_hosts_that_send_every_second_visitor_to_each_other_for_ever(webarc: Webarc, sites: list[Site]) -> None:
    one, other, _ = sites
    fresh = iter(range(1_000))

    def elsewhere(site: Site, away: Site) -> Callable[[Request], Reply]:
        def route(request: Request) -> Reply:
            if request.path == "/robots.txt":
                return Page("no", 404)
            asked = len(site.asked(request.target))
            return redirect(away.url(f"/{next(fresh)}")) if request.path == "/" or asked > 1 else Page("in")

        return route

    one.otherwise, other.otherwise = elsewhere(one, other), elsewhere(other, one)
    ran = webarc.run("crawl", "--json", "--allow-private", "--depth", "0", one.url(), other.url())
    assert "Traceback" not in ran.err and 2 < len(ran.objects()) < 20


def test_a_page_of_another_crawl_gets_that_crawls_password(webarc: Webarc, sites: list[Site]) -> None:
    site, other, _ = sites
    site.pages["/"] = redirect(other.url("/new"))
    wanted = "Basic " + b64encode(b"anna:secret").decode()

    def guarded(request: Request) -> Reply:
        if request.headers.get("authorization") != wanted:
            return Page("no", 401, {"WWW-Authenticate": 'Basic realm="x"'})
        return {"/": "home", "/new": "<a href=/next>x</a>", "/next": "next"}.get(request.path, (404, {}, "no"))

    other.otherwise = guarded
    start = other.url().replace("://", "://anna:secret@")
    webarc.run("crawl", "--allow-private", site.url(), start)
    assert webarc.stored(other.url()) == {"%_", "new", "next"}


@pytest.mark.parametrize("broken", [False, True])
@pytest.mark.parametrize("role", ["start", "part"])
def test_a_clone_that_cannot_be_adopted_costs_the_crawl_nothing_of_its_own(
    webarc: Webarc, sites: list[Site], role: str, broken: bool
) -> None:
    site, other, _ = sites
    other.pages |= {"/": "theirs", "/x": "x", "/i.png": Page(b"\x89PNG\r\n\x1a\n", type="image/png")}
    webarc.crawl(other.url())
    folder = webarc.folder(other.url())
    aside = webarc.archive.parent / "aside"
    folder.rename(aside)
    subprocess.run(["git", "clone", "-q", "--shared", aside, folder], check=True)
    if broken:
        shutil.rmtree(aside)
    site.pages |= {"/": f"<img src={other.url('/i.png')}>", "/go": redirect(other.url("/x"))}
    starts = [site.url("/go" if role == "start" else "/"), *([site.url()] if role == "start" else [])]
    ran = webarc.run("crawl", "--allow-private", "--requisites-from-anywhere", *starts)
    assert webarc.folder(site.url()).exists(), ran.out + ran.err
    assert "%_" in webarc.stored(site.url()) and other.domain in ran.out


def test_two_pages_that_send_each_other_for_a_cookie(webarc: Webarc, sites: list[Site]) -> None:
    """Each needs the cookie of the other, and both are asked for before either is there."""
    site, *_ = sites
    site.pages |= {
        "/": "<a href=/a>a</a><a href=/b>b</a>",
        "/a": walled("b=1", Page(b"", 302, {"Location": "/b", "Set-Cookie": "a=1"}, delay=0.3), "A"),
        "/b": walled("a=1", Page(b"", 302, {"Location": "/a", "Set-Cookie": "b=1"}), "B"),
    }
    rows = webarc.report(site.url())
    assert "stored" in {rows[site.url(page)]["outcome"] for page in ("/a", "/b")}


def test_a_forbidden_page_that_a_login_leads_to(webarc: Webarc, sites: list[Site]) -> None:
    site, *_ = sites
    forbidden = (403, {}, "no")
    site.pages |= {"/": "<a href=/members>m</a><a href=/login>l</a>", "/behind": "<title>Behind</title>"}
    site.pages["/members"] = walled("in=1", forbidden)
    site.pages["/login"] = Page(b"", 302, {"Location": "/members", "Set-Cookie": "in=1"}, delay=0.3)
    assert webarc.report(site.url())[site.url("/members")]["outcome"] == "stored"


def test_a_page_that_remembers_the_visitor_without_a_cookie(webarc: Webarc, sites: list[Site]) -> None:
    site, *_ = sites
    site.pages |= {"/": LINKS, "/a": lambda _: redirect("/a") if len(site.asked("/a")) < 2 else "in"}
    assert webarc.report(site.url())[site.url("/a")]["outcome"] == "stored"


CIRCLES = {
    f"{length} {cookie}": [f"/{cookie}/{length}/{number}" for number in range(length)]
    for length in (1, 2, 3)
    for cookie in ("none", "same", "random")
}


def circles(fresh: Iterator[int]) -> dict[str, Route]:
    """Redirects round and round: without a cookie, with one that stays the same, with a new one each time."""

    def step(target: str) -> Route:
        value = {"none": lambda: "", "same": lambda: "x=1", "random": lambda: f"x={next(fresh)}"}
        make, path = value[target.split("/")[1]], target.rpartition("/")[0]
        cookie = f"; Path={path}"
        return lambda _: Page(b"", 302, {"Location": target, **({"Set-Cookie": make() + cookie} if make() else {})})

    return {
        here: step(there)
        for circle in CIRCLES.values()
        for here, there in zip(circle, circle[1:] + circle[:1], strict=True)
    }


@pytest.mark.parametrize("as_start", [False, True])
def test_a_circle_is_a_failure(webarc: Webarc, sites: list[Site], as_start: bool) -> None:
    site, *_ = sites
    site.pages |= circles(iter(range(10_000)))
    site.pages["/"] = "".join(f"<a href={circle[0]}>x</a>" for circle in CIRCLES.values())
    starts = [site.url(circle[0]) for circle in CIRCLES.values()] if as_start else [site.url()]
    file = webarc.archive.parent / "report.json"
    ran = webarc.run("crawl", "--json", "--max-redirect", "8", "--report", file, *starts)
    assert ran.code == 8, (ran.out, ran.err)
    result = ran.result()
    everything = {page for circle in CIRCLES.values() for page in circle}
    assert result["counts"]["failed"] == len(everything)
    assert "leads to no page" in result["failures"][0] and result["complete"] is not as_start
    rows = {line["url"]: line for line in json.loads(file.read_text())["crawls"][0]["urls"]}
    assert {(rows[site.url(page)]["outcome"], rows[site.url(page)]["reason"]) for page in everything} == {
        ("failed", "redirect-loop")
    }
    for circle in CIRCLES.values():
        # --max-redirect ends a chain at the latest, which is gone along twice more if cookies have changed.
        assert sum(target in circle for target in site.targets()) <= 3 * 10


@pytest.mark.parametrize("start", ["/", pytest.param("/0", marks=pytest.mark.slow)])
def test_too_many_redirects(webarc: Webarc, sites: list[Site], start: str) -> None:
    site, *_ = sites
    site.pages |= {f"/{number}": redirect(f"/{number + 1}", 301) for number in range(30)}
    site.pages |= {"/": "<a href=/0>0</a>", "/30": "end", "/nowhere": redirect("/nowhere2")}
    rows = webarc.report(site.url(start), code=8)
    assert rows[site.url("/20")]["reason"] == "redirect-limit" and site.url("/22") not in rows
    assert rows[site.url("/0")]["outcome"] == "redirect"
    assert webarc.report("--max-redirect", "40", site.url(start))[site.url("/30")]["outcome"] == "stored"


def test_a_chain_into_a_circle_and_out_of_sight(webarc: Webarc, sites: list[Site]) -> None:
    """A chain that ends in a circle fails as a whole; one that ends with a missing page is a redirect to it."""
    site, *_ = sites
    ways = {"/1": "/2", "/2": "/3", "/3": "/4", "/4": "/3", "/m": "/gone"}
    site.pages |= {source: redirect(target) for source, target in ways.items()}
    site.pages["/"] = "".join(f"<a href={source}>x</a>" for source in ways)
    rows = webarc.report(site.url(), code=8)
    assert {rows[site.url(f"/{number}")]["reason"] for number in range(1, 5)} == {"redirect-loop"}
    assert (rows[site.url("/m")]["outcome"], rows[site.url("/gone")]["outcome"]) == ("redirect", "missing")


def test_the_table_shows_circles_and_missing_start_pages(webarc: Webarc, sites: list[Site]) -> None:
    site, *_ = sites
    site.pages |= {"/": LINKS + "<a href=/dead>x</a>", "/a": redirect("/b"), "/b": redirect("/a")}
    ran = webarc.run("crawl", site.url())
    assert ran.code == 8 and row(ran.out)["failed"] == "2"
    assert f"{site.url('/a')} redirects, but leads to no page (redirect-loop)" in ran.out
    ran = webarc.run("crawl", site.url("/nope"))
    assert ran.code == 8 and row(ran.out)["failed"] == "1" and row(ran.out)["gone"] == "0"


def test_a_start_page_that_is_gone_counts_once(webarc: Webarc, sites: list[Site]) -> None:
    site, *_ = sites
    site.pages |= {"/": "<title>Home</title>", "/other": "x"}
    webarc.crawl(site.url())
    site.pages["/"] = (404, {}, "gone")
    kept = webarc.crawl("--prune", "never", site.url(), code=8)["counts"]
    assert (kept["gone"], kept["failed"]) == (0, 1)
    removed = webarc.crawl(site.url(), code=8)["counts"]
    assert (removed["gone"], removed["failed"]) == (1, 0)


def row(table: str) -> dict[str, str]:
    """The only line of figures of a crawl's table."""
    head, line = table.splitlines()[:2]
    return dict(zip(head.split(), line.split(), strict=False))


def test_a_start_page_that_leads_out_of_the_crawl_is_named(webarc: Webarc, sites: list[Site]) -> None:
    site, *_ = sites
    site.pages |= {"/": redirect("/login"), "/login": "x"}
    result = webarc.crawl("--exclude", "login", site.url(), code=8)
    assert result["failures"] == [f"{site.url()} redirects, but leads to no page"]


@pytest.mark.parametrize(
    "scope", ["prefix", *(pytest.param(each, marks=pytest.mark.slow) for each in ("page", "host"))]
)
def test_a_start_page_that_moved_within_its_host(webarc: Webarc, sites: list[Site], scope: str, tmp_path: Path) -> None:
    site, *_ = sites
    site.pages |= {"/old/": redirect("/new/"), "/new/": "<a href=x>x</a><a href=/y>y</a>", "/new/x": "x", "/y": "y"}
    site.pages |= {"/old/in": redirect("/login"), "/login": "<a href=/y>y</a>"}
    rows = webarc.report("--scope", scope, site.url("/old/"), site.url("/old/in"))
    kept = {url for url, line in rows.items() if line["outcome"] == "stored"}
    wanted = {"page": ["/new/", "/login"], "prefix": ["/new/", "/login", "/new/x"]}
    assert kept == {site.url(page) for page in wanted.get(scope, ["/new/", "/login", "/new/x", "/y"])}
