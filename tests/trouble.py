"""A generated site on three hosts with every kind of trouble, and what is to become of each of its URLs.

The crawl begins on the first host and is redirected to the second; the third one is outside and only parts of pages
come from there. Answers take random times, which must not matter.
"""

from __future__ import annotations

import gzip
from collections import Counter
from collections.abc import Callable
from random import Random
from urllib.parse import quote

from tests.servers import Page, Raw, Reply, Request, Site

LIMITS = ("--max-size", "20k", "--tries", "2", "--timeout", "20s", "--max-redirect", "6", "--depth", "3")
OPTIONS = (*LIMITS, "--allow-private", "--requisites-from-anywhere", "--reject-type", "application/zip")
# Failures of the network weigh more than those of servers.
EXIT_CODE = 4
_HUB = 25
_LONG = 0.3
STORED, REDIRECT = ("stored", ""), ("redirect", "")
LOOP = ("failed", "redirect-loop")
_IN = {"Set-Cookie": "in=1; Path=/"}


class Trouble:
    """Fills three sites with pages; `expected` has outcome and reason of every URL, `bodies` what is to be stored."""

    def __init__(self, sites: list[Site], items: int, seed: int = 0) -> None:
        self.one, self.two, self.outside = sites
        self.expected: dict[str, tuple[str, str]] = {}
        self.bodies: dict[str, bytes] = {}
        self.random = Random(seed)
        self._asked: Counter[str] = Counter()
        self._build(items, Random(seed))

    @property
    def starts(self) -> tuple[str, str]:
        """The start URLs: a page, and one that redirects to the second host."""
        return self.one.url("/"), self.one.url("/enter")

    def begin(self, seed: int) -> None:
        """A new run: nothing was asked yet, and the answers take other times."""
        self.random = Random(seed)
        self._asked.clear()
        for site in (self.one, self.two, self.outside):
            site.requests.clear()

    def requested(self) -> set[str]:
        """Every URL that the servers were asked for, but what says who may come."""
        sites = (self.one, self.two, self.outside)
        return {site.url(target) for site in sites for target in site.targets()} - {self.outside.url("/robots.txt")}

    # -- building ---------------------------------------------------------------------------------------------

    def _build(self, items: int, dice: Random) -> None:
        kinds = sorted(name for name in dir(self) if name.startswith("make_"))
        names = []
        for number in range(items):
            make: Callable[[Site, int], str] = getattr(self, kinds[number % len(kinds)])
            names.append(make(dice.choice((self.one, self.two)), number))
        dice.shuffle(names)
        hubs = []
        for place in range(0, len(names), _HUB):
            site = dice.choice((self.one, self.two))
            also = dice.choices(names, k=3)
            hubs.append(self._good(site, f"/hub/{place}", "".join([*names[place : place + _HUB], *also])))
        for site in (self.one, self.two):
            home = "".join(f"<a href={hub}>hub</a>" for hub in dice.sample(hubs, len(hubs)))
            self._good(site, "/", home)
            # A cookie that says nothing, so that no wall can be told by the first cookie of its host.
            site.pages["/"] = Page(home, headers={"Set-Cookie": "visit=1; Path=/"})
            self._good(site, "/robots.txt", "User-agent: *\nDisallow: /forbidden/\n", "text/plain")
        self._redirect(self.one, "/enter", self.two.url("/"), 301, slow=True)

    def _serve(self, site: Site, path: str, reply: Callable[[], Reply], *, slow: bool = False) -> str:
        """Answer after a random time."""

        def route(_: Request) -> Reply:
            answer = reply()
            if isinstance(answer, Page):
                late = slow or self.random.random() < 0.02
                answer.delay = self.random.uniform(0, _LONG if late else 0.01)
            return answer

        site.pages[path] = route
        return site.url(path)

    def _good(self, site: Site, path: str, body: str | bytes, type: str = "text/html; charset=utf-8") -> str:
        url = self._serve(site, path, lambda: Page(body, type=type))
        self.bodies[url] = body.encode() if isinstance(body, str) else body
        return self._expect(url, STORED)

    def _expect(self, url: str, outcome: tuple[str, str]) -> str:
        self.expected[url] = outcome
        return url

    def _bad(self, site: Site, path: str, reply: Callable[[], Reply], outcome: str, reason: str) -> str:
        return _link(self._expect(self._serve(site, path, reply), (outcome, reason)))

    def _redirect(self, site: Site, path: str, target: str, status: int = 302, *, slow: bool = False) -> str:
        url = self._serve(site, path, lambda: Page(b"", status, {"Location": target}), slow=slow)
        return self._expect(url, REDIRECT)

    def _ask(self, url: str) -> int:
        self._asked[url] += 1
        return self._asked[url]

    # -- kinds of trouble: each makes its URLs and returns what a page says of them ---------------------------

    def make_child(self, site: Site, number: int) -> str:
        beyond = self._expect(site.url(f"/beyond/{number}"), ("skipped", "depth"))
        child = self._good(site, f"/child/{number}", f"<title>{number}</title>{_link(beyond)}")
        return _link(self._good(site, f"/page/{number}", _link(child) + _link(site.url("/"))))

    def make_parts(self, site: Site, number: int) -> str:
        picture = self._good(self.outside, f"/i/{number}.png", b"\x89PNG\r\n\x1a\n%d" % number, "image/png")
        moved = self._redirect(site, f"/moved/{number}.png", picture)
        sheet = self._good(site, f"/s/{number}.css", f"p {{ background: url({moved}) }}", "text/css")
        missing = self._serve(site, f"/no/{number}.js", lambda: Page("no", 404))
        self._expect(missing, ("missing", "http-404"))
        page = f"<link rel=stylesheet href={sheet}><script src={missing}></script>{_link(moved)}"
        return _link(self._good(site, f"/parts/{number}", page))

    def make_missing(self, site: Site, number: int) -> str:
        return self._bad(site, f"/missing/{number}", lambda: Page("no", 404), "missing", "http-404")

    def make_gone(self, site: Site, number: int) -> str:
        return self._bad(site, f"/gone/{number}", lambda: Page("no", 410), "missing", "http-410")

    def make_forbidden_by_robots(self, site: Site, number: int) -> str:
        return _link(self._expect(site.url(f"/forbidden/{number}"), ("skipped", "robots")))

    def make_forbidden_by_server(self, site: Site, number: int) -> str:
        return self._bad(site, f"/403/{number}", lambda: Page("no", 403), "failed", "http-403")

    def make_broken(self, site: Site, number: int) -> str:
        return self._bad(site, f"/500/{number}", lambda: Page("no", 500), "failed", "http-500")

    def make_busy(self, site: Site, number: int) -> str:
        url, body = site.url(f"/busy/{number}"), f"<title>busy {number}</title>"
        self._good(site, f"/busy/{number}", body)
        wait = {"Retry-After": "1" if number % 7 == 0 else "0"}
        self._serve(site, f"/busy/{number}", lambda: Page("later", 503, wait) if self._ask(url) == 1 else Page(body))
        return _link(url)

    def make_truncated(self, site: Site, number: int) -> str:
        head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 900\r\n\r\nhalf"
        return self._bad(site, f"/half/{number}", lambda: Raw(head), "failed", "truncated")

    def make_bad_gzip(self, site: Site, number: int) -> str:
        body = gzip.compress(b"<title>x</title>" * 50)[:-12] + b"spoilt......"
        page = Page(body, headers={"Content-Encoding": "gzip"})
        return self._bad(site, f"/gzip/{number}", lambda: page, "failed", "bad-encoding")

    def make_large(self, site: Site, number: int) -> str:
        return self._bad(site, f"/large/{number}", lambda: Page("x" * 30_000), "skipped", "too-large")

    def make_unwanted(self, site: Site, number: int) -> str:
        page = Page(b"PK\x03\x04", type="application/zip")
        return self._bad(site, f"/zip/{number}", lambda: page, "filtered", "type")

    def make_empty(self, site: Site, number: int) -> str:
        return self._bad(site, f"/empty/{number}", lambda: Page(b"", 204, type=""), "empty", "")

    def make_outside(self, site: Site, number: int) -> str:
        return _link(self._expect(self.outside.url(f"/out/{number}"), ("skipped", "scope")))

    def make_nofollow(self, site: Site, number: int) -> str:
        hidden = self._expect(site.url(f"/hidden/{number}"), ("skipped", "nofollow"))
        page = f"<meta name=robots content=nofollow>{_link(hidden)}"
        return _link(self._good(site, f"/shy/{number}", page))

    def make_moved(self, site: Site, number: int) -> str:
        target = self._good(self._other(site), f"/new/{number}", f"<title>new {number}</title>")
        for step, status in enumerate((301, 302, 303, 307, 308)[: number % 5 + 1]):
            target = self._redirect(site, f"/old/{number}/{step}", target, status)
        return _link(target)

    def make_moved_away(self, site: Site, number: int) -> str:
        target = self._expect(self.outside.url(f"/away/{number}"), ("skipped", "scope"))
        return _link(self._redirect(site, f"/leave/{number}", target))

    def make_moved_to_nothing(self, site: Site, number: int) -> str:
        missing = self._serve(site, f"/nothing/{number}", lambda: Page("no", 404))
        return _link(self._redirect(site, f"/lost/{number}", self._expect(missing, ("missing", "http-404"))))

    def make_bad_redirect(self, site: Site, number: int) -> str:
        page = Page(b"", 302, {"Location": "javascript:alert(1)"})
        return self._bad(site, f"/script/{number}", lambda: page, "failed", "bad-redirect")

    def make_redirect_without_target(self, site: Site, number: int) -> str:
        return self._bad(site, f"/301/{number}", lambda: Page("where?", 301), "failed", "http-301")

    def make_circle(self, site: Site, number: int) -> str:
        places = [f"/round/{number}/{step}" for step in range(number % 4 + 1)]
        for here, there in zip(places, places[1:] + places[:1], strict=True):
            self._expect(self._redirect(site, here, there), LOOP)
        # Entered at the last one, too, by a redirect from outside the circle.
        return _link(site.url(places[0])) + _link(
            self._expect(self._redirect(site, f"/into/{number}", places[-1]), LOOP)
        )

    def make_endless(self, site: Site, number: int) -> str:
        for step in range(8):
            self._redirect(site, f"/on/{number}/{step}", f"/on/{number}/{step + 1}")
        self._expect(site.url(f"/on/{number}/6"), ("failed", "redirect-limit"))
        del self.expected[site.url(f"/on/{number}/7")]
        return _link(site.url(f"/on/{number}/0"))

    def make_wall(self, site: Site, number: int) -> str:
        """A cookie check that comes back; the cookie is good for this page alone."""
        path, cookie = f"/wall/{number}", f"w{number}=1"
        behind = self._good(site, f"/behind/{number}", f"<title>behind {number}</title>")
        body = f"<title>wall {number}</title>{_link(behind)}"
        url = self._good(site, path, body)
        check = self._expect(site.url(f"/check?page={number}"), REDIRECT)
        site.pages[f"/check?page={number}"] = lambda _: Page(
            b"", 302, {"Location": path, "Set-Cookie": f"{cookie}; Path={path}"}
        )
        site.pages[path] = lambda request: (
            body if cookie in request.headers.get("cookie", "") else Page(b"", 302, {"Location": check})
        )
        return _link(url)

    def make_gate(self, site: Site, number: int) -> str:
        """A page behind a gate that all pages share, which sends back to the page that was asked for last."""
        path, gate = f"/gated/{number}", site.url("/gate")
        body = f"<title>gated {number}</title>"
        url = self._good(site, path, body)
        shut = {"Location": gate, "Set-Cookie": f"return={number}; Path=/"}
        site.pages[path] = lambda request: body if "in=1" in request.headers.get("cookie", "") else Page(b"", 302, shut)
        self._expect(gate, REDIRECT)
        site.pages["/gate"] = lambda request: Page(
            b"", 302, {"Location": f"/gated/{request.headers['cookie'].partition('return=')[2].split(';')[0]}"} | _IN
        )
        return _link(url)

    def make_login(self, site: Site, number: int) -> str:
        """A login on a host that is outside, and back."""
        path, cookie = f"/inside/{number}", f"s{number}=1"
        body = f"<title>inside {number}</title>"
        url = self._good(site, path, body)
        login = f"/login?service={quote(url, safe='')}"
        self._redirect(self.outside, login, site.url(f"/session/{number}"))
        self._expect(site.url(f"/session/{number}"), REDIRECT)
        site.pages[f"/session/{number}"] = lambda _: Page(
            b"", 302, {"Location": path, "Set-Cookie": f"{cookie}; Path={path}"}
        )
        site.pages[path] = lambda request: (
            body
            if cookie in request.headers.get("cookie", "")
            else Page(b"", 302, {"Location": self.outside.url(login)})
        )
        return _link(url)

    def make_spelling(self, site: Site, number: int) -> str:
        """One page, written in many ways."""
        url = self._good(site, f"/~spelling/{number}%20x?a=%C3%A4", f"<title>{number}</title>")
        host = url.removesuffix(f"/~spelling/{number}%20x?a=%C3%A4")
        ways = (
            url,
            f"{url}#part",
            f"{host}/x/../~spelling/{number} x?a=ä",
            f"{host}/./~spelling/{number}%20x?a=%c3%a4",
        )
        return "".join(f'<a href="{way}">x</a>' for way in ways)

    def make_japanese(self, site: Site, number: int) -> str:
        """The bytes of a reference's query depend on what the page says its characters are."""
        target = self._good(site, f"/q/{number}?x=%93%FA%96%7B", f"<title>{number}</title>")
        page = f"<meta charset=shift_jis><title>日本</title><a href='/q/{number}?x=日本'>x</a>"
        assert target
        return _link(self._good(site, f"/ja/{number}", page.encode("shift_jis"), "text/html"))

    def make_refresh(self, site: Site, number: int) -> str:
        target = self._good(site, f"/refreshed/{number}", f"<title>{number}</title>")
        return _link(self._good(site, f"/refresh/{number}", f"<meta http-equiv=refresh content='0; url={target}'>"))

    def make_both(self, site: Site, number: int) -> str:
        """A picture that one page links to and another one shows, moved to a host that only parts may come from."""
        picture = self._good(self.outside, f"/both/{number}.png", b"\x89PNG\r\n\x1a\n%d" % number, "image/png")
        moved = self._redirect(site, f"/both/{number}", picture, slow=True)
        return _link(self._good(site, f"/shows/{number}", f"<img src={moved}>")) + _link(moved)

    def _other(self, site: Site) -> Site:
        return self.two if site is self.one else self.one


def _link(url: str) -> str:
    return f'<a href="{url}">x</a>\n'
