"""Sites that go on without end are left alone after some hundred pages; large honest ones lose nothing."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from datetime import date, timedelta
from urllib.parse import quote

import pytest

from tests.crawls import Webarc
from tests.servers import Page, Request, Site
from webarc.crawler.fingerprints import fingerprints
from webarc.crawler.traps import Traps

MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]
WORDS = [
    "house",
    "tree",
    "river",
    "stone",
    "cloud",
    "light",
    "green",
    "yellow",
    "orange",
    "table",
    "chair",
    "window",
    "garden",
    "bridge",
]
OTHERS = {f"/p{number}": f"<title>Page {number}</title><a href=/p{number + 1}>on</a>" for number in range(20)}
HOME = "<a href=/cal?month=24310>calendar</a><a href=/p0>pages</a>"
QUICK = ("--depth", "inf", "--connections", "8")
MISSING = Page("not here", 404)


def month_page(year: int, month: int, address: Callable[[int, int], str]) -> str:
    """A month without events, with links to those beside it."""
    before, after = divmod(year * 12 + month - 2, 12), divmod(year * 12 + month, 12)
    links = "".join(f"<a href='{address(year, month + 1)}'>{month + 1}</a>" for year, month in (before, after))
    name = f"{MONTHS[month - 1]} {year}"
    return f"<title>{name}</title><h1>Events in {name}</h1><p>No events.{links}<a href=/>home</a>"


def calendar(request: Request) -> str:
    """Months by number, without end in both directions."""
    year, month = divmod(int(request.target.partition("month=")[2]), 12)
    return month_page(year, month + 1, lambda year, month: f"/cal?month={year * 12 + month - 1}")


def dated(request: Request) -> Page | str:
    """Months and days in the path."""
    numbers = request.target.strip("/").split("/")
    if not all(number.isdigit() for number in numbers):
        return MISSING
    year, month, *day = map(int, numbers)
    if day:
        return f"<title>{day[0]} {MONTHS[month - 1]} {year}</title><p>Nothing on.<a href=/{year}/{month:02}/>month</a>"
    days = "".join(f"<a href=/{year}/{month:02}/{day:02}/>{day}</a>" for day in range(1, 29))
    return month_page(year, month, lambda year, month: f"/{year}/{month:02}/") + days


def deeper(request: Request) -> Page | str:
    """A folder that holds itself."""
    return "<title>Shelf</title><a href=books/>books</a>" if request.path.startswith("/shelf/") else MISSING


def wider(request: Request) -> Page | str:
    """Folders that hold one another."""
    links = "".join(f"<a href={name}/>{name}</a>" for name in ("home", "about", "news", "contact", "help", "team"))
    return f"<title>Docs</title>{links}" if request.path.startswith("/doc/") else MISSING


def months_and_days(request: Request) -> Page | str:
    """Pages for months, with a button to share them, and others for days."""
    kind, _, day = request.target.removeprefix("/cal/").partition("?d=")
    if not day:
        return MISSING
    if kind == "day":
        return f"<title>{day}</title><p>Nothing on.<a href=/cal/month?d={day[:7]}>month</a>"
    year, month = map(int, day.split("-"))
    days = "".join(f"<a href=/cal/day?d={day}-{number:02}>{number}</a>" for number in range(1, 29))
    address = quote(f"http://{request.headers['host']}{request.target}", "")
    share = f"<a href=https://share.example/?u={address}>share</a>"
    return month_page(year, month, lambda year, month: f"/cal/month?d={year}-{month:02}") + days + share


def other_pages(webarc: Webarc, site: Site) -> int:
    return len([arc for arc in webarc.stored(site.url()) if arc.startswith("p")])


def test_a_calendar_is_left_and_all_else_is_there(webarc: Webarc) -> None:
    with Site({"/": HOME, "/cal": calendar, **OTHERS}) as site:
        rows = webarc.report(*QUICK, site.url(), code=13)
        assert len(site.requests) < 600 and other_pages(webarc, site) == len(OTHERS)
        refused = [url for url, row in rows.items() if row.get("reason") == "trap"]
        assert refused and all("/cal?month=" in url for url in refused)
        # Again: nothing is asked for at the end, nothing removed, though a page is gone and most months are not linked.
        before = webarc.stored(site.url())
        site.pages |= {"/": HOME.replace("24310", "90000"), "/p19": MISSING}
        site.requests.clear()
        result = webarc.crawl("--prune", "unreached", *QUICK, site.url(), code=13)
        assert len(site.requests) < 600 and webarc.stored(site.url()) > before
        (trap,) = result["traps"]
        assert trap["pattern"] == site.url("/cal?{date}") and trap["followed"] >= 490 and trap["refused"] > 0
        assert (result["complete"], result["reason"], result["counts"]["gone"]) == (False, "trap", 0)
        assert any("--no-trap-detection" in warning for warning in result["warnings"])
        # What was known before is not forgotten.
        urls = next(path for path in webarc.files(site.url()) if path.endswith("urls.xml"))
        assert b'mark="carried">' + site.url("/cal?month=24310").encode() in webarc.git(
            site.url(), "show", f"main:{urls}"
        )


@pytest.mark.parametrize(
    ("start", "endless", "pattern"),
    [
        ("/2031/04/", dated, "/{date}/"),
        ("/doc/", wider, "/doc/.../"),
        ("/cal/month?d=2031-04", months_and_days, "/cal/{view}?{date}"),
        pytest.param("/shelf/", deeper, "/shelf/books/.../", marks=pytest.mark.slow),
    ],
)
def test_dates_and_folders_in_the_path(
    webarc: Webarc, start: str, endless: Callable[[Request], Page | str], pattern: str
) -> None:
    home = f"<a href={start}>on</a><a href=/p0>pages</a>"
    with Site({"/": home, **OTHERS}, otherwise=endless) as site:
        (trap,) = webarc.crawl(*QUICK, site.url(), code=13)["traps"]
        assert trap["pattern"] == site.url(pattern) and len(site.requests) < 1_000
        assert other_pages(webarc, site) == len(OTHERS)


@pytest.mark.slow
def test_pages_with_an_image_of_another_host_each_lose_nothing(webarc: Webarc) -> None:
    def photo(request: Request) -> str:
        number = int(request.target.rpartition("=")[2])
        links = "".join(f"<a href=/photo?id={each}>on</a>" for each in range(number + 1, min(number + 9, 901)))
        return f"<title>Photo {number}</title><img src=http://127.0.0.9/{number}.jpg>{links}"

    with Site({"/": "<a href=/photo?id=1>photos</a>", "/photo": photo}) as site:
        assert webarc.crawl(*QUICK, site.url())["traps"] == [] and len(webarc.stored(site.url())) == 901


@pytest.mark.slow
def test_detection_can_be_switched_off(webarc: Webarc) -> None:
    with Site({"/": HOME, "/cal": calendar}) as site:
        result = webarc.crawl("--no-trap-detection", "--max-pages", "700", *QUICK, site.url(), code=13)
        assert result["reason"] == "max-pages" and result["traps"] == []


# -- honest sites, without a network: pages come one after the other, as a crawl asks for them ----------------------


def crawled(
    start: str, links_of: Callable[[str], Iterable[str]], text_of: Callable[[str], str]
) -> tuple[set[str], Traps]:
    """The URLs that a crawl from here asks for on its host; it ends after 20,000. Texts may be HTML."""
    traps, reached, queue, asked = Traps(this_year=2026), {start}, [start], set()
    for url in queue:
        if traps.refuses(url):
            continue
        asked.add(url)
        news = [link for link in dict.fromkeys(links_of(url)) if link.startswith("http://h/") and link not in reached]
        if traps.samples(url):
            page = text_of(url).encode()
            said, _, leads = fingerprints(page, "utf-8", url, list(links_of(url)), html=True)
            traps.look(url, f"{said} {leads}", news)
        fresh = [link for link in news if not traps.refuses(link)]
        for link in fresh:
            traps.follow([link])
        reached.update(fresh)
        queue += fresh
        if len(asked) > 20_000:
            break
    return asked, traps


def test_a_forum_of_5000_threads() -> None:
    rng = random.Random(1)
    texts = {number: " ".join(rng.choices(WORDS, k=9)) for number in range(5_000)}

    def number(url: str) -> int:
        return int(url.rpartition("=")[2])

    def links(url: str) -> Iterable[str]:
        return [f"http://h/viewtopic.php?t={each}" for each in (number(url) + 1, number(url) + 7) if each < 5_000]

    reached, traps = crawled("http://h/viewtopic.php?t=0", links, lambda url: texts[number(url)])
    assert len(reached) == 5_000 and not traps

    # Even threads that all say the same are no trap where they are listed, and not found one from the other.
    def listed(url: str) -> Iterable[str]:
        if "viewtopic" in url:
            return []
        first = number(url)
        return [
            *(f"http://h/viewtopic.php?t={first + each}" for each in range(50)),
            f"http://h/list?start={first + 50}",
        ][: 51 if first < 4_950 else 50]

    reached, traps = crawled("http://h/list?start=0", listed, lambda url: "the same" + url[9])
    assert len(reached) == 5_100 and not traps


def test_a_newspaper_of_20_years() -> None:
    first, last = date(2006, 11, 2), date(2026, 11, 1)

    def links(url: str) -> Iterable[str]:
        day = date(*map(int, url[9:-1].split("/")))
        beside = (day - timedelta(1), day + timedelta(1), day + timedelta(30))
        return [each.strftime("http://h/%Y/%m/%d/") for each in beside if first <= each <= last]

    rng = random.Random(2)
    reached, traps = crawled(first.strftime("http://h/%Y/%m/%d/"), links, lambda _: " ".join(rng.choices(WORDS, k=9)))
    assert len(reached) == (last - first).days + 1 and not traps
    # A day on which nothing was written is no trap either, however many of them there are: it is past.
    reached, traps = crawled(first.strftime("http://h/%Y/%m/%d/"), links, lambda _: "no news")
    assert len(reached) == (last - first).days + 1 and not traps


def test_a_list_of_many_pages_in_many_orders() -> None:
    def links(url: str) -> Iterable[str]:
        if "item" in url:
            return []
        order, _, number = url.partition("order=")[2].partition("&page=")
        page = int(number)
        items = [f"http://h/item?n={page * 10 + each}" for each in range(10)]
        orders = [f"http://h/list?order={each}&page={page}" for each in ("up", "down", "new")]
        return [*items, *orders, *([f"http://h/list?order={order}&page={page + 1}"] if page < 699 else [])]

    reached, traps = crawled("http://h/list?order=up&page=0", links, lambda url: f"always the same {url[9:13]}")
    assert len(reached) == 7_000 + 3 * 700 and not traps


def test_a_calendar_with_something_on_in_its_first_years() -> None:
    def links(url: str) -> Iterable[str]:
        number = int(url.rpartition("=")[2])
        return [f"http://h/c?p={number + 1}", f"http://h/c?p={number - 1}"]

    def text(url: str) -> str:
        number = int(url.rpartition("=")[2])
        return f"{WORDS[number % 14]} {WORDS[number // 14 % 14]}" if 0 <= number < 60 else "nothing on"

    reached, traps = crawled("http://h/c?p=30", links, text)
    assert traps and len(reached) < 900


CALENDARS = [
    ("/events/month/%Y-%m/", "/events/%Y-%m-%d/", ""),
    ("/events/%Y-%m/", "/events/%Y-%m-%d/", "/events/list/?tribe-bar-date=%Y-%m-%d"),
    ("/events/month/?tribe-bar-date=%Y-%m-01", "/events/day/?tribe-bar-date=%Y-%m-%d", ""),
    ("/cal/month?d=%Y-%m", "/cal/day?d=%Y-%m-%d", ""),
    ("/calendar/month/%Y-%m", "/calendar/day/%Y-%m-%d", "/calendar/week/%G-W%V"),
    ("/calendar/%Y-%m", "/calendar/%Y-%m-%d", "/calendar/%G-W%V"),
    ("/m/%Y/%m/", "/d/%Y/%m/%d/", ""),
    ("/kalender.php?view=month&date=%Y-%m-01", "/kalender.php?view=day&date=%Y-%m-%d", ""),
    ("/month.php?year=%Y&month=%m", "/day.php?year=%Y&month=%m&day=%d", "/week.php?week=%V&year=%G"),
    ("/calendar/month/%Y-%m?mini=%Y-%m", "/calendar/day/%Y-%m-%d", ""),
]


class Calendar:
    """A calendar that has pages for months, days and perhaps weeks; `show` decides which of them exist."""

    def __init__(self, month: str, day: str, week: str = "") -> None:
        self._addresses = {"month": month, "day": day, "week": week}
        self._shown: dict[str, tuple[str, date]] = {}
        self.start = self.show("month", date(2026, 11, 1))

    def show(self, kind: str, day: date) -> str:
        """The address of a page."""
        url = "http://h" + day.strftime(self._addresses[kind])
        self._shown.setdefault(url, (kind, day))
        return url

    def links(self, url: str) -> list[str]:
        """What a page links to: its neighbors, and other pages for the same time."""
        kind, day = self._shown[url]
        if kind == "month":
            beside = [(day - timedelta(1)).replace(day=1), (day + timedelta(32)).replace(day=1)]
            days = [day + timedelta(each) for each in range(28)]
            weeks = [self.show("week", each) for each in days[::7]] if self._addresses["week"] else []
            return [self.show("month", each) for each in beside] + [self.show("day", each) for each in days] + weeks
        length = timedelta(1 if kind == "day" else 7)
        return [self.show(kind, day - length), self.show(kind, day + length), self.show("month", day.replace(day=1))]

    def text(self, url: str) -> str:
        """What a page says: that nothing is on."""
        kind, day = self._shown[url]
        return f"<title>{kind} {day:%d %B %Y}</title><p>No events"


@pytest.mark.parametrize(("month", "day", "week"), CALENDARS)
def test_a_calendar_with_pages_for_months_and_days(month: str, day: str, week: str) -> None:
    calendar = Calendar(month, day, week)
    asked, traps = crawled(calendar.start, calendar.links, calendar.text)
    assert traps and len(asked) < 700


def events(last: int) -> Callable[[str], Iterable[str]]:
    """Months until a year, each with one event."""

    def links(url: str) -> Iterable[str]:
        if "/event?" in url:
            return []
        first = date.fromisoformat(f"{url.rpartition('=')[2]}-01")
        after = first + timedelta(32)
        return [
            f"http://h/event?on={first:%Y-%m}-03",
            *([f"http://h/cal?month={after:%Y-%m}"] if after.year < last else []),
        ]

    return links


def test_a_calendar_with_one_and_the_same_event_in_each_month() -> None:
    asked, traps = crawled(
        "http://h/cal?month=2026-11", events(9000), lambda url: "choir" if "/event?" in url else "month"
    )
    assert len(asked) < 700
    assert {trap.pattern for trap in traps.found([])} == {"http://h/cal?{date}", "http://h/event?{date}"}


def test_a_calendar_whose_events_differ_loses_none() -> None:
    rng = random.Random(4)

    def text(url: str) -> str:
        return " ".join(rng.choices(WORDS, k=9)) if "/event?" in url else "month"

    asked, traps = crawled("http://h/cal?month=2026-11", events(2126), text)
    assert len(asked) == 2 * (12 * 99 + 2) and not traps


def test_a_newspaper_that_links_to_an_endless_calendar() -> None:
    calendar, first, last = Calendar("/cal/%Y-%m", "/cal/%Y-%m-%d"), date(2021, 11, 2), date(2026, 11, 1)

    def links(url: str) -> Iterable[str]:
        if "/news/" not in url:
            return calendar.links(url)
        day = date(*map(int, url[14:-1].split("/")))
        after = day + timedelta(1)
        return [calendar.show("day", day), *([after.strftime("http://h/news/%Y/%m/%d/")] if after <= last else [])]

    def text(url: str) -> str:
        return "no news" if "/news/" in url else calendar.text(url)

    asked, traps = crawled(first.strftime("http://h/news/%Y/%m/%d/"), links, text)
    assert len([url for url in asked if "/news/" in url]) == (last - first).days + 1
    assert [trap.pattern for trap in traps.found([])] == ["http://h/cal/{date}"]


def chain(page: str, more: Callable[[int], str]) -> Callable[[str], Iterable[str]]:
    """Links of 900 pages: the next one, and another."""

    def links(url: str) -> Iterable[str]:
        number = int(url.rpartition("=")[2])
        return [more(number), *([f"http://h{page}={number + 1}"] if number < 900 else [])]

    return links


@pytest.mark.parametrize(
    "more",
    [
        "http://site{}.example/",
        "http://images.example/{}.jpg",
        "http://images.example/show?picture={}",
        "http://images.example/show?url=http%3A%2F%2Fh%2F{}.jpg",
        "https://h/{}.jpg",
    ],
)
def test_pages_that_lead_elsewhere_lose_nothing(more: str) -> None:
    asked, traps = crawled("http://h/l?id=1", chain("/l?id", more.format), lambda _: "visit")
    assert len(asked) == 900 and not traps


@pytest.mark.parametrize(
    "text",
    [
        "<title>Sheet {0}</title><svg><path d='M{0} 0L3 9'/></svg>",
        "<title>Shop</title><script>data = {{'name': '{1}', 'price': {0}}}</script>",
        "<title>Shop</title><meta name=description content='Product {1}'>",
        "<title>Photo</title><img src=/p.jpg alt='{1} in the evening'>",
    ],
)
def test_pages_whose_text_is_the_same_but_not_what_they_show(text: str) -> None:
    def page(url: str) -> str:
        number = int(url.rpartition("=")[2])
        return text.format(number, f"{WORDS[number % 14]} {WORDS[number // 14 % 14]} {WORDS[number // 196]}")

    asked, traps = crawled("http://h/l?id=1", chain("/l?id", lambda _: "http://h/l?id=1"), page)
    assert len(asked) == 900 and not traps


@pytest.mark.parametrize(("start", "name"), [("/doc/", "/doc/.../"), ("/en/a/doc/", "/en/a/doc/.../"), ("/", "/.../")])
def test_a_folder_that_holds_itself_under_many_names(start: str, name: str) -> None:
    names = ("home", "about", "news", "contact", "help", "team")

    def links(url: str) -> Iterable[str]:
        return [f"{url}{each}/" for each in names]

    asked, traps = crawled(f"http://h{start}", links, lambda _: "the same")
    (trap,) = traps.found([])
    assert len(asked) < 700 and trap.pattern == f"http://h{name}" and trap.followed >= 100
    assert not any(
        traps.refuses(f"http://h{start}{path}") for path in ("", "home/", "x/home/home/home/", "home/x/y/z/")
    )
    # Another one on the same host is found, too.
    assert not traps.refuses("http://h/de/text/text/text/")


def test_large_trees_of_folders_lose_nothing() -> None:
    def versions(url: str) -> Iterable[str]:
        if url == "http://h/maven/":
            return [f"http://h/maven/org/parts/parts/{number}/" for number in range(800)]
        return [f"{url}parts-{each}.jar" for each in range(6)] if url.endswith("/") else []

    asked, traps = crawled("http://h/maven/", versions, lambda _: "Index of parts")
    assert len(asked) == 1 + 800 * 7 and not traps
    rng = random.Random(6)

    def packages(url: str) -> Iterable[str]:
        return [f"{url}{name}/" for name in WORDS[:5]] if url.count("/") < 9 else []

    asked, traps = crawled("http://h/", packages, lambda _: " ".join(rng.choices(WORDS, k=9)))
    assert len(asked) == sum(5**depth for depth in range(7)) and not traps


def test_memory_stays_bounded() -> None:
    traps = Traps()
    for number in range(120_000):
        traps.follow([f"http://h/{number}?a={number}&b={number}"])
    assert len(traps._counted) <= 50_000 and len(traps._families) <= 2_000


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_large_honest_sites_lose_nothing(webarc: Webarc) -> None:
    rng = random.Random(3)
    days = [date(2006, 11, 2) + timedelta(number) for number in range(7_305)]
    pages: dict[str, str] = {}
    for day, after in zip(days, [*days[1:], days[0]], strict=True):
        text = " ".join(rng.choices(WORDS, k=9))
        pages[day.strftime("/%Y/%m/%d/")] = f"<title>{day:%d %B %Y}</title>{text}<a href={after:/%Y/%m/%d/}>on</a>"
    for number in range(5_000):
        text = " ".join(rng.choices(WORDS, k=9))
        pages[f"/viewtopic.php?t={number}"] = f"<title>Thread {number}</title>{text}<a href=?t={number + 1}>on</a>"
    pages["/viewtopic.php?t=4999"] = "<title>last</title>"
    pages["/"] = "<a href=/2006/11/02/>news</a><a href=/viewtopic.php?t=0>forum</a>"
    with Site(pages) as site:
        result = webarc.crawl(*QUICK, site.url())
        assert result["complete"] and len(webarc.stored(site.url())) == 7_305 + 5_000 + 1
